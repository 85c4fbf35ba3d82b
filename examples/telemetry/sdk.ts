import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';

/** Registers an SDK that sends spans to `exporter`. Call it before the server is used. Returns the function that sends the last ones. */
export function startTracing(exporter: SpanExporter): () => Promise<void> {
  const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
  trace.setGlobalTracerProvider(provider);
  // Handlers run in the context of their calls.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  // Traces are read from and written to the `_meta` of calls.
  propagation.setGlobalPropagator(
    new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
  );
  return () => provider.shutdown();
}
