// Wakes the readers of streams: by signals of other processes, and by a poll in case a signal was lost.

import { unref } from '../../async/unref.js';
import type { PostgresDatabase } from './database/database.js';
import type { Receiver, Sender } from './signals.js';

/** The interval of the poll while signals arrive. They may still be lost, if a process dies before it has sent one. */
const SAFETY_POLL_MS = 2000;
const TOPIC = 'events';

/** A reader of a stream. */
export interface WatchedStream {
  readonly stream: string;
  /** The id of the event that was read last. */
  readonly position: number;
  /** Called when there may be news. */
  readonly wake: () => void;
  /** Called when the log is closed. */
  readonly end: (error: Error) => void;
}

/** The settings of the news. */
export interface EventNewsOptions {
  readonly database: PostgresDatabase;
  readonly sender: Sender;
  readonly receiver: Receiver;
  /** The interval of the poll while no signals arrive. */
  readonly pollMs: number;
  /** Whether other processes are told by signals; otherwise they only poll. */
  readonly isListening: boolean;
}

/** Knows the readers of this process. */
export class EventNews {
  readonly #options: EventNewsOptions;
  readonly #readers = new Map<string, Set<WatchedStream>>();
  readonly #announcing = new Set<string>();
  #unsubscribe: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isPolling = false;

  constructor(options: EventNewsOptions) {
    this.#options = options;
  }

  /** Adds a reader. It must be removed. */
  add(reader: WatchedStream): void {
    const readers = this.#readers.get(reader.stream) ?? new Set();
    this.#readers.set(reader.stream, readers.add(reader));
    this.#start();
  }

  remove(reader: WatchedStream): void {
    const readers = this.#readers.get(reader.stream);
    readers?.delete(reader);
    if (readers?.size === 0) this.#readers.delete(reader.stream);
  }

  /** Tells all readers that a stream has news. If the signal is lost, they find out by their poll. */
  announce(stream: string): void {
    this.#wake(stream);
    const { isListening, sender } = this.#options;
    if (!isListening || this.#announcing.has(stream)) return;
    this.#announcing.add(stream);
    // The events of one turn are announced together.
    queueMicrotask(() => {
      this.#announcing.delete(stream);
      sender.publish(TOPIC, { stream }).catch(() => undefined);
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#unsubscribe?.();
    const closed = new Error('The event log is closed.');
    for (const readers of [...this.#readers.values()]) for (const reader of [...readers]) reader.end(closed);
  }

  #start(): void {
    const { receiver, isListening } = this.#options;
    if (isListening && this.#unsubscribe === undefined) {
      this.#unsubscribe = receiver.topics.add(TOPIC, {
        message: ({ stream }) => this.#wake(String(stream)),
        gap: () => this.#pollNow(),
      });
      // Until signals arrive, the poll is enough.
      receiver.stands().catch(() => undefined);
    }
    if (this.#timer === undefined) this.#schedule();
  }

  #schedule(): void {
    const { receiver, isListening, pollMs } = this.#options;
    const ms = isListening && receiver.isStanding ? SAFETY_POLL_MS : pollMs;
    this.#timer = setTimeout(() => void this.#poll(), ms);
    unref(this.#timer);
  }

  /** Finds the streams with news in one statement: if all readers woke at once, other work would wait for them. */
  #pollNow(): void {
    if (this.#isPolling || this.#readers.size === 0) return;
    clearTimeout(this.#timer);
    void this.#poll();
  }

  async #poll(): Promise<void> {
    const readers = [...this.#readers.values()].flatMap((each) => [...each]);
    this.#isPolling = true;
    // While the server fails, readers wait: the next poll that succeeds wakes those that have news.
    if (readers.length > 0) await this.#look(readers).catch(() => undefined);
    this.#isPolling = false;
    this.#timer = undefined;
    if (this.#readers.size > 0) this.#schedule();
  }

  async #look(readers: readonly WatchedStream[]): Promise<void> {
    const { database } = this.#options;
    const rows = await database.query<{ readonly name: string }>(
      {
        name: 'news',
        text: `SELECT r.name FROM unnest($1::text[], $2::bigint[]) AS r (name, position)
          LEFT JOIN ${database.schema}.stream s ON s.name = r.name WHERE s.newest IS NULL OR s.newest > r.position`,
      },
      [readers.map(({ stream }) => stream), readers.map(({ position }) => position)],
    );
    for (const { name } of rows) this.#wake(name);
  }

  #wake(stream: string): void {
    for (const reader of this.#readers.get(stream) ?? []) reader.wake();
  }
}
