import { onAbort } from '../../async/abort.js';
import type { SubscriptionFilter } from '../../protocol/model/model.js';
import type { Change, SubscribeTo, Subscription } from '../model/client.js';

// One subscription of a program.

export interface SubscriberParts {
  readonly filter: SubscriptionFilter;
  readonly onChange: ((change: Change) => void) | undefined;
  readonly problem: (message: string, cause?: unknown) => void;
  readonly onClose: () => Promise<void>;
}

/** One subscription. Of each list, resource or task, only the latest unread change is kept, so that memory is bounded. */
export class Subscriber {
  readonly filter: SubscriptionFilter;
  readonly #parts: SubscriberParts;
  readonly #unread = new Map<string, Change>();
  #wake: (() => void) | undefined;
  #closed: Promise<void> | undefined;
  #forget: (() => void) | undefined;

  constructor(parts: SubscriberParts) {
    this.filter = parts.filter;
    this.#parts = parts;
  }

  /** Passes on a change that the filter includes. */
  notify(change: Change): void {
    if (this.#closed !== undefined) return;
    const { onChange, problem } = this.#parts;
    if (onChange === undefined) {
      this.#unread.set(keyOf(change), change);
      this.#wake?.();
      return;
    }
    try {
      onChange(change);
    } catch (error) {
      problem('The onChange of a subscription threw', error);
    }
  }

  /** Closes the subscription when the signal aborts, or at once if it already has. */
  closeOn(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    const end = (): void => void this.close();
    this.#forget = onAbort(signal, end);
    if (signal.aborted) end();
  }

  close(): Promise<void> {
    this.#forget?.();
    this.#closed ??= this.#parts.onClose();
    this.#wake?.();
    return this.#closed;
  }

  subscription(accepted: SubscribeTo): Subscription {
    const close = (): Promise<void> => this.close();
    return {
      accepted,
      close,
      [Symbol.asyncDispose]: close,
      [Symbol.asyncIterator]: () => this.#changes(),
    };
  }

  async *#changes(): AsyncGenerator<Change, void, undefined> {
    try {
      for (;;) {
        for (const [key, change] of this.#unread) {
          this.#unread.delete(key);
          yield change;
        }
        if (this.#closed !== undefined) return;
        if (this.#unread.size > 0) continue;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      await this.close();
    }
  }
}

function keyOf(change: Change): string {
  if (change.kind === 'resource') return `resource ${change.uri}`;
  return change.kind === 'task' ? `task ${change.id}` : change.kind;
}
