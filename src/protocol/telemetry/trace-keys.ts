import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call } from '../call.js';
import { PROGRAM_CALLS, STORY } from '../tables/meta-keys.js';
import { storyOf } from './journal-event.js';

// The members of `_meta` that carry a trace. Spec 2026-07-28, Base Protocol, OpenTelemetry trace context; SEP-414.

/** The members of `_meta` that carry a trace, with the longest value that is read. */
export const TRACE_KEYS: ReadonlyMap<string, number> = new Map([
  // W3C Trace Context: 55 characters today; a later version may append to them.
  ['traceparent', 128],
  // W3C Trace Context: at least 512 characters should be passed on.
  ['tracestate', 512],
  // W3C Baggage: at least 8192 bytes must be passed on.
  ['baggage', 8192],
]);

/** A member of `_meta` that carries a trace; undefined if it is missing, not a string or too long. */
export function readTraceKey({ params }: Pick<Call, 'params'>, key: string): string | undefined {
  const meta = params['_meta'];
  const value = isObject(meta) && Object.hasOwn(meta, key) ? meta[key] : undefined;
  return typeof value === 'string' && value.length <= (TRACE_KEYS.get(key) ?? 0) ? value : undefined;
}

/** The trace that a call belongs to, and what an inspector has added to it, to be stored with its task; undefined if there is neither. */
export function traceOf(call: Pick<Call, 'params'>): JsonObject | undefined {
  const traceparent = readTraceKey(call, 'traceparent');
  const tracestate = readTraceKey(call, 'tracestate');
  const story = storyOf(call);
  const meta = call.params['_meta'];
  const tellsCalls = isObject(meta) && meta[PROGRAM_CALLS] === true;
  if (traceparent === undefined && story === undefined && !tellsCalls) return undefined;
  return {
    ...(traceparent !== undefined && { traceparent, ...(tracestate !== undefined && { tracestate }) }),
    ...(story !== undefined && { [STORY]: story }),
    ...(tellsCalls && { [PROGRAM_CALLS]: true }),
  };
}
