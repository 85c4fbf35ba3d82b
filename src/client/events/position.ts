// The position in the events of one type, and where it is kept between runs.

import { tryParseObject } from '../../jsonrpc/try-parse.js';
import { canonical } from '../../protocol/canonical.js';
import type { EventStore } from '../model/events.js';
import { readCursor } from './read-events.js';

/** The subscription that a position belongs to. */
export interface PositionOf {
  /** The address of the server. */
  readonly server: string;
  /** The name of the type. */
  readonly name: string;
  readonly args: object;
}

/** The key of a position in a store. */
function positionKey({ server, name, args }: PositionOf): string {
  return `events ${name} ${server} ${canonical(args)}`;
}

/**
 * The position up to which the handler has seen all events. It is written to the store one write at a time, always the latest: a slow
 * store delays nothing but itself.
 */
export class FollowedPosition {
  readonly #key: string;
  readonly #store: EventStore | undefined;
  readonly #problem: (message: string, cause?: unknown) => void;
  #cursor: string | null;
  #stored: string | null | undefined;
  #writing: Promise<void> | undefined;

  private constructor(
    key: string,
    store: EventStore | undefined,
    { cursor, problem }: { cursor: string | null | undefined; problem: (m: string, cause?: unknown) => void },
  ) {
    this.#key = key;
    this.#store = store;
    this.#cursor = cursor ?? null;
    this.#stored = cursor;
    this.#problem = problem;
  }

  /** Reads the position of an earlier run. Rejects if the store fails: a subscription that began elsewhere would miss events. */
  static async open(
    of: PositionOf,
    store: EventStore | undefined,
    problem: (message: string, cause?: unknown) => void,
  ): Promise<FollowedPosition> {
    const key = positionKey(of);
    const value = tryParseObject((await store?.get(key)) ?? '');
    return new FollowedPosition(key, store, { cursor: value && readCursor(value), problem });
  }

  /** The position; null before the first one, and for a type without positions. */
  get cursor(): string | null {
    return this.#cursor;
  }

  set cursor(cursor: string | null) {
    this.#cursor = cursor;
    void this.save();
  }

  /** Resolves when the latest position is in the store, or could not be written. */
  save(): Promise<void> {
    if (this.#store === undefined || this.#stored === this.#cursor) return this.#writing ?? Promise.resolve();
    this.#writing ??= this.#write(this.#store);
    return this.#writing;
  }

  async #write(store: EventStore): Promise<void> {
    try {
      while (this.#stored !== this.#cursor) {
        const cursor = this.#cursor;
        this.#stored = cursor;
        await store.set(this.#key, JSON.stringify({ cursor }));
      }
    } catch (error) {
      // The next position is written again.
      this.#stored = undefined;
      this.#problem('The position in the events could not be stored', error);
    } finally {
      this.#writing = undefined;
    }
  }
}
