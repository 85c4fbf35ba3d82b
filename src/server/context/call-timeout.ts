import { hasEnded, onEnd } from '../../async/lifetime.js';
import type { Call } from '../../protocol/call.js';

/** A signal that aborts with a call or when its time is up, whichever is first. */
export class TimeLimit {
  readonly #controller = new AbortController();
  #unlisten: (() => void) | undefined;

  constructor(call: Call) {
    this.follow(call);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From now on the signal aborts with this call, and no longer with the one before. */
  follow(call: Call): void {
    this.#unlisten?.();
    const abort = (): void => this.#controller.abort(call.signal.reason);
    if (hasEnded(call)) abort();
    else this.#unlisten = onEnd(call, abort);
  }

  end(ms: number): void {
    this.#controller.abort(new DOMException(`Timed out after ${ms} ms`, 'TimeoutError'));
  }

  release(): void {
    this.#unlisten?.();
  }
}

/** Runs `work` with a limit of `ms`. A handler that ignores its signal is left behind: the caller gets `late()` in time. */
export async function withTimeLimit<T>(
  call: Call,
  ms: number,
  { work, late }: { readonly work: (limit: TimeLimit) => Promise<T>; readonly late: () => T },
): Promise<T> {
  const limit = new TimeLimit(call);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timedOut = new Promise<T>((resolve) => {
    timer = setTimeout(() => {
      limit.end(ms);
      resolve(late());
    }, ms);
  });
  try {
    return await Promise.race([work(limit), timedOut]);
  } finally {
    clearTimeout(timer);
    limit.release();
  }
}
