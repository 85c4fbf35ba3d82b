// Finds the tool that was typed, and checks the arguments before anything is sent.

import { outputCheck } from '../../client/checks/output-check.js';
import type { Client } from '../../client/model/client.js';
import type { GroupClient } from '../../connect/group/group.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { ListedTool } from '../../protocol/model/model.js';
import { CALL_TOOL, MAX_QUERY, SEARCH_TOOL } from '../../protocol/model/search/search-tools.js';
import { closestName } from '../../schema/explain/closest-name.js';
import { listProblems } from '../../schema/explain/explain.js';
import { unknownFields } from '../../schema/explain/unknown-fields.js';
import { cleanLine } from '../../tooling/clean.js';
import type { Options } from '../command/definition.js';
import { type CommandError, usageError } from '../command/failures.js';
import { parameters } from '../terminal/signature.js';

/** The tool with this name, from the list or, where tools are searched, from a search. A near name is a hint in the error, and is never called. */
export async function findTool(client: Client, name: string): Promise<ListedTool> {
  const { tool, unknown } = await lookForTool(client, name);
  if (tool === undefined) throw unknown();
  return tool;
}

/** A tool that was looked for, and the error for the user if the server does not know it. */
export interface LookedForTool {
  /** Undefined if the server does not list it: it may still know it, and refuse this caller. */
  readonly tool: ListedTool | undefined;
  readonly unknown: () => CommandError;
}

/** Looks for a tool with this name. */
export async function lookForTool(client: Client, name: string): Promise<LookedForTool> {
  const tools = await client.tools().all();
  const find = (list: readonly ListedTool[]): ListedTool | undefined =>
    list.find((tool) => tool.name === name);
  const names = tools.map((tool) => tool.name);
  const isSearched = names.includes(SEARCH_TOOL) && names.includes(CALL_TOOL);
  const tool = find(tools) ?? (isSearched ? find(await searchedTools(client, name)) : undefined);
  const failure = tool ? undefined : failureOfServer(client, name);
  if (failure) throw failure;
  return { tool, unknown: () => unknownTool(name, names) };
}

/** The tools that a search for a name finds. Those that cannot be read are not there. */
async function searchedTools(client: Client, name: string): Promise<readonly ListedTool[]> {
  const { data } = await client.callTool(SEARCH_TOOL, { query: name.slice(0, MAX_QUERY) });
  const found = isObject(data) && Array.isArray(data['tools']) ? data['tools'] : [];
  return found.filter((tool) => isObject(tool) && isObject(tool['inputSchema'])) as ListedTool[];
}

function unknownTool(name: string, names: readonly string[]): CommandError {
  const close = closestName(name, names);
  const hint = close
    ? ` Did you mean ${JSON.stringify(close)}?`
    : names.length === 0
      ? ' The server has none.'
      : '';
  return usageError(`No tool is called ${JSON.stringify(name)}.${hint}`, close ? { close } : {});
}

/** The kinds of things that a server may have without listing them. */
type Unlisted = 'tool' | 'prompt';
const UNKNOWN: Readonly<Record<Unlisted, RegExp>> = {
  tool: /unknown tool|unknown or disabled tool|no such tool|no tool|tool .{0,200}(?:not found|does not exist|is unknown)/i,
  prompt: /unknown prompt|no such prompt|no prompt|prompt .{0,200}(?:not found|does not exist|is unknown)/i,
};
const UNKNOWN_CODES: ReadonlySet<string> = new Set(['invalid_params', 'method_not_found', 'remote_error']);

/** Whether a server says that it does not know a tool or a prompt. Many say so of a tool in a result, and others in an error. */
export function saysUnknown(words: string, what: Unlisted): boolean {
  return UNKNOWN[what].test(words.slice(0, 500));
}

/**
 * The error of a call whose tool or prompt is not listed. Only the server knows whether it has one and does not show it to this caller, and
 * says which scope is missing.
 */
export function orUnknown(error: unknown, what: Unlisted, unknown: () => CommandError): unknown {
  const isUnknown = McpError.is(error) && UNKNOWN_CODES.has(error.code) && saysUnknown(error.message, what);
  return isUnknown ? unknown() : error;
}

/** The error of the server that a name belongs to, if it is one of several and is left out because it failed. */
function failureOfServer(client: Client, name: string): McpError | undefined {
  const { servers = new Map() } = client as Partial<GroupClient>;
  for (const [server, { error }] of servers) if (error && name.startsWith(`${server}_`)) return error;
  return undefined;
}

export const ARGUMENT_OPTIONS: Options = {
  'allow-unknown': {
    type: 'boolean',
    help: 'also send arguments that the schema does not name, unless it forbids them',
  },
};

/** The sentence about the option, for an argument that nothing names. */
export const ALLOW_UNKNOWN = '--allow-unknown sends it as it is.';

/**
 * Throws if the arguments do not fit the schema of the tool, or have a name that the schema does not mention: many servers ignore those, and
 * run the tool with a default instead of what was typed. A schema that cannot be read is left to the server.
 */
export function checkArguments(
  tool: Pick<ListedTool, 'name' | 'inputSchema'>,
  args: JsonObject,
  isUnknownAllowed: boolean,
): void {
  const wrong = readable(() => outputCheck(tool.inputSchema)(args));
  // A misspelled name is often the reason why a required one is missing.
  const unknown = isUnknownAllowed ? [] : (readable(() => unknownFields(tool.inputSchema, args)) ?? []);
  const isSaid = unknown.length === 0 || wrong?.includes('unknown field') === true;
  const problem = [wrong ?? [], isSaid ? [] : listProblems(unknown)].flat().join('\n');
  if (problem === '') return;
  const usage = `${cleanLine(tool.name, 128)}(${parameters(tool.inputSchema)})`;
  const lines = [`Wrong arguments for ${tool.name}. Nothing was sent.`, problem, `  ${usage}`];
  if (wrong === undefined) lines.push(ALLOW_UNKNOWN);
  throw usageError(lines.join('\n'), { sent: false, problem });
}

/** Whether arguments have a name that the schema does not mention, unless those are allowed. */
export function hasUnknown(
  { inputSchema }: Pick<ListedTool, 'inputSchema'>,
  args: JsonObject,
  isUnknownAllowed: boolean,
): boolean {
  return !isUnknownAllowed && (readable(() => unknownFields(inputSchema, args)) ?? []).length > 0;
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
