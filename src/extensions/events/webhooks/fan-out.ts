// Finds the subscribers of new events, and notes for each of them that there is something to deliver.

import { nextTurn } from '../../../async/next-turn.js';
import { isObject } from '../../../jsonrpc/message.js';
import type { Logger } from '../../../server/state/log.js';
import type { Lease, Store, StoreChange } from '../../../state/store.js';
import type { EventPage } from '../log/event-history.js';
import type { LogPosition } from '../log/positions.js';
import { addNews } from './news.js';
import { newEventChanges, placeOfWork, typePlace, type WebhookQueues } from './stored/places.js';
import { type IndexedSubscriber, Subscribers } from './subscribers.js';
import type { WebhookType, WebhookTypes } from './types.js';

/** The parts of a `EventFanOut`. */
export interface FanOutParts {
  readonly store: Store;
  readonly queues: WebhookQueues;
  readonly types: WebhookTypes;
  /** Called when there is something to deliver. */
  readonly onFound: () => void;
  readonly log: Logger;
}

/** The events that are looked at with one read of the index. */
const BATCH = 200;
/** The subscribers that are written to at the same time. */
const LANES = 32;
/** The time after which other work of the process has its turn. */
const SLICE_MS = 5;
/** The time until another process tries, if this one does not have the type. */
const MISFIT_MS = 5000;
/** The beginning of every log: no segment has this number. */
const BEGINNING: LogPosition = { segment: 0, at: 0, used: 0 };

/** Works on the types with new events. */
export class EventFanOut {
  readonly #parts: FanOutParts;
  readonly #subscribers = new Map<string, Subscribers>();

  constructor(parts: FanOutParts) {
    this.#parts = parts;
  }

  /** The changes that belong in the write of a new event. */
  changes(group: string): readonly StoreChange[] {
    return newEventChanges(this.#parts.queues, group);
  }

  /** Finds the subscribers of all new events of a type. */
  async work(lease: Lease, signal: AbortSignal): Promise<void> {
    const { store } = this.#parts;
    const type = await this.#typeOf(lease.key);
    if (type === undefined) {
      await store.write([{ do: 'release', inMs: MISFIT_MS, keepAttempt: true }], { guard: lease });
      return;
    }
    const keys = typePlace(type.history.group);
    const known = (await store.get(keys.position))?.value;
    let position = isObject(known) ? (known as unknown as LogPosition) : undefined;
    while (!signal.aborted) {
      const wake = await store.get(keys.wake);
      // The index is read after the events: a subscriber that is not in it yet begins after them.
      const tail = position === undefined ? await type.history.tail() : undefined;
      const page = await type.history.read(position ?? BEGINNING, BATCH);
      const subscribers = await this.#subscribersOf(type).read();
      const isEmpty = subscribers.size === 0 && tail !== undefined;
      if (!isEmpty) await this.#tell(type, subscribers, { page, from: position ?? BEGINNING });
      const reached = isEmpty ? tail : page.next;
      const put: StoreChange = { do: 'put', key: keys.position, value: { ...reached } };
      const isDone = isEmpty || !page.hasMore;
      const written = await store.write(
        isDone ? [put, ...this.#leave(lease, keys.wake, wake?.version)] : [put],
        {
          guard: lease,
        },
      );
      if (written.ok && isDone) return;
      if (!written.ok && written.refusedBy === 'guard') return;
      // An event has come in the meantime, or there are more.
      if (written.ok) position = reached;
    }
    await store.write([{ do: 'release', inMs: 0 }], { guard: lease });
  }

  /** The position up to which the subscribers of a type were found; undefined if there never was an event. */
  async position({ history }: WebhookType): Promise<LogPosition | undefined> {
    const entry = await this.#parts.store.get(typePlace(history.group).position);
    return entry?.value as LogPosition | undefined;
  }

  /** The end of the work, unless an event has come since `version`. */
  #leave(lease: Lease, key: string, version: string | undefined): readonly StoreChange[] {
    const isUnchanged: StoreChange =
      version === undefined
        ? { do: 'put', key, value: {}, if: 'absent' }
        : { do: 'put', key, value: {}, if: { version } };
    return [isUnchanged, { do: 'dequeue', queue: lease.queue, key: lease.key }];
  }

  async #tell(
    type: WebhookType,
    subscribers: ReadonlyMap<string, IndexedSubscriber>,
    { page, from }: { readonly page: EventPage; readonly from: LogPosition },
  ): Promise<void> {
    const { store, queues, onFound } = this.#parts;
    const range = { from, to: page.next };
    let found = 0;
    let since = performance.now();
    const rest = subscribers.values();
    const lane = async (): Promise<void> => {
      for (const subscriber of rest) {
        if (performance.now() - since > SLICE_MS) {
          await new Promise<void>(nextTurn);
          since = performance.now();
        }
        if (!(await this.#hasMatch(type, subscriber, page))) continue;
        await addNews(store, queues, { place: placeOfWork(subscriber.work), type, range });
        if (++found % LANES === 1) onFound();
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    if (found > 0) onFound();
  }

  async #hasMatch(
    type: WebhookType,
    { input, auth }: IndexedSubscriber,
    { events }: EventPage,
  ): Promise<boolean> {
    for (const event of events) {
      try {
        if (await type.matches(event, input, auth)) return true;
      } catch {
        // The delivery reports it.
        return true;
      }
    }
    return false;
  }

  async #typeOf(group: string): Promise<WebhookType | undefined> {
    const { types } = this.#parts;
    for (const name of types.names()) {
      const type = await types.find(name);
      if (type?.history.group === group) return type;
    }
    return undefined;
  }

  #subscribersOf(type: WebhookType): Subscribers {
    const { group } = type.history;
    const known = this.#subscribers.get(group) ?? new Subscribers(this.#parts.store, type);
    this.#subscribers.set(group, known);
    return known;
  }
}
