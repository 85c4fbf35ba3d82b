// The two tools that stand for all others, in a server, in front of one and in a client: their names, their descriptions and their limits.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import type { ListedTool } from '../model.js';

export const SEARCH_TOOL = 'search_tools';
export const CALL_TOOL = 'call_tool';
export const MAX_LIMIT = 50;
export const MAX_QUERY = 500;

/** The largest result of a search, in characters of JSON. */
const MAX_RESULT = 100_000;

/** `search_tools`, which returns `limit` tools by default. */
export function searchTool(limit: number): ListedTool {
  return {
    name: SEARCH_TOOL,
    title: 'Search tools',
    description: `Finds tools by what they do. Returns their names, descriptions and input schemas; call one with ${CALL_TOOL}.`,
    inputSchema: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          minLength: 1,
          maxLength: MAX_QUERY,
          description: 'The task of the tool, in a few words, or the name of a tool',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_LIMIT,
          description: `The number of tools to return. Default: ${limit}`,
        },
      },
      required: ['query'],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

/** `call_tool`. */
export const callTool: ListedTool = {
  name: CALL_TOOL,
  title: 'Call a tool',
  description: `Calls a tool that ${SEARCH_TOOL} has found.`,
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'The name of the tool' },
      arguments: { type: 'object', description: "The arguments, by the tool's input schema" },
    },
    required: ['name'],
  },
};

/**
 * The tools that a `tools/call` with these parameters runs at a server that lists `tools`: where tools are searched, that in the arguments
 * of `call_tool`. Elsewhere, a tool with the name `call_tool` may do anything, so both are named.
 */
export function calledTools(
  { name, arguments: args }: JsonObject,
  tools: { has(name: string): boolean },
): readonly string[] {
  const inner = name === CALL_TOOL && isObject(args) ? args['name'] : undefined;
  if (typeof inner !== 'string') return [String(name)];
  return tools.has(SEARCH_TOOL) ? [inner] : [CALL_TOOL, inner];
}

/** What to tell a model whose arguments of `call_tool` cannot be used. */
export const BAD_CALL: string = `${CALL_TOOL} needs "name", the name of a tool that ${SEARCH_TOOL} has found, and "arguments", an object.`;

/** What to tell a model whose arguments of `search_tools` cannot be used. */
export const BAD_SEARCH: string = `${SEARCH_TOOL} needs "query", a string of 1 to ${MAX_QUERY} characters.`;

/** Reads the arguments of `search_tools`; undefined if they cannot be used. A limit that cannot be used is `byDefault`. */
export function readSearch(
  { query, limit }: JsonObject,
  byDefault: number,
): { readonly query: string; readonly limit: number } | undefined {
  if (typeof query !== 'string' || query === '' || query.length > MAX_QUERY) return undefined;
  const most = Number(limit);
  return {
    query,
    limit: Number.isSafeInteger(most) && most >= 1 ? Math.min(most, MAX_LIMIT) : byDefault,
  };
}

/** The result of a search. */
export interface FoundTools {
  /** The tools that were found, the best first. */
  readonly tools: readonly ListedTool[];
  /** Advice for the model, if there is nothing to call. */
  readonly hint?: string;
}

/** The result of a search that has found these tools: as many as fit, and at least one. */
export function foundTools(found: Iterable<ListedTool>): FoundTools {
  let size = 0;
  const tools: ListedTool[] = [];
  for (const { icons, ...tool } of found) {
    size += JSON.stringify(tool).length;
    if (size > MAX_RESULT && tools.length > 0) break;
    tools.push(tool);
  }
  return tools.length > 0 ? { tools } : { tools, hint: 'No tool was found. Try other words.' };
}
