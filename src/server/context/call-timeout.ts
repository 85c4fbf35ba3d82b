import { hasEnded, onEnd } from '../../async/lifetime.js';
import type { Call } from '../../protocol/call.js';

/** The timeout of a call: a signal that aborts when the call ends or its time is up, whichever comes first. */
export class CallTimeout {
  readonly #controller = new AbortController();
  #unlisten: (() => void) | undefined;

  constructor(call: Call) {
    this.follow(call);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From now on the signal aborts with this call, and no longer with the previous call. */
  follow(call: Call): void {
    this.#unlisten?.();
    const abort = (): void => this.#controller.abort(call.signal.reason);
    if (hasEnded(call)) abort();
    else this.#unlisten = onEnd(call, abort);
  }

  /** Aborts the signal, because the time is up. */
  expire(ms: number): void {
    this.#controller.abort(new DOMException(`Timed out after ${ms} ms`, 'TimeoutError'));
  }

  /** Stops following the call. */
  release(): void {
    this.#unlisten?.();
  }
}

/** Runs `work` for at most `ms`. If it takes longer, for example because a handler ignores its signal, the result is `onTimeout()`. */
export async function runWithTimeout<T>(
  call: Call,
  ms: number,
  { work, onTimeout }: { readonly work: (timeout: CallTimeout) => Promise<T>; readonly onTimeout: () => T },
): Promise<T> {
  const timeout = new CallTimeout(call);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timedOut = new Promise<T>((resolve) => {
    timer = setTimeout(() => {
      timeout.expire(ms);
      resolve(onTimeout());
    }, ms);
  });
  try {
    return await Promise.race([work(timeout), timedOut]);
  } finally {
    clearTimeout(timer);
    timeout.release();
  }
}
