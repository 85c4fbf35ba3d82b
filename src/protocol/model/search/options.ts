// The options of the search over the tools of a server, a proxy or a gateway.

import type { FilledOptions } from '../../checks/options.js';
import type { ListedTool } from '../model.js';

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
type RankTools = (request: RankRequest) => readonly string[] | Promise<readonly string[]>;

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

/** The table of `SearchOptions`. */
export const searchTable = {
  limit: { is: 'count', max: 50, default: 5 },
  always: 'strings',
  rank: 'function',
  rankTimeoutMs: { is: 'count', max: 0x7fffffff, default: 5000 },
} as const;

/** The options of a search with their defaults. */
export type SearchSettings = FilledOptions<SearchOptions, typeof searchTable>;
