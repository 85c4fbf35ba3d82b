// The events that have arrived and wait for the handler of their subscription.

import { BoundedMap } from '../../async/bounded-map.js';
import { nextTurn } from '../../async/next-turn.js';
import type { ReceivedEvent } from '../model/events.js';
import type { FollowedPosition } from './position.js';

/** The events of a stream that may wait for a slow handler, and the characters of their data. */
const MAX_WAITING = 1000;
const MAX_LENGTH = 8 * 1024 * 1024;
/** The ids that are remembered, so that an event that is told again is not handled again. */
const MAX_IDS = 1000;
/** The events that are handled in one turn of the event loop. */
const SLICE = 100;

export interface InboxParts {
  readonly position: FollowedPosition;
  readonly handler: (event: ReceivedEvent) => void | Promise<void>;
  readonly problem: (message: string, cause?: unknown) => void;
}

interface Entry {
  readonly event: ReceivedEvent | undefined;
  /** The position after the entry; undefined if it moves no position. */
  readonly cursor: string | null | undefined;
  readonly length: number;
}

/** Gives the events to the handler one after the other, and moves the position after each. */
export class EventInbox {
  readonly #parts: InboxParts;
  readonly #ids = new BoundedMap<string, true>(MAX_IDS);
  #waiting: Entry[] = [];
  #count = 0;
  #length = 0;
  #working: Promise<void> | undefined;
  #isClosed = false;
  /** The position after everything that has arrived, from which the next request continues. */
  received: string | null;

  constructor(parts: InboxParts) {
    this.#parts = parts;
    this.received = parts.position.cursor;
  }

  /** Whether so much waits that no more should arrive. */
  get isFull(): boolean {
    return this.#count >= MAX_WAITING || this.#length > MAX_LENGTH;
  }

  /** Takes an event, unless it was told before, and the position after it. */
  take(event: ReceivedEvent, cursor: string | null | undefined): void {
    const isNew = !this.#ids.has(event.eventId);
    this.#ids.set(event.eventId, true);
    // The size matters only for what has to wait.
    const length = isNew && this.#working !== undefined ? JSON.stringify(event.data).length : 0;
    this.#add({ event: isNew ? event : undefined, cursor, length });
  }

  /** Takes a position: everything before it has arrived. */
  move(cursor: string | null): void {
    this.#add({ event: undefined, cursor, length: 0 });
  }

  /** Takes the position for the next request, and moves the stored one when everything before it was handled. */
  #add(entry: Entry): void {
    const { event, cursor, length } = entry;
    if (this.#isClosed || (event === undefined && cursor === undefined)) return;
    if (cursor !== undefined) this.received = cursor;
    if (event === undefined) {
      // A server that sends nothing but positions does not fill the memory.
      const last = this.#waiting.at(-1);
      if (last !== undefined && last.event === undefined) this.#drop();
    }
    this.#waiting.push(entry);
    this.#count += 1;
    this.#length += length;
    this.#working ??= this.#work();
  }

  #drop(): void {
    this.#waiting.pop();
    this.#count -= 1;
  }

  async #work(): Promise<void> {
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const entries = this.#waiting;
      this.#waiting = [];
      for (let at = 0; at < entries.length && !this.#isClosed; at++) {
        await this.#handle(entries[at] as Entry);
        // A long answer to a poll must not keep everything else waiting.
        if (at % SLICE === SLICE - 1) await new Promise<void>((resolve) => nextTurn(resolve));
      }
    }
    this.#working = undefined;
  }

  async #handle({ event, cursor, length }: Entry): Promise<void> {
    const { handler, problem, position } = this.#parts;
    try {
      if (event !== undefined) await handler(event);
    } catch (error) {
      problem(`The handler of the event ${event?.name} threw`, error);
    }
    this.#count -= 1;
    this.#length -= length;
    if (cursor !== undefined) position.cursor = cursor;
  }

  /** Resolves when nothing waits and the handler has returned. */
  async idle(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
  }

  /** Gives no further event to the handler. An event that waits comes again in a later run, since the position is before it. */
  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
  }
}
