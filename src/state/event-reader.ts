// Reads a stream of an event log on an engine: reads a batch, yields its events, and waits until it is woken.

import { onAbort, unlessAborted } from '../async/abort.js';
import type { LoggedEvent } from './event-log.js';

/** The events that followed those that were read before. */
export interface EventBatch {
  readonly events: readonly LoggedEvent[];
  /** Whether the log has dropped events before these that were not read. */
  readonly isGap: boolean;
  /** Whether the stream had ended before these. */
  readonly hasEnded: boolean;
}

export interface EventReaderParts {
  /** The name of the stream. */
  readonly stream: string;
  /** Reads the next events; none if there are none yet, and undefined if the stream is gone. */
  readonly read: () => Promise<EventBatch | undefined>;
  /** Ends the reading. */
  readonly signal: AbortSignal;
  /** Called once, when nothing is read any more. */
  readonly release: () => void;
  /** The events that were read already. */
  readonly first?: EventBatch;
}

/** The reader of one stream. */
export class EventReader implements AsyncIterable<LoggedEvent> {
  readonly #parts: Omit<EventReaderParts, 'first'>;
  readonly #forget: () => void;
  #first: EventBatch | undefined;
  #isWoken = false;
  #isReleased = false;
  #end: { readonly error?: Error } | undefined;
  #resume: (() => void) | undefined;

  constructor({ first, ...parts }: EventReaderParts) {
    this.#parts = parts;
    this.#first = first;
    this.#forget = onAbort(parts.signal, () => this.end());
  }

  /** Lets the reader look for events. One that is not waiting looks once more before it waits. */
  wake(): void {
    this.#isWoken = true;
    this.#resume?.();
  }

  /** Ends the reading: without an error, as if the stream had ended. */
  end(error?: Error): void {
    this.#end ??= error === undefined ? {} : { error };
    this.#resume?.();
    this.#release();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LoggedEvent, void, undefined> {
    try {
      for (let batch = await this.#next(); batch !== undefined; batch = await this.#next()) {
        for (const event of batch.events) {
          if (this.#hasEnded()) return;
          yield event;
          if (event.last) return;
        }
        if (batch.hasEnded) return;
        if (batch.events.length === 0) await this.#woken();
      }
    } catch (error) {
      // The log was closed, or the reading ended, while the log was asked.
      if (this.#hasEnded()) return;
      throw error;
    } finally {
      this.#release();
    }
  }

  async #next(): Promise<EventBatch | undefined> {
    const { stream, read, signal } = this.#parts;
    const first = this.#first;
    if (first !== undefined) {
      this.#first = undefined;
      return first;
    }
    if (this.#hasEnded()) return undefined;
    // Before it reads, so that no event that is stored in the meantime is missed.
    this.#isWoken = false;
    const batch = await unlessAborted(read(), signal);
    if (this.#hasEnded()) return undefined;
    if (batch?.isGap) throw dropped(stream);
    return batch;
  }

  /** Throws the error with which the reading has ended. */
  #hasEnded(): boolean {
    if (this.#end?.error !== undefined && !this.#parts.signal.aborted) throw this.#end.error;
    return this.#end !== undefined || this.#parts.signal.aborted;
  }

  async #woken(): Promise<void> {
    if (this.#isWoken || this.#hasEnded()) return;
    await new Promise<void>((resolve) => {
      this.#resume = resolve;
    });
    this.#resume = undefined;
  }

  #release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#forget();
    this.#parts.release();
  }
}

function dropped(stream: string): Error {
  return new Error(
    `Events of the stream ${stream} were dropped before they were read. Resume the stream to learn of the gap.`,
  );
}
