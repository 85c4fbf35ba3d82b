// The lists of a server, with their findings and their cost.

import type { Client } from '../../../client/model/client.js';
import type { RecordedScore } from '../../../evals/tape/tool-scores.js';
import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { McpError } from '../../../protocol/errors.js';
import { uiOf } from '../../../protocol/model/apps/app.js';
import type { ListedTool } from '../../../protocol/model/model.js';
import { taskSupportOf } from '../../../protocol/tables/meta-keys.js';
import { lintManifest } from '../../../tooling/lint/lint-manifest.js';
import type { LintFinding } from '../../../tooling/lint/rules.js';
import { LIST_NAMES, type ManifestList } from '../../../tooling/manifest/manifest.js';
import type { CatalogView, FindingView, ToolView } from '../../contract/connection.js';

const MAX_ITEMS = 10_000;
const MAX_SCORES = 20;

export const emptyCatalog: CatalogView = {
  version: 0,
  tools: [],
  resources: [],
  templates: [],
  prompts: [],
  events: [],
  tokens: 0,
  findings: [],
  failures: [],
};

/** Fetches all lists. One that fails does not keep the others back. */
export async function fetchCatalog(
  client: Client,
  version: number,
  scoresOf: (tools: readonly JsonObject[]) => Promise<readonly RecordedScore[]>,
): Promise<CatalogView> {
  const failures: { list: string; message: string }[] = [];
  const lists = Object.fromEntries(
    await Promise.all(
      LIST_NAMES.map(async (list) => {
        try {
          return [list, await fetchList(client, list)] as const;
        } catch (error) {
          if (McpError.is(error) && error.code === 'connection_closed') throw error;
          failures.push({ list, message: error instanceof Error ? error.message : String(error) });
          return [list, []] as const;
        }
      }),
    ),
  ) as Record<ManifestList, readonly JsonObject[]>;
  const events = await fetchEvents(client).catch((error: unknown) => {
    failures.push({ list: 'events', message: error instanceof Error ? error.message : String(error) });
    return [];
  });
  const { info, revision, capabilities } = client.server;
  const { findings, tokens, total } = lintManifest(
    {
      fullmcp: 'manifest',
      version: 1,
      server: { ...info },
      revision,
      capabilities: capabilities as JsonObject,
      ...lists,
    },
    { ignore: new Set(), maxTokens: undefined },
  );
  const scores = await scoresOf(lists.tools);
  return {
    version,
    tools: lists.tools.map((tool) => ({
      ...toolView(tool, tokens.get(String(tool['name'])) ?? 0),
      ...scoresIn(scores, tool['name']),
    })),
    resources: lists.resources,
    templates: lists.templates,
    prompts: lists.prompts,
    events,
    tokens: total,
    findings: findings.map(findingView),
    failures,
  };
}

async function fetchList(client: Client, list: ManifestList): Promise<readonly JsonObject[]> {
  const capability = list === 'templates' ? 'resources' : list;
  if (client.server.capabilities[capability] === undefined) return [];
  const items: JsonObject[] = [];
  for await (const item of client[list]({ fresh: true })) {
    items.push(item as unknown as JsonObject);
    if (items.length >= MAX_ITEMS) break;
  }
  return items;
}

async function fetchEvents(client: Client): Promise<readonly JsonObject[]> {
  const types: JsonObject[] = [];
  for await (const type of client.events({ fresh: true })) {
    types.push({ ...type });
    if (types.length >= MAX_ITEMS) break;
  }
  return types;
}

function toolView(tool: JsonObject, tokens: number): ToolView {
  const annotations = isObject(tool['annotations']) ? tool['annotations'] : {};
  const isReadOnly = annotations['readOnlyHint'] === true;
  const { uri } = uiOf(tool as unknown as ListedTool);
  return {
    tool: tool as ToolView['tool'],
    tokens,
    isReadOnly,
    isDestructive: !isReadOnly && annotations['destructiveHint'] === true,
    task: taskSupport(tool),
    ...(uri !== undefined && { app: uri }),
  };
}

function scoresIn(all: readonly RecordedScore[], name: unknown): Pick<ToolView, 'scores'> {
  const own = all.filter(({ tool }) => tool === name).slice(0, MAX_SCORES);
  return own.length === 0 ? {} : { scores: own.map(({ tool: _, ...score }) => score) };
}

function taskSupport(tool: JsonObject): ToolView['task'] {
  const support = taskSupportOf(tool);
  if (support === 'required') return 'always';
  return support === 'optional' ? 'optional' : 'never';
}

function findingView({ severity, rule, kind, name, path, says, fix }: LintFinding): FindingView {
  return { severity, rule, kind, name, ...(path !== undefined && { path }), message: says, fix };
}
