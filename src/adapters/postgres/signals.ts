// Signals between the processes: short messages by topic, over LISTEN or over a table that is polled.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { BusListener } from '../../state/bus.js';

/** The longest payload of NOTIFY, in bytes. A table that is polled has the same limit, so that a message fits both. */
const MAX_PAYLOAD_BYTES = 7999;

/** Receives the messages of all processes. The bus and the event log are both on top of it. */
export interface Receiver {
  readonly topics: Topics;
  /** Resolves when nothing is missed any more. Rejects if that takes too long. */
  stands(): Promise<void>;
  /** Whether nothing is missed at the moment. */
  readonly isStanding: boolean;
  close(): Promise<void>;
}

/** The subscribers of this process, by topic. */
export class Topics {
  readonly #listeners = new Map<string, Set<BusListener>>();

  add(topic: string, { message, gap }: BusListener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners);
    // A listener that subscribes twice is called twice.
    const own: BusListener = { message, gap };
    listeners.add(own);
    return () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#listeners.get(topic) === listeners) this.#listeners.delete(topic);
    };
  }

  /** Hands a payload to the subscribers of its topic. Other programs may use the same channel: unknown payloads are ignored. */
  receive(payload: string): void {
    const parsed = parse(payload);
    if (parsed === undefined) return;
    for (const { message } of [...(this.#listeners.get(parsed.topic) ?? [])])
      call(() => message(parsed.message));
  }

  gap(): void {
    for (const listeners of [...this.#listeners.values()]) for (const { gap } of [...listeners]) call(gap);
  }

  clear(): void {
    this.#listeners.clear();
  }
}

/** Sends payloads: those that come while a statement runs go out together with the next one. */
export class Sender {
  readonly #send: (payloads: readonly string[]) => Promise<void>;
  #waiting: {
    readonly payload: string;
    readonly resolve: () => void;
    readonly reject: (error: unknown) => void;
  }[] = [];
  #isSending = false;
  #count = 0;

  constructor(send: (payloads: readonly string[]) => Promise<void>) {
    this.#send = send;
  }

  /** Resolves when the message was sent. Rejects with a `RangeError` if it is too large. */
  publish(topic: string, message: JsonObject): Promise<void> {
    // Equal payloads of one transaction would arrive once, so each has a number.
    const payload = JSON.stringify([this.#count++, topic, message]);
    const bytes = Buffer.byteLength(payload);
    if (bytes > MAX_PAYLOAD_BYTES)
      return Promise.reject(
        new RangeError(
          `A message of ${bytes} bytes is too large for the bus of Postgres, which carries at most ${MAX_PAYLOAD_BYTES}. Put the data into the store, and publish its key.`,
        ),
      );
    if (this.#waiting.length >= MAX_WAITING)
      return Promise.reject(
        new Error(
          `${MAX_WAITING} messages wait to be sent to Postgres. Check that the server runs and is not overloaded.`,
        ),
      );
    return new Promise((resolve, reject) => {
      this.#waiting.push({ payload, resolve, reject });
      if (!this.#isSending) void this.#sendAll();
    });
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      try {
        await this.#send(batch.map(({ payload }) => payload));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isSending = false;
  }
}

/** The largest number of messages in one statement. */
const MAX_BATCH = 200;
/** The largest number of messages that wait while the server is slow. */
const MAX_WAITING = 10_000;

// A listener that throws must not keep the other listeners from their messages, nor break the connection.
function call(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function parse(payload: string): { readonly topic: string; readonly message: JsonObject } | undefined {
  try {
    const [, topic, message] = JSON.parse(payload) as [unknown, unknown, unknown];
    if (typeof topic !== 'string' || typeof message !== 'object' || message === null) return undefined;
    return { topic, message: message as JsonObject };
  } catch {
    return undefined;
  }
}
