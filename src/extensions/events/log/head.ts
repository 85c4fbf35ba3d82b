// The entry that names the newest segment of a log, and how the next segment is begun.

import type { Store, StoreChange } from '../../../state/store.js';
import type { LogKeys } from './keys.js';
import { SEGMENT_UNITS } from './stored-event.js';

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

/** The options of `Heads`. */
interface HeadsOptions {
  /** The time for which events are appended to a segment, measured by the store. */
  readonly openMs: number;
  /** The most room that all segments may take. */
  readonly maxUnits: number | undefined;
}

/** The room that the complete segments take which are kept, as far as it is known. */
interface Sizes {
  /** The first of these segments. */
  readonly first: number;
  readonly sizes: readonly number[];
}

/** Reads and changes the head of a log. */
export class Heads {
  readonly #store: Store;
  readonly #keys: LogKeys;
  /** The time for which events are appended to a segment, measured by the store. */
  readonly #openMs: number;
  readonly #maxUnits: number | undefined;

  constructor(store: Store, keys: LogKeys, { openMs, maxUnits }: HeadsOptions) {
    this.#store = store;
    this.#keys = keys;
    this.#openMs = openMs;
    this.#maxUnits = maxUnits;
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
    const previous = countOf(size.value);
    const { from, changes } = await this.#makeRoom(segment, previous);
    const value = { segment: next, oldest: Math.max(oldest, from), previous };
    await this.#store.write([
      { do: 'put', key, value, if: { version } },
      // An event that was appended in the meantime has changed the size.
      { do: 'delete', key: sizeOf(segment), if: { version: size.version } },
      { do: 'drop', list: openOf(segment) },
      this.#opening(next),
      ...changes,
    ]);
  }

  /** Drops the oldest segments when one is complete, so that there is room for the next one. Returns the oldest that is kept. */
  async #makeRoom(
    segment: number,
    size: number,
  ): Promise<{ readonly from: number; readonly changes: readonly StoreChange[] }> {
    if (this.#maxUnits === undefined) return { from: 0, changes: [] };
    const { sizes: key, events } = this.#keys;
    const entry = await this.#store.get(key);
    const known = entry?.value as unknown as Sizes | undefined;
    // A process without the limit may have written in between. Those before expire in their time.
    const isCurrent = known !== undefined && known.first + known.sizes.length === segment;
    const sizes = [...(isCurrent ? known.sizes : []), size];
    let first = isCurrent ? known.first : segment;
    let room = sizes.reduce((sum, each) => sum + each, SEGMENT_UNITS);
    const changes: StoreChange[] = [];
    // The segment that was completed last stays: its readers know the room that it took.
    while (room > this.#maxUnits && sizes.length > 1) {
      room -= sizes.shift() as number;
      changes.push({ do: 'drop', list: events(first++) });
    }
    const put: StoreChange = {
      ...{ do: 'put', key, value: { first, sizes } },
      if: entry === undefined ? 'absent' : { version: entry.version },
    };
    return { from: first, changes: [...changes, put] };
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
