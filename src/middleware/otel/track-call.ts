import { type Attributes, context, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import type { Call, Dispatch, Outcome } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';
import { staysOpen } from '../../protocol/standing-calls.js';
import { has } from '../../protocol/tables/features.js';
import { argumentsOf, operationOf, resultOf, spanOnly, targetOf } from './attributes.js';
import { endingOf, endSpan, type OperationEnd } from './endings.js';
import type { RecordDuration } from './instruments.js';
import { type Propagator, type SpanOrigin, withContext, withContextInQuestions } from './trace-context.js';

// The span and the duration of one call, in a server or in a client.

/** The parts that differ between servers and clients, and the options. */
export interface Side {
  readonly kind: SpanKind;
  readonly propagator?: Propagator | undefined;
  readonly captureContent: boolean;
  readonly maxContentLength: number;
  readonly tracer: () => Tracer;
  readonly record: RecordDuration;
  /** Whether the names in a call that has ended are worth recording. */
  readonly isKnown: (call: Call, end: OperationEnd) => boolean;
  /** The facts about the call's connection. */
  readonly facts: (call: Call) => { readonly metric: Attributes; readonly span: Attributes };
  readonly origin: (call: Call) => SpanOrigin;
  readonly failure: (error: unknown, call: Call) => OperationEnd;
}

/** Wraps a call in a span, in which the rest of the call runs, and records how long it has taken. */
export async function trackCall(side: Side, call: Call, next: Dispatch): Promise<Outcome> {
  const { kind, tracer, propagator, captureContent, maxContentLength } = side;
  const startedAt = performance.now();
  const { parent, links } = side.origin(call);
  const target = targetOf(call);
  const operation = operationOf(call, target);
  const { metric, span: facts } = side.facts(call);
  const method = operation['mcp.method.name'] as string;
  const span = tracer().startSpan(
    target === undefined ? method : `${method} ${target.name}`,
    { kind, links, attributes: Object.assign(facts, operation, metric, spanOnly(call)) },
    parent,
  );
  if (captureContent && span.isRecording()) span.setAttributes(argumentsOf(call, maxContentLength));
  const active = trace.setSpan(parent, span);
  let isOver = false;
  const finish = (ending: OperationEnd): void => {
    if (isOver) return;
    isOver = true;
    const isKnown = side.isKnown(call, ending);
    if (!isKnown) span.updateName(target === undefined ? '_OTHER' : method);
    endSpan(span, ending);
    const names = isKnown ? operation : withoutNames(operation, target?.key);
    const attributes = Object.assign(names, metric, ending.attributes);
    side.record(kind === SpanKind.SERVER ? 'server' : 'client', 'operation', startedAt, attributes);
  };
  try {
    const outcome = await context.with(active, async () =>
      next(untilHeard(withContext(call, active, propagator), () => finish(endingOf(undefined)))),
    );
    if (captureContent && span.isRecording()) span.setAttributes(resultOf(call, outcome, maxContentLength));
    finish(endingOf(outcome));
    return kind === SpanKind.SERVER && has(call.peer.revision, 'handshake')
      ? withContextInQuestions(outcome, active, propagator)
      : outcome;
  } catch (error) {
    finish(side.failure(error, call));
    throw error;
  }
}

// A subscription may be open for days, in which nothing happens. Its span ends when it is acknowledged.
function untilHeard(call: Call, onHeard: () => void): Call {
  if (!staysOpen(call.method)) return call;
  const { notify } = call;
  return copyCall(call, {
    notify(method, params) {
      onHeard();
      notify(method, params);
    },
  });
}

function withoutNames(operation: Attributes, key: string | undefined): Attributes {
  if (key === undefined) return { ...operation, 'mcp.method.name': '_OTHER' };
  const { [key]: name, ...rest } = operation;
  return rest;
}
