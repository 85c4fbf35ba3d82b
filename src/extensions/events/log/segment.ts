// The events of one segment, as a process has read them.

import type { ListItem } from '../../../state/store.js';
import type { LogPosition } from './positions.js';
import { eventOf, type StoredEvent } from './stored-event.js';

/** The events of a segment from its beginning to where they were read last. */
export class Segment {
  readonly number: number;
  readonly #events: StoredEvent[] = [];

  constructor(number: number) {
    this.number = number;
  }

  /** The place after the last event. */
  get end(): LogPosition {
    return this.#events.at(-1)?.position ?? { segment: this.number, at: 0, used: 0 };
  }

  /** Adds items that were read after the end. */
  add(items: readonly ListItem[]): void {
    for (const item of items) if (item.at > this.end.at) this.#events.push(eventOf(item, this.end));
  }

  /** At most `limit` events after a place. */
  after(position: LogPosition, limit: number): readonly StoredEvent[] {
    const from = this.#indexAfter(position);
    return this.#events.slice(from, from + limit);
  }

  hasAfter(position: LogPosition): boolean {
    return this.#indexAfter(position) < this.#events.length;
  }

  #indexAfter({ at }: LogPosition): number {
    let [low, high] = [0, this.#events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle] as StoredEvent).position.at > at) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
