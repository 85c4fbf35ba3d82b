// Opens and closes the state of a server.

import { McpError } from '../../protocol/errors.js';

/** An async generator that opens the state of a server, yields it, and closes it when the server closes. */
export type Lifespan<State> = () => AsyncGenerator<State, void, void>;

/** The sentence about a lifespan of the wrong kind. */
export const NOT_A_GENERATOR =
  'The lifespan must be an async generator that yields the state: async function* () { const db = await open(); try { yield { db }; } finally { await db.close(); } }';

function isGenerator<State>(value: unknown): value is AsyncGenerator<State, void, void> {
  return typeof value === 'object' && value !== null && 'next' in value && typeof value.next === 'function';
}

/** Runs a lifespan once: with the first call or with `start`, whichever comes first. */
export class LifespanRun<State> {
  readonly #lifespan: Lifespan<State> | undefined;
  #generator: AsyncGenerator<State, void, void> | undefined;
  #starting: Promise<State> | undefined;
  #isClosed = false;

  constructor(lifespan: Lifespan<State> | undefined) {
    this.#lifespan = lifespan;
  }

  /** Whether there is a lifespan to wait for. */
  get hasLifespan(): boolean {
    return this.#lifespan !== undefined;
  }

  start(): Promise<State> {
    if (this.#isClosed) return Promise.reject(new McpError('connection_closed', 'This server is closed'));
    this.#starting ??= this.#open().catch((error) => {
      // The next call retries: a database that was briefly unavailable must not break the server for good.
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  async #open(): Promise<State> {
    if (this.#lifespan === undefined) return undefined as State;
    const generator: unknown = this.#lifespan();
    if (!isGenerator<State>(generator)) throw new TypeError(NOT_A_GENERATOR);
    const first = await generator.next();
    if (first.done)
      throw new Error('The lifespan ended without a yield. Yield the state, even if it is undefined.');
    this.#generator = generator;
    return first.value;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#starting?.catch(() => undefined);
    // Resumes after the `yield`, so that the code that follows it runs.
    await this.#generator?.next();
  }
}
