// Appends events to a log: each id once, in segments of a bounded size.

import type { JsonObject } from '../../../jsonrpc/message.js';
import type { ListItem, Store, StoreChange, Written } from '../../../state/store.js';
import { StoreFull } from '../../../state/store-shares.js';
import { type Heads, oldestSegment, type VersionedHead } from './head.js';
import type { LogKeys } from './keys.js';
import { type Appended, itemOf, type NewEvent, SEGMENT_UNITS } from './stored-event.js';

/** The parts of an `Appender`. */
export interface AppenderParts {
  readonly heads: Heads;
  /** The time for which an id is known. */
  readonly idMs: number;
  /** The time for which the events of a segment are kept after the last one. */
  readonly eventsMs: number;
}

/** An event that is to be appended, with the room that it takes. */
interface Pending {
  readonly event: NewEvent;
  readonly value: JsonObject;
  readonly units: number;
}

/** The most events that one write appends. */
const MAX_WRITTEN = 100;
/** Each time that a write is refused, another writer has made progress. */
const MAX_ATTEMPTS = 1000;

/** Appends events to a log. */
export class Appender {
  readonly #store: Store;
  readonly #keys: LogKeys;
  readonly #parts: AppenderParts;
  #head: VersionedHead | undefined;

  constructor(store: Store, keys: LogKeys, parts: AppenderParts) {
    this.#store = store;
    this.#keys = keys;
    this.#parts = parts;
  }

  async append(events: readonly NewEvent[], also: readonly StoreChange[]): Promise<readonly Appended[]> {
    const unique = new Map(events.map((event) => [event.eventId, event]));
    const appended = new Set<string>();
    for (const batch of batchesOf([...unique.values()]))
      for (const { event } of await this.#appendBatch(batch, also)) appended.add(event.eventId);
    // The second event of two with one id is not new.
    return events.map(({ eventId }) => ({ eventId, isNew: appended.delete(eventId) }));
  }

  /** Appends events in one write. Returns those that are new. */
  async #appendBatch(batch: readonly Pending[], also: readonly StoreChange[]): Promise<readonly Pending[]> {
    let rest = batch;
    for (let attempt = 0; rest.length > 0 && attempt < MAX_ATTEMPTS; attempt++) {
      this.#head ??= await this.#parts.heads.read();
      const head = this.#head;
      const written = await this.#write(head, rest, also);
      if (written === 'made room') continue;
      if (written.ok) return rest;
      const refused = Number(written.refusedBy) - CONDITIONS;
      if (refused < 0) await this.#leave(head);
      else if (refused < 2 * rest.length) rest = await this.#withoutKnown(rest, refused >> 1);
      else throw new Error('The store refused a change that belongs to the events');
    }
    if (rest.length === 0) return [];
    throw new Error('The events could not be appended, because too many others are at the same time');
  }

  /** Writes events into the newest segment, if they fit. A store that is full loses the oldest segment instead. */
  async #write(
    head: VersionedHead,
    events: readonly Pending[],
    also: readonly StoreChange[],
  ): Promise<Written | 'made room'> {
    const { open, size, events: listOf, id } = this.#keys;
    const { idMs, eventsMs } = this.#parts;
    const by = events.reduce((sum, { units }) => sum + units, 0);
    const list = listOf(head.segment);
    try {
      return await this.#store.write([
        { do: 'expect', list: open(head.segment), size: 1 },
        { do: 'count', key: size(head.segment), by, max: SEGMENT_UNITS },
        ...events.flatMap(({ event: { eventId: name }, value }): StoreChange[] => [
          { do: 'put', key: id(name), value: {}, if: 'absent', ttlMs: idMs },
          { do: 'append', list, name, value, ttlMs: eventsMs },
        ]),
        ...also,
      ]);
    } catch (error) {
      if (error instanceof StoreFull && (await this.#dropOldest())) return 'made room';
      throw error;
    }
  }

  /** Finds out why no events may be appended to a segment, and begins the next one if nobody has. */
  async #leave({ segment }: VersionedHead): Promise<void> {
    const { heads } = this.#parts;
    this.#head = await heads.read();
    if (this.#head.segment !== segment) return;
    await heads.advance(this.#head);
    this.#head = undefined;
  }

  /** Leaves out the events whose ids are known. One of them is. */
  async #withoutKnown(events: readonly Pending[], known: number): Promise<readonly Pending[]> {
    const entries = await Promise.all(
      events.map(({ event }) => this.#store.get(this.#keys.id(event.eventId))),
    );
    return events.filter((_, at) => at !== known && entries[at] === undefined);
  }

  /** Makes room in the store. Returns whether it could. */
  async #dropOldest(): Promise<boolean> {
    const { heads } = this.#parts;
    const { version, ...head } = await heads.read();
    const { events: listOf, id } = this.#keys;
    const read = (segment: number): Promise<readonly ListItem[]> => this.#store.items(listOf(segment));
    const range = { low: head.oldest, high: head.segment };
    const oldest = await oldestSegment(range, async (segment) => (await read(segment)).length > 0);
    this.#head = undefined;
    if (oldest === head.segment) return false;
    const items = await read(oldest);
    await this.#store.write([
      { do: 'put', key: this.#keys.head, value: { ...head, oldest: oldest + 1 }, if: { version } },
      { do: 'drop', list: listOf(oldest) },
      ...items.map(({ name }): StoreChange => ({ do: 'delete', key: id(name) })),
    ]);
    return true;
  }
}

/** The number of changes of a write before those of the events. */
const CONDITIONS = 2;

/** Divides events into those that fit into a write and into a segment. */
function* batchesOf(events: readonly NewEvent[]): Generator<readonly Pending[]> {
  let batch: Pending[] = [];
  let room = SEGMENT_UNITS;
  for (const event of events) {
    const pending = { event, ...itemOf(event) };
    if (batch.length === MAX_WRITTEN || pending.units > room) {
      yield batch;
      batch = [];
      room = SEGMENT_UNITS;
    }
    batch.push(pending);
    room -= pending.units;
  }
  if (batch.length > 0) yield batch;
}
