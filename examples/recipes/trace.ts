import process from 'node:process';
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, ConsoleSpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { telemetry } from 'fullmcp/otel';

// Spans are printed. In production: a BatchSpanProcessor with the OTLP exporter of your collector.
trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new ConsoleSpanExporter())] }),
);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()); // handlers run in their call's context
propagation.setGlobalPropagator(new W3CTraceContextPropagator()); // the trace travels in the `_meta` of calls

const next = process.argv[2]; // the address of the second process; the second one has none

const server = createServer({
  name: next === undefined ? 'back' : 'front',
  version: '1.0.0',
  use: [telemetry()],
  tools: {
    greet: tool({
      async run() {
        if (next === undefined) return 'Hello from the back';
        await using client = await connect(next, { use: [telemetry()] });
        return (await client.callTool('greet')).text;
      },
    }),
  },
});

const { url } = await serve(server);
console.log(`Listening on ${url}`);
