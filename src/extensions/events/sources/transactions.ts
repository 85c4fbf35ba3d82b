// The events of transactions: an entry in the transaction of the program, which is moved to the log of its type after the commit.

import { unref } from '../../../async/unref.js';
import type { CompiledEvent } from '../../../server/catalog/events.js';
import type { EventPluginParts } from '../../../server/handle/event-host.js';
import type { Lease, Store, StoreChange, StoreEntry } from '../../../state/store.js';
import { putInOf, type TransactionClient } from '../../../state/transaction.js';
import type { Histories } from '../histories.js';
import type { Appended, NewEvent } from '../log/stored-event.js';
import { newEventChanges, webhookQueues } from '../webhooks/stored/places.js';

/** The parts of a `TransactionEvents`. */
export interface TransactionEventsParts {
  readonly store: Store;
  readonly histories: Histories;
  readonly news: EventPluginParts['news'];
  /** The name of the server. */
  readonly server: string;
  /** The group of the entries. */
  readonly group: string;
  /** Called when a transaction may have been committed: looks for its events. */
  readonly hurry: () => Promise<void>;
}

/** An event of a transaction, as it is kept until it is moved. */
interface CommittedEvent {
  readonly name: string;
  readonly event: NewEvent;
  /** Whether the type is delivered to webhooks. */
  readonly webhook: boolean;
}

const PAGE = 100;
/** The interval at which every process looks for events of transactions whose process has died. */
const LOOK_MS = 15_000;
/** The pauses after which the process of a transaction looks whether it was committed, and the time for which it does. */
const WATCH_MS = [20, 50, 100, 200, 400, 1000] as const;
const WATCHED_MS = 60_000;

/** The events of transactions of a server. */
export class TransactionEvents {
  readonly #parts: TransactionEventsParts;
  /** The entries that this process has written and nobody has moved yet, with the time until which it looks for them. */
  readonly #watched = new Map<string, number>();
  #looks = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last = { at: 0, n: 0 };
  #isClosed = false;

  constructor(parts: TransactionEventsParts) {
    this.#parts = parts;
  }

  /** Writes an event into a transaction. */
  async keep(type: CompiledEvent, event: NewEvent, client: TransactionClient): Promise<Appended> {
    const { store, histories, group } = this.#parts;
    const putIn = putInOf(store);
    if (putIn === undefined)
      throw new TypeError(
        'emit: this server cannot emit in a transaction, because it does not keep its events in Postgres. Pass cluster: postgres({ url }) to createServer.',
      );
    const isKnown = await (await histories.of(type.name)).has(event.eventId);
    const key = `${prefixOf(group)}${this.#nextPlace()}`;
    const committed: CommittedEvent = {
      name: type.name,
      event,
      webhook: type.listed.delivery.includes('webhook'),
    };
    await putIn(client, key, { ...committed });
    this.#watch(key);
    return { eventId: event.eventId, isNew: !isKnown };
  }

  /**
   * Moves the events of transactions that were committed, in the order in which they were emitted. One process at a time does. An event that
   * was moved by a process that died then is appended again, and known.
   */
  async move(lease: Lease, signal: AbortSignal): Promise<number> {
    const { store, group } = this.#parts;
    while (!signal.aborted) {
      const page = await store.page(prefixOf(group), { limit: PAGE });
      for (const [name, entries] of runsOf(page)) await this.#append(name, entries);
      if (page.length === 0) break;
      const gone = page.map(({ key }): StoreChange => ({ do: 'delete', key }));
      const { ok } = await store.write(gone, { guard: lease });
      if (!ok) break;
      for (const { key } of page) this.#watched.delete(key);
    }
    return LOOK_MS;
  }

  /** Looks for nothing more. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #append(name: string, entries: readonly CommittedEvent[]): Promise<void> {
    const { histories, server, news } = this.#parts;
    const history = await histories.of(name);
    // This process may have no webhooks, or not even the type.
    const hasWebhooks = entries.some(({ webhook }) => webhook);
    const appended = await history.append(
      entries.map(({ event }) => event),
      hasWebhooks ? newEventChanges(await webhookQueues(server), history.group) : [],
    );
    if (appended.some(({ isNew }) => isNew)) void news.publish({ name });
  }

  /** A place after those before it of this process, even if its clock is set back. */
  #nextPlace(): string {
    const { at, n } = this.#last;
    const now = Date.now();
    this.#last = now > at ? { at: now, n: 0 } : { at, n: n + 1 };
    const [time, count] = [String(this.#last.at), String(this.#last.n)];
    return `${time.padStart(16, '0')}-${count.padStart(9, '0')}-${crypto.randomUUID()}`;
  }

  /** Looks soon, and again: when a transaction of the program ends is not known. */
  #watch(key: string): void {
    this.#watched.set(key, performance.now() + WATCHED_MS);
    this.#looks = 0;
    this.#lookLater();
  }

  #lookLater(): void {
    clearTimeout(this.#timer);
    for (const [key, until] of this.#watched) if (until < performance.now()) this.#watched.delete(key);
    if (this.#isClosed || this.#watched.size === 0) return;
    const ms = WATCH_MS[Math.min(this.#looks, WATCH_MS.length - 1)];
    this.#timer = setTimeout(() => {
      void this.#parts
        .hurry()
        .catch(() => undefined)
        .then(() => this.#lookLater());
    }, ms);
    // A process that ends after its commit tells the event first. One that has rolled back need not wait.
    if (++this.#looks > WATCH_MS.length) unref(this.#timer);
  }
}

function prefixOf(group: string): string {
  return `event-outbox:${group}:`;
}

/** Divides entries into those of one type that follow each other. */
function runsOf(page: readonly StoreEntry[]): readonly (readonly [string, readonly CommittedEvent[]])[] {
  const runs: [string, CommittedEvent[]][] = [];
  for (const { value } of page) {
    const committed = value as unknown as CommittedEvent;
    const last = runs.at(-1);
    if (last !== undefined && last[0] === committed.name) last[1].push(committed);
    else runs.push([committed.name, [committed]]);
  }
  return runs;
}
