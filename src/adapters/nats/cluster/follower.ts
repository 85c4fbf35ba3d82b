// One reader of a stream: events as they are stored, and those that were missed from JetStream.

import type { LoggedEvent } from '../../../state/event-log.js';
import { type EventBatch, EventReader } from '../../../state/event-reader.js';
import type { PlacedEvent } from './event-headers.js';
import type { StoredEvents } from './stored-events.js';

export interface FollowerParts {
  readonly events: StoredEvents;
  readonly stream: string;
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
export class Follower {
  /** The events, for the program that follows. */
  readonly events: EventReader;
  readonly #parts: FollowerParts;
  #position: number;
  #isAnchored: boolean;
  /** Events after the position, in order. */
  #waiting: PlacedEvent[] = [];
  #waitingBytes = 0;
  /** Whether JetStream may have events that were not offered. */
  #isStale = true;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#position = parts.after;
    this.#isAnchored = parts.isAnchored;
    const { stream, signal, release } = parts;
    this.events = new EventReader({ stream, signal, release, read: () => this.#read() });
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
    this.events.wake();
  }

  /** Looks into JetStream: events may have been missed. */
  recheck(): void {
    this.#isStale = true;
    this.events.wake();
  }

  /** The next event: of those that wait, or from JetStream. One at a time, since an event in several parts may be large. */
  async #read(): Promise<EventBatch> {
    let event = this.#take();
    while (event === undefined && this.#mayHaveMore) {
      if (!(await this.#catchUp())) return { events: [], isGap: true, hasEnded: false };
      event = this.#take();
    }
    const events = event === undefined ? [] : [await this.#parts.toEvent(event)];
    return { events, isGap: false, hasEnded: false };
  }

  get #mayHaveMore(): boolean {
    return (this.#isStale || this.#waiting.length > 0) && !this.#parts.signal.aborted;
  }

  /** Takes the first event that waits, if it follows the position. */
  #take(): PlacedEvent | undefined {
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined || first.previous > this.#position) return undefined;
      this.#waiting.shift();
      this.#waitingBytes -= first.data.length;
      if (first.seq <= this.#position) continue;
      this.#position = first.seq;
      this.#isAnchored = true;
      return first;
    }
  }

  /** Reads the events after the position from JetStream. Returns false if some of them were dropped. */
  async #catchUp(): Promise<boolean> {
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
    if (isAnchored && (await events.at(from)) === undefined) return false;
    const later = this.#waiting.filter(({ seq }) => seq > previous);
    this.#waiting = [...read, ...later];
    this.#waitingBytes = this.#waiting.reduce((sum, { data }) => sum + data.length, 0);
    return true;
  }

  /** JetStream has nothing after the position, but an event with a predecessor that was not read waits. */
  #checkWaiting(isAnchored: boolean): boolean {
    const [first] = this.#waiting;
    if (first === undefined || first.previous <= this.#position) return true;
    if (isAnchored) return false;
    this.#position = first.previous;
    return true;
  }
}
