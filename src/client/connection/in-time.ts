import { McpError } from '../../protocol/errors.js';
import type { Link } from '../../protocol/link.js';

/** How long what was given up may take to clear up. */
const GRACE_MS = 1000;

/** Waits for something, but no longer than this. */
export async function atMost(ms: number, ending: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([ending, enough]);
  clearTimeout(timer);
}

/**
 * The link, or the signal's reason where that comes first. Who opens it gets a moment to leave nothing behind and to say how
 * far it came, but is not waited for.
 */
export function inTime(opening: Promise<Link>, signal: AbortSignal): Promise<Link> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const abort = (): void => {
      timer = setTimeout(() => reject(signal.reason), GRACE_MS);
    };
    signal.addEventListener('abort', abort, { once: true });
    opening
      .then(
        (link) => (signal.aborted ? link.close().then(() => reject(signal.reason)) : resolve(link)),
        (error) => reject(signal.aborted ? withCause(signal.reason, error) : error),
      )
      .finally(() => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      });
  });
}

/** Time that ran out says little; what had failed until then says more. */
function withCause(reason: unknown, cause: unknown): unknown {
  if (!McpError.is(reason) || cause === reason || reason.code !== 'timeout') return reason;
  // Who opens it may have said it better.
  return McpError.is(cause) && cause.code === 'timeout'
    ? cause
    : new McpError('timeout', reason.message, { cause });
}
