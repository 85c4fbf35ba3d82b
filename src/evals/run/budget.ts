// The limits of a run of evals. Every request reserves the most that it can cost before it is sent, so that no budget is exceeded, however
// many requests are in flight.

import { type AskModel, type ModelRequest, type ModelTokens, mayHaveCost } from '../model/model.js';
import { costOf, type ModelPrice, type Spent } from '../model/price.js';
import type { ModelTarget } from '../model/target.js';

/** The limits of a run. */
export interface EvalBudget {
  /** The largest number of tokens, those of requests and of replies together. Default: no limit. */
  readonly tokens?: number;
  /** The largest cost, in the currency of the prices. Every model needs its prices. Default: no limit. */
  readonly cost?: number;
  /** The longest time, in milliseconds. Default: no limit. */
  readonly ms?: number;
}

/** A request was not sent, because the budget might not have been enough for it. */
export class BudgetError extends Error {
  override readonly name = 'BudgetError';
}

const NOTHING: ModelTokens = { input: 0, cached: 0, output: 0 };
/** Vendors add words of their own around tools and messages. */
const EXTRA_TOKENS = 2000;

/**
 * The most tokens that a request can have. No token is shorter than a byte, so the bytes are a limit, far above the real number. It only
 * counts until the reply has come.
 */
function mostTokens({ system, tools, messages }: ModelRequest): number {
  return new TextEncoder().encode(JSON.stringify([system, tools, messages])).length + EXTRA_TOKENS;
}

/** Tokens and money of one run of evals. */
export class Budget {
  readonly #limits: EvalBudget;
  readonly #waiting = new Set<() => void>();
  #inFlight = 0;
  #held = { tokens: 0, cost: 0 };
  #spent = { tokens: 0, cost: 0 };
  #isPriced = true;
  #isEstimate = false;

  constructor(limits: EvalBudget) {
    this.#limits = limits;
  }

  get spent(): Spent {
    const { tokens, cost } = this.#spent;
    return { tokens, cost: this.#isPriced ? cost : undefined, isEstimate: this.#isEstimate };
  }

  /** Wraps a model: each attempt reserves and settles. */
  around(ask: AskModel, { price, maxTokens }: Pick<ModelTarget, 'price' | 'maxTokens'>): AskModel {
    const budget = this;
    return async function askWithinBudget(request, options) {
      const most = { input: mostTokens(request), cached: 0, output: maxTokens };
      const dearest = price && { ...price, input: Math.max(price.input, price.cached ?? 0) };
      const settle = await budget.#reserve(most, dearest);
      // A failure counts as the most that the request can have cost, unless it is known to cost nothing.
      let used: ModelTokens | undefined;
      try {
        const reply = await ask(request, options);
        used = reply.tokens;
        return reply;
      } catch (error) {
        if (!mayHaveCost(error)) used = NOTHING;
        throw error;
      } finally {
        settle(used, price);
      }
    };
  }

  /** Waits while requests in flight may leave something over. Throws a `BudgetError` if nothing more can be sent. */
  async #reserve(
    most: ModelTokens,
    price: ModelPrice | undefined,
  ): Promise<(used: ModelTokens | undefined, price: ModelPrice | undefined) => void> {
    const wanted = { tokens: most.input + most.output, cost: costOf(most, price) ?? 0 };
    while (!this.#fits(wanted)) {
      if (this.#inFlight === 0)
        throw new BudgetError(
          `The budget does not allow another request: ${this.#words()} used, and the next request may need ${wanted.tokens} tokens.`,
        );
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
    this.#inFlight++;
    this.#held = { tokens: this.#held.tokens + wanted.tokens, cost: this.#held.cost + wanted.cost };
    return (used, ownPrice) =>
      this.#settle(wanted, { used: used ?? most, isKnown: used !== undefined, price: ownPrice });
  }

  #fits(wanted: { readonly tokens: number; readonly cost: number }): boolean {
    const { tokens = Number.POSITIVE_INFINITY, cost = Number.POSITIVE_INFINITY } = this.#limits;
    return (
      this.#spent.tokens + this.#held.tokens + wanted.tokens <= tokens &&
      this.#spent.cost + this.#held.cost + wanted.cost <= cost
    );
  }

  #settle(
    wanted: { readonly tokens: number; readonly cost: number },
    { used, isKnown, price }: { used: ModelTokens; isKnown: boolean; price: ModelPrice | undefined },
  ): void {
    this.#inFlight--;
    this.#held = { tokens: this.#held.tokens - wanted.tokens, cost: this.#held.cost - wanted.cost };
    const cost = costOf(used, price);
    if (cost === undefined) this.#isPriced = false;
    if (!isKnown) this.#isEstimate = true;
    this.#spent = {
      tokens: this.#spent.tokens + used.input + used.output,
      cost: this.#spent.cost + (cost ?? 0),
    };
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  #words(): string {
    const { tokens, cost } = this.spent;
    return `${tokens} tokens${cost === undefined || this.#limits.cost === undefined ? '' : ` and ${cost.toFixed(4)}`}`;
  }
}
