// Searches the tools of a server in the client, for programs that give tools to a model.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { tryParse } from '../../jsonrpc/try-parse.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import type { ListedTool } from '../../protocol/model/model.js';
import { type IndexedList, ListedIndex } from '../../protocol/model/search/listed-index.js';
import { searchTable } from '../../protocol/model/search/options.js';
import {
  BAD_CALL,
  BAD_SEARCH,
  CALL_TOOL,
  callTool,
  foundTools,
  MAX_LIMIT,
  MAX_QUERY,
  readSearch,
  SEARCH_TOOL,
  searchTool,
} from '../../protocol/model/search/search-tools.js';
import type { Client, ToolCallOptions } from '../model/client.js';
import type { ToolAnswer } from '../model/results.js';

/** The options of `toolSearch`. */
export interface ToolSearchOptions {
  /** The number of tools that a search returns unless the model asks for another number; at most 50. Default: 5. */
  readonly limit?: number;
  /** The names of tools that the model gets in any case. Names that the server does not list are ignored. Default: none. */
  readonly always?: readonly string[];
  /** The time after which a search lists the tools of the server again, in milliseconds. Default: 60 s. */
  readonly maxAgeMs?: number;
}

/** A tool that was found. */
export interface RankedTool {
  /** The definition of the tool. */
  readonly tool: ListedTool;
  /** How well it fits: comparable with the other tools of the same search. */
  readonly score: number;
}

/** A client of a server, or of several: the part that tools are listed and called with. */
export type ToolClient = Pick<Client, 'tools' | 'callTool' | 'on'>;

/** A search over the tools of a client. */
export interface ToolSearch {
  /**
   * The tools to give to the model: `search_tools`, `call_tool`, and those of `always`. The array and its contents never change, so the
   * prompt cache of the model stays valid, whatever the server adds and removes.
   */
  readonly tools: readonly ListedTool[];
  /** The tools that fit a query, the best first. */
  readonly search: (
    query: string,
    options?: Pick<ToolSearchOptions, 'limit'>,
  ) => Promise<readonly RankedTool[]>;
  /** Makes a call of the model, to one of `tools`. */
  readonly call: (name: string, args?: object, options?: ToolCallOptions) => Promise<ToolAnswer>;
}

const optionTable = {
  limit: { is: 'count', default: searchTable.limit.default },
  always: 'strings',
  maxAgeMs: { is: 'ms', default: 60_000 },
} as const satisfies OptionTable<ToolSearchOptions>;

/**
 * Lets a model search the tools of a client instead of reading all of them: for programs that call models, with servers that list
 * hundreds of tools. Lists the tools now, and again after `maxAgeMs` or when the server announces a change.
 *
 * @example
 * const search = await toolSearch(client);
 * const { tools, run } = await toTools(search, 'anthropic');
 */
export async function toolSearch(client: ToolClient, options: ToolSearchOptions = {}): Promise<ToolSearch> {
  const { limit, always, maxAgeMs } = readOptions('toolSearch', options, optionTable, {
    maxResults: 'limit',
    ttlMs: 'maxAgeMs',
  });
  const list = new SearchedList(client, maxAgeMs);
  const { tools: known } = await list.current();
  if (known.some(({ name }) => name === SEARCH_TOOL))
    throw new TypeError(
      `The server has a tool "${SEARCH_TOOL}": it searches its tools itself. Give its list to the model as it is.`,
    );
  const wanted = new Set(always);
  const tools = [searchTool(limit), callTool, ...known.filter(({ name }) => wanted.has(name))];

  const search: ToolSearch['search'] = async (query, { limit: most = limit } = {}) =>
    list.search(query, Math.min(most, MAX_LIMIT));

  return {
    tools: Object.freeze(structuredClone(tools).map(Object.freeze) as ListedTool[]),
    search,
    async call(name, args = {}, callOptions) {
      if (name === SEARCH_TOOL) return answerSearch(args as JsonObject, limit, search);
      if (name !== CALL_TOOL) return client.callTool(name, args, callOptions);
      const { name: inner, arguments: given } = args as JsonObject;
      const innerArgs = typeof given === 'string' ? tryParse(given) : (given ?? {});
      if (typeof inner !== 'string' || inner === CALL_TOOL || !isObject(innerArgs)) return failure(BAD_CALL);
      return inner === SEARCH_TOOL
        ? answerSearch(innerArgs, limit, search)
        : client.callTool(inner, innerArgs, callOptions);
    },
  };
}

async function answerSearch(
  args: JsonObject,
  byDefault: number,
  search: ToolSearch['search'],
): Promise<ToolAnswer> {
  const request = readSearch(args, byDefault);
  if (request === undefined) return failure(BAD_SEARCH);
  const found = await search(request.query, { limit: request.limit });
  const data = foundTools(found.map(({ tool: { _meta, ...tool } }) => tool));
  const text = JSON.stringify(data);
  return { content: [{ type: 'text', text }], text, data, isError: false };
}

function failure(text: string): ToolAnswer {
  return { content: [{ type: 'text', text }], text, data: undefined, isError: true };
}

/** The tools of a client, with an index that follows them. */
export class SearchedList {
  readonly #client: ToolClient;
  readonly #maxAgeMs: number;
  readonly #index = new ListedIndex();
  #listing: Promise<IndexedList> | undefined;
  #listedAt = 0;

  constructor(client: ToolClient, maxAgeMs: number) {
    this.#client = client;
    this.#maxAgeMs = maxAgeMs;
    // The client may live longer than the search.
    const reference = new WeakRef(this);
    const forget = client.on('notification', ({ method }) => {
      const list = reference.deref();
      if (list === undefined) forget();
      else if (method === 'notifications/tools/list_changed') list.#listing = undefined;
    });
  }

  /** The tools as they were listed last, not longer ago than the limit. */
  current(): Promise<IndexedList> {
    if (this.#listing === undefined || performance.now() - this.#listedAt > this.#maxAgeMs) {
      this.#listedAt = performance.now();
      const listing = this.#list(this.#listing);
      this.#listing = listing;
      // A list that failed is requested again by the next search.
      listing.catch(() => {
        if (this.#listing === listing) this.#listing = undefined;
      });
    }
    return this.#listing;
  }

  async search(query: string, limit: number): Promise<readonly RankedTool[]> {
    const { index, subset } = await this.current();
    return index.search(shorten(query, MAX_QUERY), subset, limit);
  }

  async #list(before: Promise<unknown> | undefined): Promise<IndexedList> {
    await before?.catch(() => undefined);
    return this.#index.of(await this.#client.tools().all());
  }
}
