import { backoff, delay } from '../../async/delay.js';
import { isObject } from '../../jsonrpc/message.js';
import type { Call, Middleware } from '../../protocol/call.js';
import { McpError, throwCancelled } from '../../protocol/errors.js';
import { IDEMPOTENCY_KEY } from '../../protocol/tables/meta-keys.js';
import { isSafe } from '../../protocol/tables/methods.js';
import type { Activity } from '../connection/activity.js';

// Middleware that retries calls.

/** The longest wait that a server may ask for. If it asks for more, the call fails, and the caller decides. */
const MAX_WAIT_MS = 30_000;

/** The facts about tools that decide which calls may be repeated. */
export interface RepeatableTools {
  /** Whether the server declares that calling this tool twice has the same effect as calling it once. */
  readonly isRepeatable: (tool: unknown) => boolean;
  /** Whether the server declares that this tool runs once for an idempotency key. */
  readonly keepsKeys: (tool: unknown) => boolean;
}

export interface RetryingParts extends RepeatableTools {
  readonly maxRetries: number;
  /** Reports that a server is overloaded and the call waits. */
  readonly problem: (message: string, cause: McpError) => void;
  readonly activity: Pick<Activity, 'heard' | 'refused'>;
}

/** Whether a call has the same effect if it is made twice. */
export function isRepeatableCall({ method, params }: Call, tools: RepeatableTools): boolean {
  if (isSafe(method)) return true;
  if (method !== 'tools/call') return false;
  const { _meta, name } = params;
  return (isObject(_meta) && IDEMPOTENCY_KEY in _meta && tools.keepsKeys(name)) || tools.isRepeatable(name);
}

/** Whether an error says that the server did not process the call. */
export function wasNotProcessed({ code, status, data }: McpError): boolean {
  // Too Many Requests: the server did not process the call. With any other status, it may have.
  return code === 'overloaded' ? status === 429 : isObject(data) && data['unsent'] === true;
}

/** Retries a call if the connection failed or the server was busy, and if a retry can do no harm. */
export function retrying(parts: RetryingParts): Middleware {
  const { maxRetries, problem, activity } = parts;

  function waitFor(error: unknown, call: Call, attempt: number): number | undefined {
    if (!McpError.is(error)) return undefined;
    const data = isObject(error.data) ? error.data : {};
    const after = data['retryAfterMs'];
    const waitMs =
      typeof after === 'number' ? Math.max(0, after) : backoff(attempt, { baseMs: 100, maxMs: 5000 });
    if (waitMs > MAX_WAIT_MS) return undefined;
    switch (error.code) {
      case 'overloaded':
      case 'connection_closed':
      case 'connect_failed':
        return wasNotProcessed(error) || isRepeatableCall(call, parts) ? waitMs : undefined;
      default:
        return undefined;
    }
  }

  return async function retrying(call, next) {
    for (let attempt = 0; ; attempt++) {
      try {
        const outcome = await next(call);
        activity.heard();
        return outcome;
      } catch (error) {
        if (McpError.is(error)) activity.refused(error);
        const waitMs = attempt < maxRetries ? waitFor(error, call, attempt) : undefined;
        if (waitMs === undefined || call.signal.aborted) throw error;
        if (McpError.is(error) && error.code === 'overloaded')
          problem(`${call.method} is retried in ${Math.round(waitMs)} ms: ${error.message}`, error);
        await delay(waitMs, { signal: call.signal }).catch(throwCancelled);
      }
    }
  };
}
