import { Lifetime } from '../../async/lifetime.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';

/** Opens `subscriptions/listen` as the caller of the request that waits. */
export type Listen = (
  params: Call['params'],
  subscription: { readonly notify: Call['notify']; readonly lifetime: Lifetime },
) => Promise<Outcome>;

const MIN_POLL_MS = 20;
const MAX_POLL_MS = 60_000;

/**
 * Waits for changes of one task. `next` returns as soon as a change is announced, and at the latest after the task's poll interval,
 * because announcements may be lost or not granted. It always takes a timer or an event, so a loop around `next` does not block.
 */
export class TaskWatch {
  readonly #signal: AbortSignal;
  readonly #lifetime = new Lifetime();
  #isAwake = false;
  #wake: (() => void) | undefined;

  constructor(taskId: string, listen: Listen, signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.wake, { once: true });
    // The acknowledgement wakes too, because changes before it are not announced.
    listen({ notifications: { taskIds: [taskId] } }, { notify: this.wake, lifetime: this.#lifetime }).catch(
      () => undefined,
    );
  }

  /** Lets `next` return, now or when it is called. */
  readonly wake = (): void => {
    this.#isAwake = true;
    this.#wake?.();
  };

  /** Resolves when the task may have changed. Rejects when the request that waits has ended. */
  async next(pollIntervalMs: unknown): Promise<void> {
    const ms = typeof pollIntervalMs === 'number' ? pollIntervalMs : 1000;
    if (!this.#isAwake && !this.#signal.aborted) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        timer = setTimeout(resolve, Math.min(Math.max(ms, MIN_POLL_MS), MAX_POLL_MS));
      });
      clearTimeout(timer);
    }
    this.#wake = undefined;
    this.#isAwake = false;
    if (this.#signal.aborted) throw new McpError('cancelled', 'The call was ended');
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.wake);
    this.#lifetime.end(new McpError('cancelled', 'The task is no longer watched.'));
  }
}
