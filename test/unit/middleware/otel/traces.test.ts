import { SpanKind } from '@opentelemetry/api';
import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { telemetry } from 'fullmcp/otel';
import { testClient, wires } from 'fullmcp/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { until } from '../../../support/until.js';
import { memoryOtel, type SeenSpan } from './memory-otel.js';

const otel = memoryOtel();
const { tracerProvider, meterProvider } = otel;
const traced = (): ReturnType<typeof telemetry> => telemetry({ tracerProvider, meterProvider });
afterEach(() => otel.reset());

/** The names and kinds of the spans from the root down to a span. */
function lineOf(span: SeenSpan | undefined): readonly string[] {
  if (span === undefined) return [];
  const parent = otel.spans().find(({ id }) => id === span.parent);
  return [...lineOf(parent), `${SpanKind[span.kind]} ${span.name}`];
}

function only(name: string, kind: SpanKind): SeenSpan {
  const found = otel.spans().filter((span) => span.name === name && span.kind === kind);
  expect(found.map((span) => span.name)).toEqual([name]);
  return found[0] as SeenSpan;
}

/** A server whose tool calls a tool of another one, over a transport. */
function chain(over: { readonly over: (typeof wires)[number]['over']; readonly revision: never }) {
  const inner = createServer({
    name: 'inner',
    version: '1.0.0',
    use: [traced()],
    tools: {
      leaf: tool({ description: 'Ends the chain.', run: () => otel.inSpan('work', async () => 'done') }),
    },
  });
  return createServer({
    name: 'outer',
    version: '1.0.0',
    use: [traced()],
    tools: {
      forward: tool({
        description: 'Calls another server.',
        async run() {
          await using client = await testClient(inner, { ...over, use: [traced()] });
          return (await client.callTool('leaf')).text;
        },
      }),
    },
  });
}

describe('a trace', () => {
  it.each(wires)(
    'goes from a client through a server to another server: $name',
    async ({ over, revision }) => {
      const where = { over, revision: revision as never };
      await using client = await testClient(chain(where), { ...where, use: [traced()] });
      const { text } = await otel.inSpan('program', () => client.callTool('forward'));
      expect(text).toBe('done');
      await until('all spans have ended', () => otel.spans().some(({ name }) => name === 'program'));
      expect(lineOf(only('work', SpanKind.INTERNAL))).toEqual([
        'INTERNAL program',
        'CLIENT tools/call forward',
        'SERVER tools/call forward',
        'CLIENT tools/call leaf',
        'SERVER tools/call leaf',
        'INTERNAL work',
      ]);
      const { trace } = only('program', SpanKind.INTERNAL);
      const calls = otel.spans().filter(({ name }) => name.startsWith('tools/call'));
      expect(calls.map((span) => span.trace)).toEqual(calls.map(() => trace));
      for (const { attributes } of calls) expect(attributes['mcp.protocol.version']).toBe(revision);
    },
  );

  it.each(wires)('has all rounds of a call that asks under one span of the client: $name', async (wire) => {
    const server = createServer({
      name: 'asking',
      version: '1.0.0',
      use: [traced()],
      tools: {
        order: tool({
          description: 'Asks first.',
          async run(_, ctx) {
            const { size } = await ctx.ask('size', {
              message: 'Size?',
              schema: z.object({ size: z.string() }),
            });
            const { color } = await ctx.ask('color', {
              message: 'Color?',
              schema: z.object({ color: z.string() }),
            });
            return `${size} ${color}`;
          },
        }),
      },
    });
    await using client = await testClient(server, {
      over: wire.over,
      revision: wire.revision as never,
      use: [traced()],
      elicit: ({ message }) => ({
        action: 'accept',
        content: message === 'Size?' ? { size: 'L' } : { color: 'red' },
      }),
    });
    const { text } = await client.callTool('order');
    expect(text).toBe('L red');
    const asked = only('tools/call order', SpanKind.CLIENT);
    const rounds = otel
      .spans()
      .filter(({ kind, name }) => kind === SpanKind.SERVER && name === 'tools/call order');
    expect(rounds.length).toBe(3);
    expect(rounds.map(({ parent, trace }) => [parent, trace])).toEqual(
      rounds.map(() => [asked.id, asked.trace]),
    );
    const questions = otel.spans().filter(({ name }) => name === 'elicitation/create');
    expect(questions.map(({ kind }) => kind)).toEqual([SpanKind.SERVER, SpanKind.SERVER]);
    expect(questions.map((span) => span.trace)).toEqual([asked.trace, asked.trace]);
  });
});

describe('telemetry in the middleware of a single tool', () => {
  it('gives each call of the tool a span inside that of the call', async () => {
    const server = createServer({
      name: 'single',
      version: '1.0.0',
      use: [traced()],
      tools: {
        seen: tool({ description: 'Is seen.', use: [traced()], run: () => 'seen' }),
        unseen: tool({ description: 'Is not.', run: () => 'unseen' }),
      },
    });
    await using client = await connect(server);
    await client.callTool('seen');
    await client.callTool('unseen');
    const inner = otel.spans().filter(({ name }) => name.startsWith('execute_tool'));
    expect(inner.map(lineOf)).toEqual([['SERVER tools/call seen', 'INTERNAL execute_tool seen']]);
  });
});

describe('a tool that calls another tool of its server', () => {
  it('is the parent of that tool, and of the calls that it makes', async () => {
    const other = createServer({
      name: 'other',
      version: '1.0.0',
      use: [traced()],
      tools: { leaf: tool({ description: 'Ends.', run: () => 'done' }) },
    });
    const server = createServer({
      name: 'nested',
      version: '1.0.0',
      use: [traced()],
      tools: {
        outer: tool({ description: 'Calls.', run: (_, ctx) => ctx.call('middle') }),
        middle: tool({
          description: 'Calls another server.',
          async run() {
            await using client = await connect(other, { use: [traced()] });
            return (await client.callTool('leaf')).text;
          },
        }),
      },
    });
    await using client = await connect(server, { use: [traced()] });
    await client.callTool('outer');
    expect(lineOf(only('tools/call leaf', SpanKind.SERVER))).toEqual([
      'CLIENT tools/call outer',
      'SERVER tools/call outer',
      'INTERNAL execute_tool middle',
      'CLIENT tools/call leaf',
      'SERVER tools/call leaf',
    ]);
  });
});
