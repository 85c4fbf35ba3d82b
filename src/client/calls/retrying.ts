import { backoff, delay } from '../../async/delay.js';
import { isObject } from '../../jsonrpc/message.js';
import type { Call, Middleware } from '../../protocol/call.js';
import { McpError, throwCancelled } from '../../protocol/errors.js';
import { IDEMPOTENCY_KEY } from '../../protocol/tables/meta-keys.js';
import { isSafe } from '../../protocol/tables/methods.js';

/** A server that wants to be left alone for longer is not waited for: its caller may have better to do. */
const MAX_WAIT_MS = 30_000;

export interface RetryingParts {
  readonly maxRetries: number;
  /** Whether the server said that calling this tool twice is like calling it once. */
  readonly isRepeatable: (tool: unknown) => boolean;
  /** Whether the server said that this tool runs once for an idempotency key. */
  readonly keepsKeys: (tool: unknown) => boolean;
  /** Hears that a server asks for patience: a caller may have less than it wants. */
  readonly problem: (message: string, cause: McpError) => void;
}

/** Makes a call again that broke off, where that cannot do harm. */
export function retrying({ maxRetries, isRepeatable, keepsKeys, problem }: RetryingParts): Middleware {
  function isRepeatableCall({ method, params }: Call): boolean {
    if (isSafe(method)) return true;
    if (method !== 'tools/call') return false;
    const { _meta, name } = params;
    return (isObject(_meta) && IDEMPOTENCY_KEY in _meta && keepsKeys(name)) || isRepeatable(name);
  }

  function waitFor(error: unknown, call: Call, attempt: number): number | undefined {
    if (!McpError.is(error)) return undefined;
    const data = isObject(error.data) ? error.data : {};
    const after = data['retryAfterMs'];
    const waitMs = typeof after === 'number' ? after : backoff(attempt, { baseMs: 100, maxMs: 5000 });
    if (waitMs > MAX_WAIT_MS) return undefined;
    switch (error.code) {
      case 'overloaded':
        // Too Many Requests: it was not even looked at. What else keeps a server from answering may come late.
        return error.status === 429 || isRepeatableCall(call) ? waitMs : undefined;
      case 'connection_closed':
      case 'connect_failed':
        return data['unsent'] === true || isRepeatableCall(call) ? waitMs : undefined;
      default:
        return undefined;
    }
  }

  return async function retrying(call, next) {
    for (let attempt = 0; ; attempt++) {
      try {
        return await next(call);
      } catch (error) {
        const waitMs = attempt < maxRetries ? waitFor(error, call, attempt) : undefined;
        if (waitMs === undefined || call.signal.aborted) throw error;
        if (McpError.is(error) && error.code === 'overloaded')
          problem(`${error.message}. ${call.method} is sent again in ${Math.round(waitMs)} ms`, error);
        await delay(waitMs, { signal: call.signal }).catch(throwCancelled);
      }
    }
  };
}
