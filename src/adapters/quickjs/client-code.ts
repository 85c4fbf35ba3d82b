// Code mode on the side of a client: programs of models that call the tools of its server, or of all its servers. It comes with the engine, so
// that other clients do not load it.

import { createClient } from '../../client/create-client.js';
import type { Client, ClientCode } from '../../client/model/client.js';
import type { Handlers } from '../../client/model/handlers.js';
import type { ToolAnswer } from '../../client/model/results.js';
import { SearchedList } from '../../client/tools/tool-search.js';
import { programServer } from '../../extensions/code/program-server.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { readOptions } from '../../protocol/checks/options.js';
import type { CodeEngine } from '../../protocol/code/code-engine.js';
import { CODE_TOOL, type CodeOptions, codeTable } from '../../protocol/code/code-options.js';
import { randomSecret } from '../../protocol/encoding/sealing.js';
import { McpError } from '../../protocol/errors.js';
import type { ListedTool } from '../../protocol/model/model.js';
import { searchTable } from '../../protocol/model/search/options.js';
import {
  BAD_SEARCH,
  foundTools,
  MAX_LIMIT,
  readSearch,
  SEARCH_TOOL,
  searchTool,
} from '../../protocol/model/search/search-tools.js';
import { IDEMPOTENCY_KEY } from '../../protocol/tables/meta-keys.js';
import { describeSearch } from '../../server/code/code-tool.js';
import { declarationsOf } from '../../server/code/declarations.js';
import { dispatchLink } from '../../transports/memory/link.js';

/** The client whose tools programs call. */
export interface ClientCodeParts {
  readonly client: Client;
  readonly options: CodeOptions;
  /** The handler of the client that asks the user. */
  readonly elicit: Handlers['elicit'];
}

/** The list is requested again after this time, or when a server announces a change. */
const MAX_AGE_MS = 60_000;
const LIMIT = searchTable.limit.default;
/** The journal of a program that asks for an approval stays in this process. */
const MAX_ASKING_BYTES = 64_000_000;

/** Makes the tools for a model. The threads of the engine end with the client. */
export async function clientCode(
  engine: Pick<CodeEngine, 'id' | 'open'>,
  { client, options, elicit }: ClientCodeParts,
): Promise<ClientCode> {
  const { maxCalls, approve } = readOptions('client.code', options, codeTable);
  const list = new SearchedList(client, MAX_AGE_MS);

  async function search(query: string, { limit = LIMIT }: { readonly limit?: number } = {}): Promise<string> {
    const found = await list.search(query, Math.min(limit, MAX_LIMIT));
    return declarationsOf(foundTools(found.map(({ tool }) => tool)));
  }

  async function answerSearch(args: object): Promise<ToolAnswer> {
    const request = readSearch(args as JsonObject, LIMIT);
    if (request === undefined) return textResult(BAD_SEARCH, true);
    return textResult(await search(request.query, request), false);
  }

  /** A call of a program. The client answers the questions of the tool, and waits for its task. */
  async function dispatch({ params, signal }: Call): Promise<Outcome> {
    const { name, arguments: given, _meta } = params;
    const args = isObject(given) ? given : {};
    if (name === SEARCH_TOOL) return toOutcome(await answerSearch(args));
    const key = isObject(_meta) ? _meta[IDEMPOTENCY_KEY] : undefined;
    return toOutcome(
      await client.callTool(String(name), args, {
        signal,
        ...(typeof key === 'string' && { idempotencyKey: key }),
      }),
    );
  }

  const server = programServer(engine, {
    ...{ name: 'programs', version: '1', logger: () => undefined },
    ...{ dispatch, finds: true, hidden: [], isTask: false, maxAskingBytes: MAX_ASKING_BYTES },
    async find(_, wanted) {
      const isWanted = ({ name }: ListedTool): boolean => name === wanted;
      // The server of the tool may have been added since the list was made.
      return (await list.current()).tools.find(isWanted) ?? (await client.tools().all()).find(isWanted);
    },
    ...(maxCalls !== undefined && { maxCalls }),
    ...(approve !== undefined && { approve }),
  });
  server.provideSecret(randomSecret());
  const runner = await createClient({
    open: (_events, open) => dispatchLink(server.dispatch, { open }),
    target: 'programs',
    options: {
      ...(elicit && { elicit }),
      ...{ cache: false, timeoutMs: Number.POSITIVE_INFINITY, maxTimeoutMs: Number.POSITIVE_INFINITY },
    },
  });
  client.on('status', ({ status }) => {
    if (status === 'closed') void runner.close().finally(() => server.close());
  });

  const run: ClientCode['run'] = (code, callOptions) => runner.callTool(CODE_TOOL, { code }, callOptions);
  const [runTool] = (await runner.tools().all()) as readonly [ListedTool];
  const searching = { ...searchTool(LIMIT), description: describeSearch(false) };
  return {
    tools: Object.freeze(structuredClone([searching, runTool]).map(Object.freeze)) as readonly ListedTool[],
    ...{ search, run },
    async call(name, args = {}, callOptions) {
      if (name === SEARCH_TOOL) return answerSearch(args);
      if (name === CODE_TOOL) return runner.callTool(CODE_TOOL, args, callOptions);
      throw new McpError(
        'invalid_params',
        `Unknown tool: ${name}. The tools are ${SEARCH_TOOL} and ${CODE_TOOL}.`,
      );
    },
  };
}

function textResult(text: string, isError: boolean): ToolAnswer {
  return { content: [{ type: 'text', text }], text, data: undefined, isError };
}

function toOutcome({ content, data, isError }: ToolAnswer): Outcome {
  return {
    resultType: 'complete',
    content,
    ...(data !== undefined && { structuredContent: data }),
    isError,
  } as unknown as Outcome;
}
