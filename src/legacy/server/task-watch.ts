import { Lifetime } from '../../async/lifetime.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';

/** Opens `subscriptions/listen` in the name of whoever sent the request that waits. */
export type Listen = (
  params: Call['params'],
  subscription: { readonly notify: Call['notify']; readonly lifetime: Lifetime },
) => Promise<Outcome>;

const LEAST_POLL_MS = 20;
const MOST_POLL_MS = 60_000;

/**
 * Waits for changes of one task. A change that is announced wakes it at once. Where announcements are lost, or are not granted
 * at all, it wakes after the task's poll interval: a loop around `next` always leaves the event loop its turns.
 */
export class TaskWatch {
  readonly #signal: AbortSignal;
  readonly #lifetime = new Lifetime();
  #woken = false;
  #wake: (() => void) | undefined;

  constructor(taskId: string, listen: Listen, signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.wake, { once: true });
    // The acknowledgement wakes too: what changed before it was not announced.
    listen({ notifications: { taskIds: [taskId] } }, { notify: this.wake, lifetime: this.#lifetime }).catch(
      () => undefined,
    );
  }

  /** Lets `next` return, now or when it is called. */
  readonly wake = (): void => {
    this.#woken = true;
    this.#wake?.();
  };

  /** Resolves when there may be something new. Rejects when the request that waits is over. */
  async next(pollIntervalMs: unknown): Promise<void> {
    const ms = typeof pollIntervalMs === 'number' ? pollIntervalMs : 1000;
    if (!this.#woken && !this.#signal.aborted) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        timer = setTimeout(resolve, Math.min(Math.max(ms, LEAST_POLL_MS), MOST_POLL_MS));
      });
      clearTimeout(timer);
    }
    this.#wake = undefined;
    this.#woken = false;
    if (this.#signal.aborted) throw new McpError('cancelled', 'The call was ended');
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.wake);
    this.#lifetime.end(new McpError('cancelled', 'The task is not watched any more'));
  }
}
