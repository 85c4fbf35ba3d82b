import {
  type Context,
  context,
  isSpanContextValid,
  type Link,
  propagation,
  type TextMapGetter,
  type TextMapPropagator,
  type TextMapSetter,
  trace,
} from '@opentelemetry/api';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';
import type { InputRequest } from '../../protocol/model/input.js';
import { readTraceKey, TRACE_KEYS } from '../../protocol/telemetry/trace-keys.js';

// W3C trace context in the `_meta` of calls, in both directions.

/** The part of a propagator that is used here. The global one has it, too. */
export type Propagator = Pick<TextMapPropagator, 'inject' | 'extract'>;

/** The use that is made of the context that a peer sends: see `TelemetryOptions.remoteContext`. */
export type RemoteContext = 'parent' | 'link' | 'ignore';

/** The context of a new span, and the spans that it is linked to. */
export interface SpanOrigin {
  readonly parent: Context;
  readonly links: Link[];
}

type Carrier = Pick<Call, 'params'>;

/** The least number of members that W3C Baggage requires everyone to pass on. */
const MAX_BAGGAGE_MEMBERS = 64;

// A propagator may ask for other names, too. Only these are free of a prefix, and so only these are read and written.
const reader: TextMapGetter<Carrier> = {
  keys: () => [...TRACE_KEYS.keys()],
  get(call, key) {
    const value = readTraceKey(call, key);
    return key === 'baggage' && value !== undefined && hasTooManyMembers(value) ? undefined : value;
  },
};

const writer: TextMapSetter<JsonObject> = {
  set(fields, key, value) {
    if (value.length <= (TRACE_KEYS.get(key) ?? 0)) fields[key] = value;
  },
};

/** Finds where a span belongs: under the span in the `_meta` of its call, and linked to the one around it, such as that of HTTP. */
export function originOf(
  call: Carrier,
  propagator: Propagator | undefined,
  remoteContext: RemoteContext,
): SpanOrigin {
  const ambient = context.active();
  const remote = remoteContext === 'ignore' ? ambient : extract(ambient, call, propagator);
  const here = trace.getSpanContext(ambient);
  const there = trace.getSpanContext(remote);
  const isSent = there !== undefined && there !== here && isSpanContextValid(there);
  if (remoteContext === 'link') return { parent: ambient, links: isSent ? [{ context: there }] : [] };
  // In one process, the span that was sent is also the one around.
  const isAround = here !== undefined && isSpanContextValid(here) && here.spanId !== there?.spanId;
  return { parent: remote, links: isSent && isAround ? [{ context: here }] : [] };
}

// A call must never fail because of the trace that it claims to belong to.
function extract(ambient: Context, call: Carrier, propagator: Propagator | undefined): Context {
  try {
    return (propagator ?? propagation).extract(ambient, call, reader);
  } catch {
    return ambient;
  }
}

/** The call with a context in its `_meta`; the call itself if there is nothing to send. */
export function withContext(call: Call, active: Context, propagator: Propagator | undefined): Call {
  const fields = fieldsOf(active, propagator);
  return Object.keys(fields).length === 0 ? call : copyCall(call, { params: withMeta(call.params, fields) });
}

/**
 * The outcome with a context in each question, for a client of the session era: it gets questions as requests, and often cannot tell
 * which call they belong to. Baggage may be meant for this server alone, and is left out.
 */
export function withContextInQuestions(
  outcome: Outcome,
  active: Context,
  propagator: Propagator | undefined,
): Outcome {
  const { inputRequests } = outcome;
  const { baggage, ...fields } = fieldsOf(active, propagator);
  if (!isObject(inputRequests) || Object.keys(fields).length === 0) return outcome;
  const requests = Object.entries(inputRequests as Record<string, InputRequest>).map(
    ([key, request]) => [key, { ...request, params: withMeta(request.params ?? {}, fields) }] as const,
  );
  return { ...outcome, inputRequests: Object.fromEntries(requests) };
}

function fieldsOf(active: Context, propagator: Propagator | undefined): JsonObject {
  const fields: JsonObject = {};
  try {
    (propagator ?? propagation).inject(active, fields, writer);
    return fields;
  } catch {
    return {};
  }
}

function withMeta(params: JsonObject, fields: JsonObject): JsonObject {
  const { _meta } = params;
  return { ...params, _meta: { ...(isObject(_meta) && _meta), ...fields } };
}

function hasTooManyMembers(baggage: string): boolean {
  let members = 1;
  for (let at = baggage.indexOf(','); at !== -1; at = baggage.indexOf(',', at + 1)) members++;
  return members > MAX_BAGGAGE_MEMBERS;
}
