import { onAbort } from '../../async/abort.js';
import { McpError } from '../../protocol/errors.js';
import type { Link } from '../../protocol/link.js';

/** The time that an attempt may take to clean up after it was given up. */
const GRACE_MS = 1000;

/**
 * Waits for a link that is being opened. When the signal aborts, the attempt gets a moment to clean up and to report how far it
 * came; then this rejects with the signal's reason.
 */
export function waitForLink(opening: Promise<Link>, signal: AbortSignal): Promise<Link> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const forget = onAbort(signal, () => {
      timer = setTimeout(() => reject(signal.reason), GRACE_MS);
    });
    opening
      .then(
        (link) => (signal.aborted ? link.close().then(() => reject(signal.reason)) : resolve(link)),
        (error) => reject(signal.aborted ? withCause(signal.reason, error) : error),
      )
      .finally(() => {
        clearTimeout(timer);
        forget();
      });
  });
}

/** A timeout alone says little; the attempt's own failure says more. */
function withCause(reason: unknown, cause: unknown): unknown {
  if (!McpError.is(reason) || cause === reason || reason.code !== 'timeout') return reason;
  // The attempt's own timeout may say more.
  return McpError.is(cause) && cause.code === 'timeout'
    ? cause
    : new McpError('timeout', reason.message, { cause });
}
