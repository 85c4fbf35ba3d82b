import { onAbort } from '../../async/on-abort.js';
import { cancelledBy, McpError, toMcpError } from '../../protocol/errors.js';

// Members are slow, or hang, each on its own: nobody waits for one longer than they want to.

/** Waits for `promise`, but no longer than `signal` allows. What comes later is ignored. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(cancelledBy(signal.reason));
    if (signal.aborted) stop();
    const forget = onAbort(signal, stop);
    void promise.then(resolve, reject).finally(forget);
  });
}

export interface Limit {
  readonly signal: AbortSignal;
  readonly ms: number;
}

/** Runs `work` with a signal of its own, which aborts with the caller's and with `timeout` when the time is over. */
export async function limited<T>(limit: Limit, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const own = new AbortController();
  const stop = (): void => own.abort(limit.signal.reason);
  const late = (): void => own.abort(new McpError('timeout', `no answer within ${limit.ms} ms`));
  const timer = setTimeout(late, limit.ms);
  if (limit.signal.aborted) stop();
  const forget = onAbort(limit.signal, stop);
  try {
    return await abortable(work(own.signal), own.signal);
  } finally {
    clearTimeout(timer);
    forget();
  }
}

/** The error with the name of the server that it came from in front. */
export function named(server: string, error: unknown): McpError {
  const { code, message, data, status, number } = toMcpError(error);
  return new McpError(code, `${server}: ${message}`, {
    data,
    status,
    cause: error,
    ...(number !== undefined && { number }),
  });
}
