// The events of one type, in order, as all processes of a server keep and read them.

import { BoundedMap } from '../../../async/bounded-map.js';
import type { Store, StoreChange } from '../../../state/store.js';
import { Appender } from './appender.js';
import { countOf, type Head, Heads, oldestSegment } from './head.js';
import { eventGroup, type LogKeys, logKeys } from './keys.js';
import { comparePositions, cursorOf, type LogPosition, positionOf } from './positions.js';
import { Segment } from './segment.js';
import type { Appended, NewEvent, StoredEvent } from './stored-event.js';

/** The events after a position. */
export interface EventPage {
  readonly events: readonly StoredEvent[];
  /** The position after the last of them. */
  readonly next: LogPosition;
  /** Whether there are more after `next`. */
  readonly hasMore: boolean;
  /** Whether events between the position and the first of them may be missing. */
  readonly isTruncated: boolean;
}

/** The events of one type, in order. */
export interface EventHistory {
  /** The group of all its keys in the store. */
  readonly group: string;
  /**
   * Appends events that have new ids, and makes the changes `also` in the same write, if there is a new event. Resolves when the store
   * has them. After an error, events may or may not have been appended: append them again.
   */
  append(events: readonly NewEvent[], also?: readonly StoreChange[]): Promise<readonly Appended[]>;
  /** Whether an event with this id was appended, and is not forgotten. */
  has(eventId: string): Promise<boolean>;
  /** The position after the newest event. */
  tail(): Promise<LogPosition>;
  /** Reads at most `limit` events after a position. */
  read(after: LogPosition, limit: number): Promise<EventPage>;
  /** Writes a position as a cursor. */
  cursorOf(position: LogPosition): string;
  /** Reads a cursor; undefined if it is malformed, or belongs to another type of events. */
  positionOf(cursor: string): LogPosition | undefined;
  /** Which of two positions comes first: negative if `a` does. */
  compare(a: LogPosition, b: LogPosition): number;
}

/** The options of a log. */
export interface EventHistoryOptions {
  /** The time for which events are kept, at least. */
  readonly retentionMs: number;
  /** The most room that events take; the oldest make room. Undefined if the store alone is the limit. */
  readonly maxUnits?: number | undefined;
}

/** Opens the log of a type of events. */
export async function eventHistory(
  store: Store,
  { server, name }: { readonly server: string; readonly name: string },
  options: EventHistoryOptions,
): Promise<EventHistory> {
  return new StoredHistory(store, logKeys(await eventGroup(server, name)), options);
}

/** The number of segments besides the newest one that a process keeps in memory. */
const KEPT = 2;

class StoredHistory implements EventHistory {
  readonly compare = comparePositions;
  readonly #store: Store;
  readonly #keys: LogKeys;
  readonly #heads: Heads;
  readonly #appender: Appender;
  #head: Head | undefined;
  /** The newest segment as far as this process has read it. */
  #newest: Segment | undefined;
  /** Segments that are complete, and were read a short time ago. */
  readonly #complete = new BoundedMap<number, Segment>(KEPT);
  #looking: Promise<Segment> | undefined;
  #nextLook: Promise<Segment> | undefined;

  constructor(store: Store, keys: LogKeys, { retentionMs, maxUnits }: EventHistoryOptions) {
    const quarter = Math.ceil(retentionMs / 4);
    this.#store = store;
    this.#keys = keys;
    this.#heads = new Heads(store, keys, { openMs: quarter, maxUnits });
    this.#appender = new Appender(store, keys, {
      heads: this.#heads,
      idMs: retentionMs,
      eventsMs: retentionMs + quarter,
    });
  }

  get group(): string {
    return this.#keys.group;
  }

  append(events: readonly NewEvent[], also: readonly StoreChange[] = []): Promise<readonly Appended[]> {
    return this.#appender.append(events, also);
  }

  async has(eventId: string): Promise<boolean> {
    return (await this.#store.get(this.#keys.id(eventId))) !== undefined;
  }

  cursorOf(position: LogPosition): string {
    return cursorOf(this.group, position);
  }

  positionOf(cursor: string): LogPosition | undefined {
    return positionOf(this.group, cursor);
  }

  async tail(): Promise<LogPosition> {
    const { number, end } = await this.#look();
    return end.at > 0 ? end : { ...end, used: await this.#sizeOf(number) };
  }

  async read(after: LogPosition, limit: number): Promise<EventPage> {
    let newest = await this.#look();
    // The store was emptied, or the cursor was invented.
    if (after.segment > newest.number)
      return { events: [], next: await this.tail(), hasMore: false, isTruncated: true };
    const events: StoredEvent[] = [];
    let next = after;
    let isTruncated = false;
    for (;;) {
      const segment = next.segment === newest.number ? newest : await this.#read(next.segment);
      const found = segment.after(next, limit - events.length);
      events.push(...found);
      next = found.at(-1)?.position ?? next;
      if (events.length === limit)
        return { events, next, hasMore: segment !== newest || segment.hasAfter(next), isTruncated };
      // A list that is empty now may have had events, which have expired.
      const used = segment.end.at > 0 ? next.used : await this.#usedOf(next.segment, newest);
      if (used !== next.used && segment === newest) {
        // The first event of the segment may have come after the segment was read.
        newest = await this.#look();
        if (newest !== segment || newest.end.at > 0) continue;
      }
      isTruncated ||= used !== next.used;
      if (segment === newest)
        return { events, next: { ...next, used: used ?? 0 }, hasMore: false, isTruncated };
      const following = await this.#following(next.segment, newest);
      isTruncated ||= following > next.segment + 1;
      next = { segment: following, at: 0, used: 0 };
    }
  }

  /** The newest segment. Reads what was appended before the call; calls that wait at the same time share what they read. */
  #look(): Promise<Segment> {
    if (this.#looking === undefined) {
      this.#looking = this.#lookNow().finally(() => {
        this.#looking = undefined;
      });
      return this.#looking;
    }
    this.#nextLook ??= this.#looking
      .catch(() => undefined)
      .then(() => {
        this.#nextLook = undefined;
        return this.#look();
      });
    return this.#nextLook;
  }

  async #lookNow(): Promise<Segment> {
    let newest = this.#newest ?? new Segment((await this.#readHead()).segment);
    for (;;) {
      const [{ segment }] = await Promise.all([this.#readHead(), this.#readInto(newest)]);
      if (segment === newest.number) break;
      // No event is appended to this segment any more, but some may have been since it was read.
      await this.#readInto(newest);
      if (segment > newest.number) this.#complete.set(newest.number, newest);
      else this.#complete.clear();
      newest = new Segment(segment);
    }
    this.#newest = newest;
    return newest;
  }

  async #readHead(): Promise<Head> {
    this.#head = await this.#heads.read();
    return this.#head;
  }

  /** Reads what was appended to a segment since it was read. Returns the number of events. */
  async #readInto(segment: Segment): Promise<number> {
    const { at } = segment.end;
    const items = await this.#store.items(this.#keys.events(segment.number), at > 0 ? { after: at } : {});
    segment.add(items);
    return items.length;
  }

  /** A segment that is complete. It has no events if they have expired. */
  async #read(number: number): Promise<Segment> {
    const known = this.#complete.get(number);
    if (known !== undefined) return known;
    const segment = new Segment(number);
    if ((await this.#readInto(segment)) > 0) this.#complete.set(number, segment);
    return segment;
  }

  /** The room that the events of a segment took before they expired. Undefined if that is not known any more. */
  async #usedOf(segment: number, newest: Segment): Promise<number | undefined> {
    if (segment === newest.number) return this.#sizeOf(segment);
    return segment === newest.number - 1 ? this.#head?.previous : undefined;
  }

  async #sizeOf(segment: number): Promise<number> {
    return countOf((await this.#store.get(this.#keys.size(segment)))?.value);
  }

  /** The first segment after a complete one whose events have not expired. */
  async #following(segment: number, newest: Segment): Promise<number> {
    const [low, high] = [segment + 1, newest.number];
    if (low < high && (await this.#read(low)).end.at === 0)
      return oldestSegment({ low, high }, async (number) => (await this.#read(number)).end.at > 0);
    return low;
  }
}
