import { McpError } from '../../protocol/errors.js';

/** Does what the link does for itself: no caller's timeout ends it, so it has one of its own. */
export async function bounded<T>(
  { ms, late }: { readonly ms: number; readonly late: string },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new McpError('timeout', late)), ms);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for what several callers share, unless this one gives up. */
export async function unlessAborted<T>(shared: Promise<T>, signal: AbortSignal): Promise<T> {
  let leave: (() => void) | undefined;
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([shared, left]);
  } finally {
    if (leave !== undefined) signal.removeEventListener('abort', leave);
  }
}
