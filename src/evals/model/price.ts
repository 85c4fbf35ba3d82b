// Prices of models, and the cost of tokens.

import type { ModelTokens } from './model.js';

/** The prices of a model in any currency, for a million tokens each, as the vendor lists them on a day. */
export interface ModelPrice {
  /** Tokens of requests. */
  readonly input: number;
  /** Tokens of replies. */
  readonly output: number;
  /** Tokens of requests that come from the cache of the vendor. Default: the price of `input`. */
  readonly cached?: number;
}

/** Tokens and their cost. */
export interface Spent {
  /** The tokens of requests and replies together. */
  readonly tokens: number;
  /** The cost; undefined if a price is unknown. */
  readonly cost: number | undefined;
  /** Whether an API did not say how many tokens it used, so that the most that it could be is counted. */
  readonly isEstimate: boolean;
}

const MILLION = 1_000_000;

/** The cost of tokens; undefined without prices. */
export function costOf(
  { input, cached, output }: ModelTokens,
  price: ModelPrice | undefined,
): number | undefined {
  if (price === undefined) return undefined;
  const { cached: cachedPrice = price.input } = price;
  return ((input - cached) * price.input + cached * cachedPrice + output * price.output) / MILLION;
}
