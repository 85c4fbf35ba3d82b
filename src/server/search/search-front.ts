// The two tools that a server with `search` lists in place of all others, and the way of a call through them.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { type Call, type Dispatch, withoutParamHeaders } from '../../protocol/call.js';
import { fillDefaults } from '../../protocol/checks/options.js';
import { copyCall, fromDirect, toDirect } from '../../protocol/direct.js';
import { type SearchOptions, searchTable } from '../../protocol/model/search/options.js';
import { CALL_TOOL, callTool, SEARCH_TOOL, searchTool } from '../../protocol/model/search/search-tools.js';
import {
  type CompiledDefinitions,
  compileDefinition,
  type Defaults,
  DefinitionError,
} from '../catalog/compile.js';
import type { ToolFront } from '../catalog/tools.js';
import type { CallContext } from '../context/call-context.js';
import { tool } from '../define/tool.js';
import { ToolError } from '../results/tool-error.js';
import type { FinderParts, ToolFinder } from './tool-finder.js';

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
  const options = fillDefaults(option === true ? {} : option, searchTable);
  const taken = [SEARCH_TOOL, CALL_TOOL].filter((name) => compiled.tools.has(name));
  if (taken.length > 0)
    throw new DefinitionError(
      taken.map((name) => `"search" adds the tool "${name}": rename your tool of that name`),
    );
  const { limit, always } = options;
  const listed = new Set(always);
  let finder: Promise<ToolFinder> | undefined;

  const searching = searchTool(limit);
  const search = tool({
    title: searching.title as string,
    description: searching.description as string,
    annotations: { readOnly: true, openWorld: false },
    input: searching.inputSchema,
    async run(input: unknown, ctx) {
      // Loaded with the first search.
      finder ??= import('./tool-finder.js').then((module) => new module.ToolFinder({ ...server(), options }));
      const request = { limit, ...(input as { query: string; limit?: number }), signal: ctx.signal };
      return (await finder).find((ctx as unknown as CallContext<never, never>).caller, request);
    },
  });

  const properties = callTool.inputSchema['properties'] as JsonObject;
  const call = tool({
    title: callTool.title as string,
    description: callTool.description as string,
    input: {
      ...callTool.inputSchema,
      properties: { ...properties, name: { ...(properties['name'] as object), maxLength: MAX_NAME } },
      additionalProperties: false,
    },
    // Calls of clients do not come here, but those of other handlers do.
    run(input: unknown, ctx) {
      const { name, arguments: args } = input as CallToolInput;
      if (name === CALL_TOOL)
        throw new ToolError(`${CALL_TOOL} cannot call itself. Find a tool with ${SEARCH_TOOL}.`);
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
  const calling = compile(CALL_TOOL, call);

  function redirect(original: Call): Call {
    const { method, params } = original;
    if (method !== 'tools/call' || params['name'] !== CALL_TOOL || !isObject(params['arguments']))
      return original;
    const checked = calling.input.validate(params['arguments']);
    if (checked instanceof Promise || !checked.ok) return original;
    const { name, arguments: args = {} } = checked.value as CallToolInput;
    if (name === CALL_TOOL) return original;
    const http = withoutParamHeaders(original.http);
    return copyCall(original, { params: { ...params, name, arguments: args }, http });
  }

  return {
    tools: new Map([
      [SEARCH_TOOL, compile(SEARCH_TOOL, search)],
      [CALL_TOOL, calling],
    ]),
    lists: (name) => name === SEARCH_TOOL || name === CALL_TOOL || listed.has(name),
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
