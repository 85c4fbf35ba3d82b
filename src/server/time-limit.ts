import type { Call } from '../protocol/call.js';

/**
 * Runs `work` with a signal that aborts with the call or after `ms`, whichever is first. A handler that ignores its signal
 * is left behind: the caller gets `late()` in time.
 */
export async function withTimeLimit<T>(
  call: Call,
  ms: number,
  { work, late }: { readonly work: (signal: AbortSignal) => Promise<T>; readonly late: () => T },
): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(call.signal.reason);
  if (call.signal.aborted) abort();
  else call.signal.addEventListener('abort', abort, { once: true });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timedOut = new Promise<T>((resolve) => {
    timer = setTimeout(() => {
      controller.abort(new DOMException(`Timed out after ${ms} ms`, 'TimeoutError'));
      resolve(late());
    }, ms);
  });
  try {
    return await Promise.race([work(controller.signal), timedOut]);
  } finally {
    clearTimeout(timer);
    call.signal.removeEventListener('abort', abort);
  }
}
