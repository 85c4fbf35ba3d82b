// One reader of a stream: events as they are stored, and those that were missed from JetStream.

import { onAbort, unlessAborted } from '../../../async/abort.js';
import type { LoggedEvent } from '../../../state/event-log.js';
import { LAST, type PlacedEvent } from './event-headers.js';
import type { StoredEvents } from './stored-events.js';

export interface FollowerParts {
  readonly events: StoredEvents;
  readonly subject: string;
  readonly signal: AbortSignal;
  /** The sequence after which reading begins. */
  readonly after: number;
  /** Whether the event at that sequence is there: while it is, none of the later ones was dropped. */
  readonly isAnchored: boolean;
  readonly toEvent: (event: PlacedEvent) => Promise<LoggedEvent>;
  /** Called once, when reading has ended. */
  readonly release: () => void;
}

/** The events that wait for a slow reader. Beyond that, they are read from JetStream again. */
const MAX_WAITING = 64;
const MAX_WAITING_BYTES = 1024 * 1024;
/** The events that are read from JetStream before it is checked that none was dropped in the meantime. */
const BATCH = 32;

/** A reader of one stream. */
export class Follower implements AsyncIterable<LoggedEvent> {
  readonly #parts: FollowerParts;
  #position: number;
  #isAnchored: boolean;
  /** Events after the position, in order. */
  #waiting: PlacedEvent[] = [];
  #waitingBytes = 0;
  /** Whether JetStream may have events that were not offered. */
  #isStale = true;
  #end: { readonly error?: Error } | undefined;
  #wake: (() => void) | undefined;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#position = parts.after;
    this.#isAnchored = parts.isAnchored;
  }

  /** The sequence of the newest event that was read. */
  get position(): number {
    return this.#position;
  }

  /** Takes an event that was just stored. */
  offer(event: PlacedEvent): void {
    if (event.seq <= this.#position) return;
    this.#waiting.push(event);
    this.#waitingBytes += event.data.length;
    if (this.#waiting.length > MAX_WAITING || this.#waitingBytes > MAX_WAITING_BYTES) {
      this.#waiting = [];
      this.#waitingBytes = 0;
      this.#isStale = true;
    }
    this.#wake?.();
  }

  /** Looks into JetStream: events may have been missed. */
  recheck(): void {
    this.#isStale = true;
    this.#wake?.();
  }

  /** Ends the reading: without an error, as if the stream had ended. */
  end(error?: Error): void {
    this.#end ??= error === undefined ? {} : { error };
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LoggedEvent, void, void> {
    const { signal, toEvent, release } = this.#parts;
    const forget = onAbort(signal, () => this.#wake?.());
    try {
      for (;;) {
        const event = await this.#next();
        if (event === undefined) return;
        yield await toEvent(event);
        if (event.headers?.has(LAST)) return;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      forget();
      release();
    }
  }

  async #next(): Promise<PlacedEvent | undefined> {
    const { signal } = this.#parts;
    for (;;) {
      if (signal.aborted) return undefined;
      if (this.#end?.error !== undefined) throw this.#end.error;
      if (this.#end !== undefined) return undefined;
      const [first] = this.#waiting;
      if (first !== undefined && first.previous <= this.#position) {
        this.#waiting.shift();
        this.#waitingBytes -= first.data.length;
        if (first.seq <= this.#position) continue;
        this.#position = first.seq;
        this.#isAnchored = true;
        return first;
      }
      if (first !== undefined || this.#isStale) await unlessAborted(this.#catchUp(), signal);
      else await this.#changed();
    }
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }

  /** Reads the events after the position from JetStream. */
  async #catchUp(): Promise<void> {
    const { events, subject } = this.#parts;
    const from = this.#position;
    const isAnchored = this.#isAnchored;
    this.#isStale = false;
    const read: PlacedEvent[] = [];
    let bytes = 0;
    let previous = from;
    while (read.length < BATCH && bytes < MAX_WAITING_BYTES) {
      const message = await events.next(subject, previous + 1);
      if (message === undefined) break;
      read.push({ seq: message.seq, previous, headers: message.header, data: message.data });
      bytes += message.data.length;
      previous = message.seq;
    }
    const isAll = read.length < BATCH && bytes < MAX_WAITING_BYTES;
    if (!isAll) this.#isStale = true;
    if (read.length === 0) return this.#checkWaiting(isAnchored);
    // The oldest events are dropped first. If the event at the position is still there, so was every later one.
    if (isAnchored && (await events.at(from)) === undefined) throw gone();
    const later = this.#waiting.filter(({ seq }) => seq > previous);
    this.#waiting = [...read, ...later];
    this.#waitingBytes = this.#waiting.reduce((sum, { data }) => sum + data.length, 0);
  }

  /** JetStream has nothing after the position, but an event with a predecessor that was not read waits. */
  #checkWaiting(isAnchored: boolean): void {
    const [first] = this.#waiting;
    if (first === undefined || first.previous <= this.#position) return;
    if (isAnchored) throw gone();
    this.#position = first.previous;
  }
}

function gone(): Error {
  return new Error(
    'Events were dropped from the log before they were read. Resume the stream to learn of the gap.',
  );
}
