// Reads the definitions of a server for its own program.

import { isObject } from '../../jsonrpc/message.js';
import { type Caller, toAuth } from '../../protocol/caller.js';
import { McpError } from '../../protocol/errors.js';
import type { ListedTool } from '../../protocol/model/model.js';
import { notFound } from '../../protocol/not-found.js';
import { INVALID_ARGUMENTS } from '../../protocol/tables/failure-texts.js';
import { explanationLater } from '../../schema/explain-later.js';
import type { Guarded } from '../access/views.js';
import type { Catalog } from '../catalog/catalog.js';
import type { CompiledPrompt } from '../catalog/prompts.js';
import type { CompiledTool } from '../catalog/tools.js';
import type { ArgumentsCheck, DefinitionView, ServerDefinitions } from '../define/definitions.js';
import { listWithHandles } from '../references/listing.js';
import { Entrance, type EntranceParts } from './entrance.js';

interface Entry extends Guarded {
  readonly listed: object;
}

/** The definitions of a kind, in order. */
export async function listDefinitions(
  { registry }: EntranceParts,
  kind: keyof ServerDefinitions,
  { caller }: DefinitionView = {},
): Promise<readonly object[]> {
  const catalog = registry[kind] as unknown as Catalog<Entry>;
  const entries = caller === undefined ? [...catalog.values()] : await catalog.entries(callerOf(caller));
  const listed = entries.map((entry) => entry.listed);
  if (kind !== 'tools') return structuredClone(listed);
  const names = new Set(registry.searchableTools().map(([name]) => name));
  const tools = (listed as ListedTool[]).filter(({ name }) => names.has(name));
  return structuredClone(registry.hasHandles ? tools.map(listWithHandles) : tools);
}

/** The definition of a kind with a name. */
export async function getDefinition(
  parts: EntranceParts,
  kind: keyof ServerDefinitions,
  name: string,
  view?: DefinitionView,
): Promise<object | undefined> {
  if (!parts.registry[kind].has(name)) return undefined;
  const all = (await listDefinitions(parts, kind, view)) as readonly Readonly<Record<string, unknown>>[];
  const key = kind === 'resources' ? 'uri' : kind === 'templates' ? 'uriTemplate' : 'name';
  return all.find((listed) => listed[key] === name);
}

/** Checks arguments, and the rules of the caller, without a call. */
export async function validateArguments(
  parts: EntranceParts,
  kind: 'tools' | 'prompts',
  { name, args, view }: { readonly name: string; readonly args: object; readonly view: DefinitionView },
): Promise<ArgumentsCheck> {
  if (!isObject(args)) throw new McpError('invalid_params', 'The arguments must be an object.');
  const { caller } = view;
  const entry =
    caller === undefined
      ? (parts.registry[kind].get(name) as CompiledTool | CompiledPrompt | undefined)
      : await enter(parts, kind, name, callerOf(caller));
  if (entry === undefined) throw notFound(kind === 'tools' ? 'tool' : 'prompt', name);
  const schema = 'input' in entry ? entry.input : entry.args;
  const checked = await schema.validate(args);
  if (checked.ok) {
    if (caller !== undefined) await enterWith(parts, entry, callerOf(caller), checked.value);
    return { ok: true, value: checked.value };
  }
  const { text, field } = await explanationLater(checked.issues, schema, args);
  const label = kind === 'tools' ? name : `prompt ${name}`;
  return { ok: false, message: `${INVALID_ARGUMENTS}${label}. ${text}`, field };
}

function enter(
  parts: EntranceParts,
  kind: 'tools' | 'prompts',
  name: string,
  caller: Caller,
): CompiledTool | CompiledPrompt | Promise<CompiledTool | CompiledPrompt> {
  const entrance = new Entrance(parts);
  return kind === 'tools' ? entrance.tool(caller, name) : entrance.prompt(caller, name);
}

function enterWith(
  parts: EntranceParts,
  entry: CompiledTool | CompiledPrompt,
  caller: Caller,
  input: unknown,
): Promise<void> {
  const entrance = new Entrance(parts);
  return 'input' in entry
    ? entrance.toolInput(caller, entry, input)
    : entrance.promptInput(caller, entry, input);
}

// A caller over the network: local callers may use everything.
function callerOf(caller: NonNullable<DefinitionView['caller']>): Caller {
  return { auth: toAuth(caller, 'caller') };
}
