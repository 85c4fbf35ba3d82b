// One topic of a bus, for all its listeners in a process.

import { type BackoffOptions, backoff } from '../async/delay.js';
import { unref } from '../async/unref.js';
import type { JsonObject } from '../jsonrpc/message.js';
import type { Bus } from './bus.js';
import { FanOut } from './fan-out.js';

/** The parts of a `Topic`. */
export interface TopicParts {
  readonly name: string;
  /** Returns the bus that connects the processes; undefined if there is only one process. */
  readonly bus: () => Bus | undefined;
  /** Called when the bus failed to carry a message or to subscribe, or when a listener has thrown, with the reason. */
  readonly onFailure: (error: unknown) => void;
}

/** Receives the messages of a topic, from this process and from others. */
export interface TopicListener<Message> {
  message(message: Message): void;
  /** Called when messages of other processes may have been missed. */
  gap(): void;
}

const RETRY: BackoffOptions = { baseMs: 100, maxMs: 10_000 };
const FROM = 'from';
/** On a message that stands for others, which the bus did not carry. */
const MISSED = 'missed';

/**
 * One topic of a bus. Listeners in this process get its messages even while the bus is unavailable; those of other processes arrive
 * through the bus, which is subscribed to once, with the first listener.
 */
export class Topic<Message extends object = JsonObject> {
  readonly #parts: TopicParts;
  /** Tells messages of this process from those of others. */
  #process: string | undefined;
  readonly #listeners: FanOut<TopicListener<Message>>;
  #subscribing: Promise<void> | undefined;
  /** Whether messages of other processes arrive. */
  isSubscribed = false;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unsubscribe: (() => void) | undefined;
  #lost = 0;
  #lostTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(parts: TopicParts) {
    this.#parts = parts;
    this.#listeners = new FanOut(parts.onFailure);
  }

  /**
   * Sends a message to all listeners, in this process and in others. If the bus does not carry it, the others learn later that
   * they have missed something, unless this process ends before. Undefined if there is only one process; otherwise a promise that
   * resolves when the bus has the message (true) or has failed (false).
   */
  publish(message: Message): Promise<boolean> | undefined {
    this.notify(message);
    return this.#send(message as JsonObject)?.then(
      () => true,
      (error) => {
        this.#parts.onFailure(error);
        this.#reportLost();
        return false;
      },
    );
  }

  /** Sends a message to the listeners of this process alone. */
  notify(message: Message): void {
    this.#listeners.deliver((listener) => listener.message(message));
  }

  /** Tells the listeners of this process that they may have missed messages. */
  reportGap(): void {
    this.#onGap();
  }

  /** Calls a listener with every message. Messages of other processes come after `ready`. */
  subscribe(listener: TopicListener<Message>): void {
    this.#listeners.add(listener);
  }

  unsubscribe(listener: TopicListener<Message>): void {
    this.#listeners.remove(listener);
  }

  /**
   * Subscribes to the bus. Undefined if that is done, or has failed and is tried again later; otherwise a promise that resolves
   * when it is done or has failed. When it succeeds after a failure, a gap is reported.
   */
  ready(): Promise<void> | undefined {
    if (this.isSubscribed || this.#isClosed || this.#timer !== undefined) return undefined;
    if (this.#parts.bus() === undefined) return undefined;
    this.#subscribing ??= this.#subscribe();
    return this.#subscribing;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#lostTimer);
    this.#unsubscribe?.();
    this.#listeners.clear();
  }

  #send(message: JsonObject): Promise<void> | undefined {
    const { bus, name } = this.#parts;
    // Workers may not make random values while they load, which is when a server is created.
    this.#process ??= crypto.randomUUID();
    return bus()?.publish(name, { ...message, [FROM]: this.#process });
  }

  /** Tells other processes that they have missed something, as soon as the bus is available. */
  #reportLost(): void {
    if (this.#lostTimer !== undefined || this.#isClosed) return;
    this.#lostTimer = setTimeout(
      () => {
        this.#send({ [MISSED]: true })
          ?.then(() => true)
          .catch(() => false)
          .then((isSent) => {
            this.#lostTimer = undefined;
            this.#lost = isSent ? 0 : this.#lost + 1;
            if (!isSent) this.#reportLost();
          });
      },
      backoff(this.#lost, RETRY),
    );
    unref(this.#lostTimer);
  }

  async #subscribe(): Promise<void> {
    const { bus, name, onFailure } = this.#parts;
    const gap = (): void => this.#onGap();
    try {
      const unsubscribe = await bus()?.subscribe(name, { message: (message) => this.#receive(message), gap });
      if (this.#isClosed) return unsubscribe?.();
      this.#unsubscribe = unsubscribe;
      this.isSubscribed = true;
      if (this.#failures > 0) gap();
    } catch (error) {
      if (this.#failures++ === 0) onFailure(error);
      this.#subscribing = undefined;
      if (this.#isClosed) return;
      this.#timer = setTimeout(
        () => {
          this.#timer = undefined;
          void this.ready();
        },
        backoff(this.#failures - 1, RETRY),
      );
      unref(this.#timer);
    }
  }

  #onGap(): void {
    this.#listeners.deliver((listener) => listener.gap());
  }

  #receive({ [FROM]: from, ...message }: JsonObject): void {
    if (from !== undefined && from === this.#process) return;
    if (message[MISSED] === true) return this.#onGap();
    this.notify(message as Message);
  }
}
