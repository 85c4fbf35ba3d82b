// The tools that a server with `search` or `code` lists in place of all others, and the way of a call through them.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { type Call, type Dispatch, withoutParamHeaders } from '../../protocol/call.js';
import { fillDefaults } from '../../protocol/checks/options.js';
import type { CodeOptions } from '../../protocol/code/code-options.js';
import { copyCall, fromDirect, toDirect } from '../../protocol/direct.js';
import { type SearchOptions, type SearchSettings, searchTable } from '../../protocol/model/search/options.js';
import {
  CALL_TOOL,
  callTool,
  type FoundTools,
  SEARCH_TOOL,
  searchTool,
} from '../../protocol/model/search/search-tools.js';
import {
  type CompiledDefinitions,
  compileDefinition,
  type Defaults,
  DefinitionError,
} from '../catalog/compile.js';
import type { CompiledTool, ToolFront } from '../catalog/tools.js';
import type { CallContext } from '../context/call-context.js';
import { tool } from '../define/tool.js';
import { ToolError } from '../results/tool-error.js';
import type { FinderParts, ToolFinder } from './tool-finder.js';

const MAX_NAME = 128;

/** The tools of the front, and the parts of a server that they change. */
export interface SearchFront extends ToolFront {
  /** Makes calls through `call_tool` calls of the tool itself, before any middleware sees them. Called once, with the finished server. */
  readonly around: (dispatch: Dispatch) => Dispatch;
}

/** The arguments of `call_tool`. */
interface CallToolInput {
  readonly name: string;
  readonly arguments?: JsonObject;
}

/** The server that the tools belong to. */
interface FrontParts {
  readonly defaults: Defaults;
  readonly compiled: CompiledDefinitions;
  readonly server: () => Omit<FinderParts, 'options'>;
  /** Whether the server has the option `user`. */
  readonly hasUser: boolean;
  /** Adds a part that closes with the server. */
  readonly attach: (part: { readonly close: () => Promise<void> }) => void;
}

/** The options that add tools. */
interface FrontOptions {
  readonly search?: boolean | SearchOptions | undefined;
  readonly code?: CodeOptions | undefined;
}

/** The parts of a front that an engine for programs changes. */
interface FrontChanges {
  /** The description of `search_tools`. */
  readonly description: string;
  /** The result of `search_tools`. */
  readonly print: (found: FoundTools) => string;
}

/** The parts of a server from which an engine for programs makes the front. */
export interface CodeFrontParts
  extends Pick<FrontOptions, 'search'>,
    Pick<FrontParts, 'defaults' | 'hasUser' | 'attach' | 'server'>,
    Omit<CodeOptions, 'engine'> {
  /** Makes the front of the search. */
  readonly make: (changes: FrontChanges) => SearchFront;
  /** Compiles a tool of the front. */
  readonly compile: typeof compileFront;
}

/** The part of an engine that makes the front. */
type MakeCodeFront = (parts: CodeFrontParts) => SearchFront;

/**
 * Makes the tools; undefined if the server lists all its tools and no others. With `code`, the engine makes them, so that servers without
 * programs load nothing of it. Throws a `DefinitionError`.
 */
export function searchFront({ search, code }: FrontOptions, parts: FrontParts): SearchFront | undefined {
  if (code === undefined && (search === undefined || search === false)) return undefined;
  const options = fillDefaults(typeof search === 'object' ? search : {}, searchTable);
  const make = (changes?: FrontChanges) => findingFront(options, parts, changes);
  const front =
    code === undefined
      ? make()
      : (code.engine['~front'] as MakeCodeFront)({ ...parts, ...code, search, make, compile: compileFront });
  const taken = [...front.tools.keys()].filter((name) => parts.compiled.tools.has(name));
  if (taken.length > 0)
    throw new DefinitionError(
      taken.map(
        (name) =>
          `"${code === undefined ? 'search' : 'code'}" adds the tool "${name}": rename your tool of that name`,
      ),
    );
  return front;
}

/** The front of the search: `search_tools` and `call_tool`. */
function findingFront(
  options: SearchSettings,
  { defaults, server }: FrontParts,
  changes?: FrontChanges,
): SearchFront {
  const { limit, always } = options;
  const listed = new Set(always);
  let finder: Promise<ToolFinder> | undefined;

  const searching = searchTool(limit);
  const search = tool({
    title: searching.title as string,
    description: changes?.description ?? (searching.description as string),
    annotations: { readOnly: true, openWorld: false },
    input: searching.inputSchema,
    async run(input: unknown, ctx) {
      // Loaded with the first search.
      finder ??= import('./tool-finder.js').then((module) => new module.ToolFinder({ ...server(), options }));
      const request = { limit, ...(input as { query: string; limit?: number }), signal: ctx.signal };
      const found = await (await finder).find((ctx as unknown as CallContext<never, never>).caller, request);
      return changes?.print(found) ?? found;
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

  const calling = compileFront(defaults, CALL_TOOL, call);

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
      [SEARCH_TOOL, compileFront(defaults, SEARCH_TOOL, search)],
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

/** Compiles a tool of the front without the policy, which is about the tools that are found and called. */
function compileFront(defaults: Defaults, name: string, definition: object): CompiledTool {
  const { access } = defaults;
  const of: typeof access.of = (target, rules) => {
    const own = access.of(target, rules);
    const isOpen = own?.scopes.length === 0 && own.allow.length === 0;
    return own === undefined || isOpen ? undefined : { ...own, policy: undefined };
  };
  return compileDefinition('tool', name, definition, { ...defaults, access: { ...access, of } });
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
