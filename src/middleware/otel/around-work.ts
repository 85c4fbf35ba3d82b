import {
  type Context,
  context,
  type Span,
  SpanKind,
  type SpanOptions,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { Around, InnerWork } from '../../protocol/telemetry/hosting.js';
import { clientFailure, endingOf, endSpan } from './endings.js';
import { originOf, type Propagator, type RemoteContext, type SpanOrigin } from './trace-context.js';

// Spans of tools that other tools call, of tasks, and of answers to questions.

interface AroundParts {
  readonly tracer: () => Tracer;
  readonly propagator?: Propagator | undefined;
  readonly remoteContext: RemoteContext;
}

/** Makes the function that wraps work that belongs to no call of a client in a span of its own. */
export function aroundWork({ tracer, propagator, remoteContext }: AroundParts): Around {
  function originOfWork(work: InnerWork): SpanOrigin {
    if ('request' in work) return originOf({ params: work.request.params ?? {} }, propagator, remoteContext);
    // The context of a task is that of this server's own span.
    return work.kind === 'task'
      ? originOf(work.call, propagator, 'parent')
      : { parent: context.active(), links: [] };
  }

  return async (work, run) => {
    const { parent, links } = originOfWork(work);
    const [name, options]: [string, SpanOptions] =
      'request' in work
        ? [
            work.request.method,
            { kind: SpanKind.SERVER, attributes: { 'mcp.method.name': work.request.method } },
          ]
        : [
            `execute_tool ${work.name}`,
            {
              kind: SpanKind.INTERNAL,
              attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': work.name },
            },
          ];
    const span = tracer().startSpan(name, { ...options, links }, parent);
    return inSpan(span, trace.setSpan(parent, span), run);
  };
}

async function inSpan<T>(span: Span, active: Context, run: () => Promise<T>): Promise<T> {
  try {
    const result = await context.with(active, run);
    endSpan(span, endingOf(result));
    return result;
  } catch (error) {
    endSpan(span, clientFailure(error, false));
    throw error;
  }
}
