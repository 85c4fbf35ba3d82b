// Wakes the streams of a process when there are new events.

import { every } from '../../async/every.js';
import type { EmittedNews, EventPluginParts } from '../../server/handle/event-host.js';
import { type ChangeMessage, changeOf } from '../../server/state/changes.js';

/** The interval at which streams look for events whose messages were lost. */
const LOOK_MS = 5000;

/** The streams of a process, by the types of their events. */
export class Wakes {
  readonly #news: EventPluginParts['news'];
  readonly #changes: EventPluginParts['changes'];
  /** Subscriptions to a type that was removed end. */
  readonly #onChange = {
    message: (change: ChangeMessage) => {
      if (changeOf(change).kind === 'events') this.gap();
    },
    gap: () => this.gap(),
  };

  readonly #listeners = new Map<string, Set<() => void>>();
  #stopLooking: (() => void) | undefined;

  constructor({ news, changes }: Pick<EventPluginParts, 'news' | 'changes'>) {
    this.#news = news;
    this.#changes = changes;
  }

  /** Resolves when the messages of other processes arrive, or cannot. */
  async ready(): Promise<void> {
    await this.#news.ready();
  }

  /** Calls a listener when there may be new events of a type. Returns the function that ends that. */
  subscribe(name: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    if (this.#stopLooking === undefined) {
      this.#news.subscribe(this);
      this.#changes.subscribe(this.#onChange);
      this.#stopLooking = every(LOOK_MS, () => this.gap());
    }
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0) return;
      this.#listeners.delete(name);
      if (this.#listeners.size === 0) this.close();
    };
  }

  message({ name }: EmittedNews): void {
    for (const wake of this.#listeners.get(name) ?? []) wake();
  }

  gap(): void {
    for (const listeners of this.#listeners.values()) for (const wake of listeners) wake();
  }

  close(): void {
    this.#stopLooking?.();
    this.#stopLooking = undefined;
    this.#news.unsubscribe(this);
    this.#changes.unsubscribe(this.#onChange);
  }
}
