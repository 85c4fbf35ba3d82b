// The tools that a proxy or a gateway with `search` or `code` lists in place of all others, and the way of a call through them.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { type Call, type Dispatch, type Outcome, withoutParamHeaders } from '../../protocol/call.js';
import { readOptions } from '../../protocol/checks/options.js';
import { copyCall } from '../../protocol/direct.js';
import type { ListedTool } from '../../protocol/model/model.js';
import { type IndexedList, ListedIndex } from '../../protocol/model/search/listed-index.js';
import { type SearchOptions, type SearchSettings, searchTable } from '../../protocol/model/search/options.js';
import { MAX_FOUND, rankTools } from '../../protocol/model/search/rank-tools.js';
import {
  BAD_CALL,
  BAD_SEARCH,
  CALL_TOOL,
  callTool,
  type FoundTools,
  foundTools,
  readSearch,
  SEARCH_TOOL,
  searchTool,
} from '../../protocol/model/search/search-tools.js';
import { fetchPages } from './pages.js';

/** The parts of a front that are not options. */
export interface FrontParts {
  /** The name of the function whose option it is, for errors. */
  readonly owner: string;
  readonly warn: (message: string, cause?: unknown) => void;
  readonly changes?: FrontChanges | undefined;
}

/** The parts of a front that programs change. */
interface FrontChanges {
  /** The description of `search_tools`. */
  readonly description: string;
  /** The result of `search_tools`. */
  readonly print: (found: FoundTools) => string;
  /** Whether `call_tool` is listed. */
  readonly calls: boolean;
}

const frontTable = { search: { is: 'object', options: searchTable } } as const;

/** Wraps a dispatch, so that it lists the two tools and answers them; returns it as it is without the option. Throws a TypeError. */
export function withSearch(
  dispatch: Dispatch,
  option: boolean | SearchOptions | undefined,
  { owner, warn, changes }: FrontParts,
): Dispatch {
  if (option === undefined || option === false) return dispatch;
  const { search } = readOptions(owner, { search: option === true ? {} : option }, frontTable);
  const front = new SearchFront(dispatch, search, { warn, changes });
  return (call) => front.dispatch(call);
}

class SearchFront {
  readonly #next: Dispatch;
  readonly #options: SearchSettings;
  readonly #warn: FrontParts['warn'];
  readonly #changes: FrontChanges | undefined;
  readonly #limit: number;
  readonly #listed: ReadonlySet<string>;
  readonly #index = new ListedIndex();
  #hasWarned = false;

  constructor(
    next: Dispatch,
    options: SearchSettings,
    { warn, changes }: Pick<FrontParts, 'warn' | 'changes'>,
  ) {
    const { limit, always } = options;
    this.#next = next;
    this.#options = options;
    this.#warn = warn;
    this.#changes = changes;
    this.#limit = limit;
    this.#listed = new Set(always);
  }

  get #calls(): boolean {
    return this.#changes?.calls ?? true;
  }

  async dispatch(call: Call): Promise<Outcome> {
    if (call.method === 'tools/list') return this.#list(call);
    if (call.method !== 'tools/call') return this.#next(call);
    const { name, arguments: given } = call.params;
    const args = isObject(given) ? given : {};
    if (name === SEARCH_TOOL) return this.#answer(call, args);
    return name === CALL_TOOL && this.#calls ? this.#redirect(call, args) : this.#next(call);
  }

  /** The server behind decides for how long the list may be cached. */
  async #list(call: Call): Promise<Outcome> {
    const { cursor, ...params } = call.params;
    const { nextCursor, ...outcome } = await this.#next(copyCall(call, { params }));
    const always = this.#listed.size === 0 ? [] : await this.#tools(call);
    const description = this.#changes?.description;
    const tools = [
      { ...searchTool(this.#limit), ...(description !== undefined && { description }) },
      ...(this.#calls ? [callTool] : []),
      ...always.filter(({ name }) => this.#listed.has(name as string)),
    ];
    return { ...outcome, tools } as unknown as Outcome;
  }

  async #answer(call: Call, args: JsonObject): Promise<Outcome> {
    const request = readSearch(args, this.#limit);
    if (request === undefined) return result(BAD_SEARCH, { isError: true });
    const indexed = await this.#index.of(await this.#tools(call));
    const found = await this.#find(indexed, { ...request, signal: call.signal });
    // The types of the values behind handles are in `_meta`.
    if (this.#changes !== undefined) return result(this.#changes.print(foundTools(found)), {});
    const data = foundTools(found.map(({ _meta, ...tool }) => tool));
    return result(JSON.stringify(data), { structuredContent: data as unknown as JsonObject });
  }

  async #find(
    { tools, index, subset }: IndexedList,
    {
      query,
      limit,
      signal,
    }: { readonly query: string; readonly limit: number; readonly signal: AbortSignal },
  ): Promise<readonly ListedTool[]> {
    const { rank } = this.#options;
    const found = index.search(query, subset, rank === undefined ? limit : MAX_FOUND).map(({ tool }) => tool);
    const names = found.map(({ name }) => name);
    const ranked = await rankTools({ query, limit, tools, found: names, signal }, this.#options, this.#warn);
    return (ranked ?? found).slice(0, limit);
  }

  /** All tools that the caller sees, without those that the two tools hide. */
  async #tools(call: Call): Promise<readonly JsonObject[]> {
    const all = await fetchPages(this.#next, 'tools', { call, signal: call.signal });
    const tools = all.filter(({ name }) => name !== SEARCH_TOOL && (name !== CALL_TOOL || !this.#calls));
    if (tools.length < all.length && !this.#hasWarned) {
      this.#hasWarned = true;
      this.#warn(
        `A server has a tool "${SEARCH_TOOL}" or "${CALL_TOOL}" of its own, which cannot be used: "search" adds tools of these names`,
      );
    }
    return tools;
  }

  /** Makes a call through `call_tool` a call of the tool itself. */
  async #redirect(call: Call, { name, arguments: args = {} }: JsonObject): Promise<Outcome> {
    if (typeof name !== 'string' || name === CALL_TOOL || !isObject(args))
      return result(BAD_CALL, { isError: true });
    if (name === SEARCH_TOOL) return this.#answer(call, args);
    const params = { ...call.params, name, arguments: args };
    return this.#next(copyCall(call, { params, http: withoutParamHeaders(call.http) }));
  }
}

function result(text: string, more: JsonObject): Outcome {
  return { resultType: 'complete', content: [{ type: 'text', text }], ...more } as unknown as Outcome;
}
