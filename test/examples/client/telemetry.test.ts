import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SpanKind } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { telemetry } from 'fullmcp/otel';
import { expect, it, onTestFinished, vi } from 'vitest';
import { reportSlowCalls } from '../../../examples/telemetry/channels.js';
import { serveMetrics } from '../../../examples/telemetry/prometheus.js';
import { startTracing } from '../../../examples/telemetry/sdk.js';
import { server } from '../../../examples/telemetry/server.js';

it('the example of a server that calls another is one trace, with the providers that the SDK has registered', async () => {
  const spans: ReadableSpan[] = [];
  const stop = startTracing({
    export(finished, done) {
      spans.push(...finished);
      done({ code: 0 });
    },
    shutdown: async () => undefined,
  });
  // Metrics are registered after the server and the client are made, and count all the same.
  await using client = await connect(server, { use: [telemetry()] });
  const app = serveMetrics(0);
  onTestFinished(() => void app.close());
  await once(app, 'listening');
  const { text } = await client.callTool('plan', { city: 'Oslo' });
  expect(text).toBe('Oslo: sunny');
  await client.callTool('plan', { city: 'Rome' });
  const { port } = app.address() as AddressInfo;
  const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  await stop();
  const plans = spans.filter(({ name }) => name === 'tools/call plan');
  expect(plans).toHaveLength(4);
  for (const [name, parentName] of [
    ['SERVER tools/call now', 'CLIENT tools/call now'],
    ['CLIENT tools/call now', 'SERVER tools/call plan'],
    ['SERVER tools/call plan', 'CLIENT tools/call plan'],
  ]) {
    const named = spans.filter((span) => `${SpanKind[span.kind]} ${span.name}` === name);
    expect(named).toHaveLength(2);
    for (const { parentSpanContext } of named) {
      const parent = spans.find((span) => span.spanContext().spanId === parentSpanContext?.spanId);
      expect(parent && `${SpanKind[parent.kind]} ${parent.name}`).toBe(parentName);
    }
  }
  expect(page).toContain('# TYPE mcp_server_operation_duration histogram');
  const buckets = page.split('\n').filter((line) => line.startsWith('mcp_server_operation_duration_bucket'));
  const plan = buckets.filter((line) => line.includes('gen_ai_tool_name="plan"'));
  expect(plan.map((line) => /le="([^"]+)"/.exec(line)?.[1])).toEqual(
    '0.01 0.02 0.05 0.1 0.2 0.5 1 2 5 10 30 60 120 300 +Inf'.split(' '),
  );
  expect(plan.at(-1)).toContain('mcp_method_name="tools/call"');
  expect(plan.at(-1)).toMatch(/ 2$/);
  expect(page).toContain('mcp_client_operation_duration_count{');
  expect(page).not.toContain('Oslo');
});

it('the example with channels reports slow calls alone', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const sentences: string[] = [];
  reportSlowCalls(50, (sentence) => sentences.push(sentence));
  const slow = createServer({
    name: 'slow',
    version: '1.0.0',
    tools: {
      wait: tool({
        run: () => {
          vi.advanceTimersByTime(60);
          return 'done';
        },
      }),
      hurry: tool({ run: () => 'done' }),
    },
  });
  await using client = await connect(slow);
  await client.callTool('hurry');
  await client.callTool('wait');
  expect(sentences).toEqual(['slow: tools/call took 60 ms']);
});
