// Two tools in place of all others, so that a model does not have to read the definitions of hundreds.

import { fetchPages } from '../../../connect/gateway/pages.js';
import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import type { Call, Dispatch, Middleware, Outcome } from '../../../protocol/call.js';
import { copyCall } from '../../../protocol/direct.js';
import type { ListedTool } from '../../../protocol/model/model.js';
import { ToolIndex } from '../../../protocol/model/search/tool-index.js';
import { withoutParamHeaders } from '../../../server/handle/call-tool.js';

const SEARCH = 'search_tools';
const CALL = 'call_tool';
const MAX_QUERY = 500;
const MAX_LIMIT = 50;
const DEFAULT_LIMIT = 5;
// A server may send definitions of any size.
const MAX_FOUND_CHARACTERS = 100_000;

const tools: readonly JsonObject[] = [
  {
    name: SEARCH,
    title: 'Search tools',
    description: `Finds tools of this server by what they do. Returns their names, descriptions and input schemas; call one with ${CALL}.`,
    annotations: { readOnlyHint: true, openWorldHint: false },
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
          description: `The number of tools to return. Default: ${DEFAULT_LIMIT}`,
        },
      },
      required: ['query'],
    },
  },
  {
    name: CALL,
    title: 'Call a tool',
    description: `Calls a tool that ${SEARCH} has found.`,
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'The name of the tool' },
        arguments: { type: 'object', description: "The arguments, by the tool's input schema" },
      },
      required: ['name'],
    },
  },
];

/** Lists the two tools, answers searches, and makes calls through `call_tool` calls of the tool itself. */
export function searchable(): Middleware {
  return async function searchable(call, next) {
    if (call.method === 'tools/list') return listed(call, next);
    if (call.method !== 'tools/call') return next(call);
    const { name } = call.params;
    const args = isObject(call.params['arguments']) ? call.params['arguments'] : {};
    if (name === SEARCH) return searched(call, args, next);
    return name === CALL ? redirected(call, args, next) : next(call);
  };
}

/** The list of the servers decides for how long the result may be cached. */
async function listed(call: Call, next: Dispatch): Promise<Outcome> {
  const { cursor, ...params } = call.params;
  const { nextCursor, ...outcome } = await next(copyCall(call, { params }));
  return { ...outcome, tools } as unknown as Outcome;
}

async function searched(call: Call, { query, limit }: JsonObject, next: Dispatch): Promise<Outcome> {
  if (typeof query !== 'string' || query === '' || query.length > MAX_QUERY)
    return failure(`${SEARCH} needs "query", a string of 1 to ${MAX_QUERY} characters.`);
  const most = Number.isSafeInteger(limit)
    ? Math.min(Math.max(limit as number, 1), MAX_LIMIT)
    : DEFAULT_LIMIT;
  const all = (await fetchPages(next, 'tools', { call, signal: call.signal })) as unknown as ListedTool[];
  const index = new ToolIndex<ListedTool>((tool) => tool);
  await index.sync(all);
  const found: JsonObject[] = [];
  let characters = 0;
  for (const { tool } of index.search(query, index.subset(all), most)) {
    const { icons, _meta, ...definition } = tool as unknown as JsonObject;
    characters += JSON.stringify(definition).length;
    if (characters > MAX_FOUND_CHARACTERS && found.length > 0) break;
    found.push(definition);
  }
  const data = { tools: found, ...(found.length === 0 && { hint: 'No tool was found. Try other words.' }) };
  return result(JSON.stringify(data), { structuredContent: data });
}

function redirected(
  call: Call,
  { name, arguments: args = {} }: JsonObject,
  next: Dispatch,
): Promise<Outcome> {
  if (typeof name !== 'string' || name === CALL || name === SEARCH || !isObject(args))
    return Promise.resolve(
      failure(
        `${CALL} needs "name", the name of a tool that ${SEARCH} has found, and "arguments", an object.`,
      ),
    );
  const params = { ...call.params, name, arguments: args };
  return next(copyCall(call, { params, http: withoutParamHeaders(call.http) }));
}

function failure(text: string): Outcome {
  return result(text, { isError: true });
}

function result(text: string, more: JsonObject): Outcome {
  return { resultType: 'complete', content: [{ type: 'text', text }], ...more } as unknown as Outcome;
}
