// The two tools that a server with `search` lists in place of all others, and the way of a call through them.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch } from '../../protocol/call.js';
import { copyCall, fromDirect, toDirect } from '../../protocol/direct.js';
import {
  type CompiledDefinitions,
  compileDefinition,
  type Defaults,
  DefinitionError,
} from '../catalog/compile.js';
import type { ToolFront } from '../catalog/tools.js';
import type { CallContext } from '../context/call-context.js';
import type { SearchOptions } from '../define/search-options.js';
import { tool } from '../define/tool.js';
import { withoutParamHeaders } from '../handle/call-tool.js';
import { ToolError } from '../results/tool-error.js';
import type { FinderParts, ToolFinder } from './tool-finder.js';

const SEARCH = 'search_tools';
const CALL = 'call_tool';
const MAX_LIMIT = 50;
const MAX_QUERY = 500;
const MAX_NAME = 128;

/** The two tools, and the parts of a server that they change. */
export interface SearchFront extends ToolFront {
  /** Makes calls through `call_tool` calls of the tool itself, before any middleware sees them. Called once, with the finished server. */
  readonly around: (dispatch: Dispatch) => Dispatch;
}

/** The arguments of `call_tool`. */
interface CallToolInput {
  readonly name: string;
  readonly arguments?: JsonObject;
}

/** The server that the two tools belong to. */
interface FrontParts {
  readonly defaults: Defaults;
  readonly compiled: CompiledDefinitions;
  readonly server: () => Omit<FinderParts, 'options'>;
}

/** Makes the two tools; undefined if the server lists all its tools. Throws a `DefinitionError`. */
export function searchFront(
  option: boolean | SearchOptions | undefined,
  { defaults, compiled, server }: FrontParts,
): SearchFront | undefined {
  if (option === undefined || option === false) return undefined;
  const options = option === true ? {} : option;
  const problem = problemOf(options);
  if (problem !== undefined) throw new DefinitionError([`"search${problem}`]);
  const taken = [SEARCH, CALL].filter((name) => compiled.tools.has(name));
  if (taken.length > 0)
    throw new DefinitionError(
      taken.map((name) => `"search" adds the tool "${name}": rename your tool of that name`),
    );
  const { limit = 5, always = [] } = options;
  const listed = new Set(always);
  let finder: Promise<ToolFinder> | undefined;

  const search = tool({
    title: 'Search tools',
    description: `Finds tools of this server by what they do. Returns their names, descriptions and input schemas; call one with ${CALL}.`,
    annotations: { readOnly: true, openWorld: false },
    input: {
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
    async run(input: unknown, ctx) {
      // Loaded with the first search.
      finder ??= import('./tool-finder.js').then((module) => new module.ToolFinder({ ...server(), options }));
      const request = { limit, ...(input as { query: string; limit?: number }), signal: ctx.signal };
      return (await finder).find((ctx as unknown as CallContext<never, never>).caller, request);
    },
  });

  const call = tool({
    title: 'Call a tool',
    description: `Calls a tool that ${SEARCH} has found.`,
    input: {
      type: 'object',
      properties: {
        name: { type: 'string', maxLength: MAX_NAME, description: 'The name of the tool' },
        arguments: { type: 'object', description: "The arguments, by the tool's input schema" },
      },
      required: ['name'],
      additionalProperties: false,
    },
    // Calls of clients do not come here, but those of other handlers do.
    run(input: unknown, ctx) {
      const { name, arguments: args } = input as CallToolInput;
      if (name === CALL) throw new ToolError(`${CALL} cannot call itself. Find a tool with ${SEARCH}.`);
      return ctx.call(name, args);
    },
  });

  // The policy is about the tools that are found and called.
  const { access } = defaults;
  const of: typeof access.of = (target, rules) => {
    const own = access.of(target, rules);
    const isOpen = own?.scopes.length === 0 && own.allow.length === 0;
    return own === undefined || isOpen ? undefined : { ...own, policy: undefined };
  };
  const compile = (name: string, definition: object) =>
    compileDefinition('tool', name, definition, { ...defaults, access: { ...access, of } });
  const callTool = compile(CALL, call);

  function redirect(original: Call): Call {
    const { method, params } = original;
    if (method !== 'tools/call' || params['name'] !== CALL || !isObject(params['arguments'])) return original;
    const checked = callTool.input.validate(params['arguments']);
    if (checked instanceof Promise || !checked.ok) return original;
    const { name, arguments: args = {} } = checked.value as CallToolInput;
    if (name === CALL) return original;
    const http = withoutParamHeaders(original.http);
    return copyCall(original, { params: { ...params, name, arguments: args }, http });
  }

  return {
    tools: new Map([
      [SEARCH, compile(SEARCH, search)],
      [CALL, callTool],
    ]),
    lists: (name) => name === SEARCH || name === CALL || listed.has(name),
    around(dispatch) {
      warnOfNames(listed, server());
      const direct = toDirect(dispatch);
      if (direct !== undefined) return fromDirect((original) => direct(redirect(original)));
      return (original) => dispatch(redirect(original));
    },
  };
}

// The tool may come later.
function warnOfNames(
  names: Iterable<string>,
  { registry, log }: Pick<FinderParts, 'registry' | 'log'>,
): void {
  for (const name of names)
    if (!registry.tools.has(name))
      log('warning', `"search.always" has "${name}", and no tool has that name yet`);
}

function problemOf(options: SearchOptions): string | undefined {
  if (typeof options !== 'object' || options === null) return '" must be true or an object: { limit: 5 }';
  const { limit = 1, always = [], rank, rankTimeoutMs = 1 } = options;
  if (!isCount(limit, MAX_LIMIT)) return `.limit" must be a whole number from 1 to ${MAX_LIMIT}`;
  if (!Array.isArray(always) || !always.every((name) => typeof name === 'string'))
    return '.always" must be an array of strings: the names of tools';
  if (rank !== undefined && typeof rank !== 'function')
    return '.rank" must be a function: ({ query, tools }) => [names]';
  return isCount(rankTimeoutMs, 2 ** 31 - 1)
    ? undefined
    : '.rankTimeoutMs" must be a whole number of milliseconds, 1 or more';
}

function isCount(value: unknown, most: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most;
}
