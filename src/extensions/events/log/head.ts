// The entry that names the newest segment of a log, and how the next segment is begun.

import type { Store } from '../../../state/store.js';
import type { LogKeys } from './keys.js';

/** The facts about the segments of a log. */
export interface Head {
  /** The segment that events are appended to. */
  readonly segment: number;
  /** A segment before which there are no events any more. */
  readonly oldest: number;
  /** The room that the segment before took, when it was ended; undefined if there is none. */
  readonly previous?: number;
}

/** A head with the version of its entry. */
export interface VersionedHead extends Head {
  readonly version: string;
}

const OPEN = { name: 'open', value: {} } as const;

/** Reads and changes the head of a log. */
export class Heads {
  readonly #store: Store;
  readonly #keys: LogKeys;
  /** The time for which events are appended to a segment, measured by the store. */
  readonly #openMs: number;

  constructor(store: Store, keys: LogKeys, { openMs }: { readonly openMs: number }) {
    this.#store = store;
    this.#keys = keys;
    this.#openMs = openMs;
  }

  /** Reads the head. Begins the log if there is none. */
  async read(): Promise<VersionedHead> {
    for (;;) {
      const entry = await this.#store.get(this.#keys.head);
      if (entry !== undefined) return { ...(entry.value as unknown as Head), version: entry.version };
      // A log that was lost with its store begins at another number, so that cursors of the lost one are not taken for its own.
      const segment = Math.floor(Date.now() / 1000);
      await this.#store.write([
        { do: 'put', key: this.#keys.head, value: { segment, oldest: segment }, if: 'absent' },
        this.#opening(segment),
      ]);
    }
  }

  /**
   * Ends a segment that is full, or that is too old for further events, and begins the next one. Does nothing if another process was
   * faster. A segment without events is used again.
   */
  async advance({ segment, version, oldest }: VersionedHead): Promise<void> {
    const { head: key, size: sizeOf, open: openOf } = this.#keys;
    const size = await this.#store.get(sizeOf(segment));
    if (size === undefined) {
      const value = { segment, oldest };
      await this.#store.write([{ do: 'put', key, value, if: { version } }, this.#opening(segment)]);
      return;
    }
    const next = segment + 1;
    await this.#store.write([
      { do: 'put', key, value: { segment: next, oldest, previous: countOf(size.value) }, if: { version } },
      // An event that was appended in the meantime has changed the size.
      { do: 'delete', key: sizeOf(segment), if: { version: size.version } },
      { do: 'drop', list: openOf(segment) },
      this.#opening(next),
    ]);
  }

  #opening(segment: number) {
    return { do: 'append', list: this.#keys.open(segment), ...OPEN, ttlMs: this.#openMs } as const;
  }
}

/** The number in an entry that counts; 0 if there is none. */
export function countOf(value: object | undefined): number {
  return Number((value as { readonly count?: unknown } | undefined)?.count ?? 0);
}

/** The oldest segment that has events. The newest one counts even without them. */
export async function oldestSegment(
  range: { readonly low: number; readonly high: number },
  hasEvents: (segment: number) => Promise<boolean>,
): Promise<number> {
  let { low, high } = range;
  // Segments expire in their order.
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await hasEvents(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
