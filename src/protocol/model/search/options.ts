// The options of the search over the tools of a server, a proxy or a gateway.

import type { KeysOf } from '../../checks/known-keys.js';
import type { ListedTool } from '../model.js';
import { MAX_LIMIT } from './search-tools.js';

/** The option `search` of a server, a proxy or a gateway. */
export interface SearchOptions {
  /** The number of tools that a search returns if the model does not ask for a number. At most 50. Default: 5. */
  readonly limit?: number;
  /** The names of tools that are listed beside `search_tools` and `call_tool`. Those of mounted tools, and of tools behind a gateway, have the prefix. */
  readonly always?: readonly string[];
  /**
   * Ranks the tools instead, by embeddings for example. If it fails or takes longer than `rankTimeoutMs`, that is logged, and the search
   * returns what it has found by words.
   */
  readonly rank?: RankTools;
  /** The time limit of `rank`. Default: 5 s. */
  readonly rankTimeoutMs?: number;
}

/**
 * Returns the names of the tools that fit a query, the best first. Names that the caller does not see are ignored.
 *
 * @example
 * rank: async ({ query, tools }) => nearest(await embed(query), await vectorsOf(tools)),
 */
export type RankTools = (request: RankRequest) => readonly string[] | Promise<readonly string[]>;

/** The argument of `rank`. */
export interface RankRequest {
  /** The words or the question of the model. */
  readonly query: string;
  /** The number of tools that are returned. */
  readonly limit: number;
  /** All tools that the caller sees. The array is the same for each search of callers that see the same tools, until these change. */
  readonly tools: readonly ListedTool[];
  /** The names that were found by words, the best first, at most 50. */
  readonly found: readonly string[];
  /** Aborts when the call is cancelled. */
  readonly signal: AbortSignal;
}

export const searchKeys: KeysOf<SearchOptions> = {
  limit: true,
  always: true,
  rank: true,
  rankTimeoutMs: true,
};

/** The first mistake in the options, as the end of a sentence that begins with `"search`; undefined if there is none. */
export function searchProblem(options: SearchOptions): string | undefined {
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
