import { context, propagation, type SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';

/** A span as tests look at it. */
export interface SeenSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly trace: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly links: readonly string[];
  readonly attributes: ReadableSpan['attributes'];
  readonly status: ReadableSpan['status'];
  readonly version: string | undefined;
}

export interface SeenMetric {
  readonly name: string;
  readonly unit: string;
  /** The version of the instrumentation. */
  readonly version: string | undefined;
  readonly points: readonly {
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly count: number;
    readonly boundaries: readonly number[];
  }[];
}

/** An SDK of OpenTelemetry that keeps everything in memory. Its context and its propagators are the global ones. */
export function memoryOtel() {
  context.disable();
  propagation.disable();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(
    new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
  );
  const spanExporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(spanExporter)],
  });
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const metricReader = new PeriodicExportingMetricReader({ exporter: metricExporter });
  const meterProvider = new MeterProvider({ readers: [metricReader] });
  return {
    tracerProvider,
    meterProvider,
    tracer: tracerProvider.getTracer('test'),
    spans: (): readonly SeenSpan[] => spanExporter.getFinishedSpans().map(toSeen),
    reset: () => spanExporter.reset(),
    async metrics(): Promise<readonly SeenMetric[]> {
      metricExporter.reset();
      await metricReader.forceFlush();
      return metricExporter.getMetrics().flatMap(({ scopeMetrics }) =>
        scopeMetrics.flatMap(({ scope, metrics }) =>
          metrics.map(({ descriptor, dataPoints }) => ({
            name: descriptor.name,
            unit: descriptor.unit,
            version: scope.version,
            points: dataPoints.map(({ attributes, value }) => {
              const { count, buckets } = value as {
                count: number;
                buckets?: { boundaries: number[] };
              };
              return { attributes, count, boundaries: buckets?.boundaries ?? [] };
            }),
          })),
        ),
      );
    },
    /** Runs `work` in a span. */
    async inSpan<T>(name: string, work: () => Promise<T>): Promise<T> {
      const span = tracerProvider.getTracer('test').startSpan(name);
      try {
        return await context.with(trace.setSpan(context.active(), span), work);
      } finally {
        span.end();
      }
    },
  };
}

function toSeen(span: ReadableSpan): SeenSpan {
  const { traceId, spanId } = span.spanContext();
  return {
    name: span.name,
    kind: span.kind,
    trace: traceId,
    id: spanId,
    parent: span.parentSpanContext?.spanId,
    links: span.links.map((link) => link.context.spanId),
    attributes: span.attributes,
    version: span.instrumentationScope.version,
    status: span.status,
  };
}
