import { context, propagation, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { createServer, McpError, prompt, resource, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { rateLimit } from 'fullmcp/middleware';
import { serve } from 'fullmcp/node';
import { type TelemetryOptions, telemetry } from 'fullmcp/otel';
import { testClient, wires } from 'fullmcp/testing';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { Call, Outcome } from '../../../../src/protocol/call.js';
import { until } from '../../../support/until.js';
import { memoryOtel, type SeenSpan } from './memory-otel.js';

let otel = memoryOtel();
afterEach(() => {
  otel = memoryOtel();
});

function traced(options: TelemetryOptions = {}): ReturnType<typeof telemetry> {
  const { tracerProvider, meterProvider } = otel;
  return telemetry({ tracerProvider, meterProvider, ...options });
}

function example(options: TelemetryOptions = {}) {
  return createServer({
    name: 'example',
    version: '1.0.0',
    use: [traced(options)],
    logger: () => undefined,
    tools: {
      add: tool({
        description: 'Adds.',
        input: z.object({ a: z.number(), b: z.number() }),
        run: ({ a, b }) => a + b,
      }),
      fail: tool({
        description: 'Fails.',
        run: () => {
          throw new Error('secret of the database');
        },
      }),
      refuse: tool({
        description: 'Refuses.',
        run: () => {
          throw new McpError('overloaded', 'Too busy');
        },
      }),
      whoami: tool({
        description: 'Shows the baggage.',
        run: () => propagation.getActiveBaggage()?.getEntry('user')?.value ?? 'nobody',
      }),
    },
    resources: {
      'memo://{name}': resource({
        description: 'A memo.',
        read: ({ name }) => {
          if (name === 'broken') throw new Error('secret of the disk');
          return 'text';
        },
      }),
    },
    prompts: {
      greet: prompt({
        description: 'Greets.',
        args: z.object({ who: z.string() }),
        run: ({ who }) => `Hello ${who}`,
      }),
    },
  });
}

function span(name: string, kind: SpanKind): SeenSpan {
  const found = otel.spans().filter((one) => one.name === name && one.kind === kind);
  expect(found.length, `spans named ${name}`).toBe(1);
  return found[0] as SeenSpan;
}

const call = (params: Call['params'], parts: Partial<Call> = {}): Call => ({
  id: 7,
  method: 'tools/call',
  params,
  peer: { revision: '2026-07-28', client: undefined, capabilities: {}, logLevel: undefined },
  signal: new AbortController().signal,
  notify: () => undefined,
  ...parts,
});

describe('the spans of telemetry', () => {
  it('have the attributes that the conventions name, in server and client', async () => {
    const app = await serve(example(), { port: 0 });
    onTestFinished(() => app.close());
    await using client = await connect(app.url, { use: [traced()] });
    await client.callTool('add', { a: 1, b: 2 });
    await client.getPrompt('greet', { who: 'you' });
    await client.readResource('memo://one-abc');
    const { hostname, port } = new URL(app.url);
    const common = {
      'mcp.protocol.version': '2026-07-28',
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
    };
    const address = { 'server.address': hostname, 'server.port': Number(port) };
    const toolCall = {
      ...common,
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'add',
      'gen_ai.operation.name': 'execute_tool',
    };
    expect(span('tools/call add', SpanKind.CLIENT).attributes).toEqual({ ...toolCall, ...address });
    expect(span('tools/call add', SpanKind.SERVER).attributes).toEqual({
      ...toolCall,
      'network.protocol.version': '1.1',
      'jsonrpc.request.id': expect.stringMatching(/^\d+$/),
      'client.address': expect.stringMatching(/127\.0\.0\.1|::1/),
    });
    const got = { ...common, 'mcp.method.name': 'prompts/get', 'gen_ai.prompt.name': 'greet' };
    expect(span('prompts/get greet', SpanKind.CLIENT).attributes).toEqual({ ...got, ...address });
    // Never the URI in the name: every URI would be a name of its own.
    const read = span('resources/read', SpanKind.SERVER);
    expect(read.attributes['mcp.resource.uri']).toBe('memo://one-abc');
    expect(read.status.code).toBe(SpanStatusCode.UNSET);
  });

  it('of a session have the end of its id, which nobody can use', async () => {
    const app = await serve(example(), { port: 0 });
    onTestFinished(() => app.close());
    await using client = await connect(app.url, { revision: '2025-11-25', use: [traced()] });
    await client.callTool('add', { a: 1, b: 2 });
    const ids = [SpanKind.CLIENT, SpanKind.SERVER].map(
      (kind) => span('tools/call add', kind).attributes['mcp.session.id'],
    );
    expect(ids[0]).toMatch(/^[\w-]{16}$/);
    expect(ids[1]).toBe(ids[0]);
  });

  it.each(wires)('name the transport: $name', async ({ over, revision }) => {
    await using client = await testClient(example(), { over, revision: revision as never, use: [traced()] });
    await client.callTool('add', { a: 1, b: 2 });
    const expected = {
      'in-process': [undefined, undefined],
      http: ['tcp', 'http'],
      'http+sse': ['tcp', 'http'],
      websocket: ['tcp', 'websocket'],
      stdio: ['pipe', undefined],
    }[over];
    for (const kind of [SpanKind.CLIENT, SpanKind.SERVER]) {
      const { attributes } = span('tools/call add', kind);
      expect([attributes['network.transport'], attributes['network.protocol.name']]).toEqual(expected);
    }
  });

  it('call a failed tool an error of type tool_error, at both ends, and do not show the hidden message', async () => {
    await using client = await connect(example(), { use: [traced()] });
    await client.callTool('fail');
    for (const kind of [SpanKind.CLIENT, SpanKind.SERVER]) {
      const { attributes, status } = span('tools/call fail', kind);
      expect(attributes['error.type']).toBe('tool_error');
      expect(attributes['rpc.response.status_code']).toBeUndefined();
      expect(status).toEqual({ code: SpanStatusCode.ERROR });
    }
    expect(JSON.stringify(otel.spans())).not.toContain('secret of the database');
  });

  it('have the number and the message of an error that the server sends', async () => {
    await using client = await connect(example(), { use: [traced()] });
    await client.callTool('refuse').catch(() => undefined);
    const refused = span('tools/call refuse', SpanKind.CLIENT);
    expect(refused.attributes).toMatchObject({
      'error.type': '-32603',
      'rpc.response.status_code': '-32603',
    });
    expect(refused.status).toEqual({ code: SpanStatusCode.ERROR, message: 'Too busy' });
    await client.readResource('memo://broken').catch(() => undefined);
    const broken = span('resources/read', SpanKind.SERVER);
    expect(broken.status).toEqual({ code: SpanStatusCode.ERROR, message: 'Internal error' });
    expect(JSON.stringify(otel.spans())).not.toContain('secret of the disk');
  });

  it("do not call a mistake of the caller an error of the server, but one of the client's", async () => {
    await using client = await connect(example(), { use: [traced()] });
    await client.request('tools/call', { name: 'nothing' }).catch(() => undefined);
    const [server, sent] = otel.spans().filter(({ name }) => name === 'tools/call');
    expect(server?.kind).toBe(SpanKind.SERVER);
    expect(server?.attributes['rpc.response.status_code']).toBe('-32602');
    expect(server?.attributes['error.type']).toBeUndefined();
    expect(server?.status.code).toBe(SpanStatusCode.UNSET);
    expect(sent?.attributes['error.type']).toBe('-32602');
  });

  it('have the name of an error that no server has sent', async () => {
    const middleware = traced().forClient({
      target: 'http://localhost:1/mcp',
      link: () => undefined,
      forget: () => undefined,
    });
    const lost = async (): Promise<Outcome> => {
      throw new McpError('connection_closed', 'Gone');
    };
    await expect(middleware(call({ name: 'add' }), lost)).rejects.toThrow('Gone');
    const [only] = otel.spans();
    expect(only?.attributes).toMatchObject({ 'error.type': 'connection_closed', 'server.port': 1 });
    expect(only?.attributes['rpc.response.status_code']).toBeUndefined();
  });

  it('have arguments and results only on request, and only their beginnings', async () => {
    await using plain = await connect(example(), { use: [traced()] });
    await plain.callTool('add', { a: 40, b: 2 });
    expect(JSON.stringify(otel.spans())).not.toContain('tool.call');
    otel.reset();
    const options = { captureContent: true, maxContentLength: 8 };
    await using client = await connect(example(options), { use: [traced({ captureContent: true })] });
    await client.callTool('add', { a: 40, b: 2 });
    await client.getPrompt('greet', { who: 'you' });
    const sent = span('tools/call add', SpanKind.CLIENT);
    expect(sent.attributes['gen_ai.tool.call.arguments']).toBe('{"a":40,"b":2}');
    expect(sent.attributes['gen_ai.tool.call.result']).toContain('42');
    expect(span('tools/call add', SpanKind.SERVER).attributes['gen_ai.tool.call.arguments']).toBe('{"a":40…');
    expect(span('prompts/get greet', SpanKind.CLIENT).attributes['gen_ai.prompt.variable.who']).toBe('you');
  });
});

describe('the span of a subscription', () => {
  it.each(wires)('ends when the subscription is acknowledged: $name', async ({ over, revision }) => {
    const server = example();
    server.changed.resource('memo://one');
    await using client = await testClient(server, { over, revision: revision as never, use: [traced()] });
    const subscription = await client.subscribe('memo://one');
    await until('both ends have their spans', () => {
      const kinds = otel.spans().flatMap(({ name, kind }) => (name === 'subscriptions/listen' ? kind : []));
      return kinds.includes(SpanKind.CLIENT) && kinds.includes(SpanKind.SERVER);
    });
    await subscription.close();
  });
});

describe('a result that cannot be printed', () => {
  it('does not break the call that asks for results to be recorded', async () => {
    const outcome = { resultType: 'complete', content: [1n] } as unknown as Outcome;
    const recording = traced({ captureContent: true });
    expect(await recording(call({ name: 'add', arguments: { a: 1n } }), async () => outcome)).toBe(outcome);
  });
});

describe('the context of a call', () => {
  const parent = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01';
  const answer = async (): Promise<Outcome> => ({ resultType: 'complete' });
  const withMeta = (meta: unknown, parts?: Partial<Call>): Call => call({ name: 'add', _meta: meta }, parts);

  it('is the parent, and the span around it is a link', async () => {
    await otel.inSpan('POST', () => traced()(withMeta({ traceparent: parent }), answer));
    const server = span('tools/call add', SpanKind.SERVER);
    const http = span('POST', SpanKind.INTERNAL);
    expect(server).toMatchObject({ trace: '0af7651916cd43dd8448eb211c80319c', parent: '00f067aa0ba902b7' });
    expect(server.links).toEqual([http.id]);
  });

  it('is missing: then the span around it is the parent', async () => {
    await otel.inSpan('POST', () => traced()(withMeta(undefined), answer));
    const http = span('POST', SpanKind.INTERNAL);
    expect(span('tools/call add', SpanKind.SERVER)).toMatchObject({ parent: http.id, links: [] });
  });

  it('is only a link, or nothing, if the server is told so', async () => {
    await traced({ remoteContext: 'link' })(withMeta({ traceparent: parent, baggage: 'user=eve' }), answer);
    expect(otel.spans()[0]).toMatchObject({ parent: undefined, links: ['00f067aa0ba902b7'] });
    otel.reset();
    await traced({ remoteContext: 'ignore' })(withMeta({ traceparent: parent }), answer);
    expect(otel.spans()[0]).toMatchObject({ parent: undefined, links: [] });
  });

  it.each(['parent', 'link', 'ignore'] as const)(
    'of a question is used as the client decides: %s',
    async (use) => {
      const { around } = traced({ remoteContext: use }).forClient({
        target: 'x',
        link: () => undefined,
        forget: () => undefined,
      });
      const request = { method: 'elicitation/create', params: { _meta: { traceparent: parent } } } as const;
      await otel.inSpan('call', async () => around?.({ kind: 'question', request }, async () => 'answer'));
      const asking = span('call', SpanKind.INTERNAL).id;
      const sent = '00f067aa0ba902b7';
      const expected = {
        parent: { parent: sent, links: [asking] },
        link: { parent: asking, links: [sent] },
        ignore: { parent: asking, links: [] },
      };
      expect(span('elicitation/create', SpanKind.SERVER)).toMatchObject(expected[use]);
    },
  );

  it('carries baggage to the handler', async () => {
    await using client = await connect(example(), { use: [traced()] });
    const active = propagation.setBaggage(
      context.active(),
      propagation.createBaggage({ user: { value: 'ann' } }),
    );
    const { text } = await context.with(active, () => client.callTool('whoami'));
    expect(text).toBe('ann');
  });

  it('of the server replaces that of the client in what handlers and tasks see', async () => {
    let seen: unknown;
    await traced()(withMeta({ traceparent: parent, other: 1 }), async ({ params }) => {
      seen = params['_meta'];
      return answer();
    });
    const { trace, id } = span('tools/call add', SpanKind.SERVER);
    expect(seen).toEqual({ other: 1, traceparent: `00-${trace}-${id}-01` });
  });

  const long = 'x'.repeat(10_000_000);
  const entries = Array.from({ length: 1000 }, (_, at) => `k${at}=v`).join(',');
  it.each<[string, unknown]>([
    ['_meta is not an object', 'traceparent'],
    ['a number', { traceparent: 5, tracestate: {}, baggage: [] }],
    ['an empty string', { traceparent: '' }],
    ['zeros', { traceparent: '00-00000000000000000000000000000000-0000000000000000-00' }],
    ['a version that is not allowed', { traceparent: parent.replace('00', 'ff') }],
    ['control characters', { traceparent: `${parent}\u0000\n`, tracestate: '\u0000' }],
    ['10 MB', { traceparent: long, tracestate: long, baggage: long }],
    ['10 MB of commas', { baggage: ','.repeat(10_000_000) }],
    ['1,000 entries', { tracestate: entries, baggage: entries }],
    ['broken escapes', { baggage: '%=%,%E0%A4%A=%,__proto__=x' }],
    ['a prototype', JSON.parse(`{"__proto__":{"traceparent":"${parent}"}}`)],
  ])('is ignored and never breaks a call: %s', async (_, meta) => {
    expect(await traced()(withMeta(meta), answer)).toEqual({ resultType: 'complete' });
    expect(span('tools/call add', SpanKind.SERVER)).toMatchObject({ parent: undefined, links: [] });
  });

  it('does not lose its parent because of a bad state or bad baggage beside it', async () => {
    let baggage: unknown;
    await traced()(withMeta({ traceparent: parent, tracestate: entries, baggage: entries }), async () => {
      baggage = propagation.getActiveBaggage();
      return answer();
    });
    expect(span('tools/call add', SpanKind.SERVER).parent).toBe('00f067aa0ba902b7');
    expect(baggage).toBeUndefined();
  });

  it('survives a propagator that throws', async () => {
    const propagator = {
      inject: () => {
        throw new Error('broken');
      },
      extract: () => {
        throw new Error('broken');
      },
      fields: () => [],
    };
    await traced({ propagator })(withMeta({ traceparent: parent }), answer);
    expect(otel.spans()).toHaveLength(1);
  });

  it('is written only under the keys that need no prefix', async () => {
    let seen: unknown;
    const propagator = {
      inject(_: unknown, carrier: unknown, setter: { set: (c: unknown, k: string, v: string) => void }) {
        setter.set(carrier, 'b3', '1');
        setter.set(carrier, 'traceparent', parent);
      },
      extract: () => context.active(),
      fields: () => [],
    };
    await traced({ propagator: propagator as never })(call({}), async ({ params }) => {
      seen = params['_meta'];
      return answer();
    });
    expect(seen).toEqual({ traceparent: parent });
  });
});

describe('the metrics of telemetry', () => {
  it('have the names, units, boundaries and attributes of the conventions', async () => {
    const app = await serve(example(), { port: 0 });
    {
      await using client = await connect(app.url, { revision: '2025-11-25', use: [traced()] });
      await client.callTool('add', { a: 1, b: 2 });
      await client.callTool('fail');
      await client.readResource('memo://one');
    }
    await app.close();
    const metrics = await otel.metrics();
    expect(metrics.map(({ name, unit }) => [name, unit]).sort()).toEqual([
      ['mcp.client.operation.duration', 's'],
      ['mcp.client.session.duration', 's'],
      ['mcp.server.operation.duration', 's'],
      ['mcp.server.session.duration', 's'],
    ]);
    for (const { points } of metrics)
      for (const { boundaries } of points)
        expect(boundaries).toEqual([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]);
    const { hostname, port } = new URL(app.url);
    const network = { 'network.transport': 'tcp', 'network.protocol.name': 'http' };
    const common = { 'mcp.protocol.version': '2025-11-25', ...network };
    const toolCall = { 'mcp.method.name': 'tools/call', 'gen_ai.operation.name': 'execute_tool' };
    const pointsOf = (name: string) =>
      metrics
        .find((one) => one.name === name)
        ?.points.map(({ attributes, count }) => ({ ...attributes, count }));
    const address = { 'server.address': hostname, 'server.port': Number(port) };
    expect(pointsOf('mcp.client.operation.duration')).toEqual([
      { ...toolCall, 'gen_ai.tool.name': 'add', ...common, ...address, count: 1 },
      {
        ...toolCall,
        'gen_ai.tool.name': 'fail',
        ...common,
        ...address,
        'error.type': 'tool_error',
        count: 1,
      },
      { 'mcp.method.name': 'resources/read', ...common, ...address, count: 1 },
    ]);
    const version = { 'network.protocol.version': '1.1' };
    expect(pointsOf('mcp.server.operation.duration')).toContainEqual({
      ...{ ...toolCall, 'gen_ai.tool.name': 'add', ...common, ...version, count: 1 },
    });
    expect(pointsOf('mcp.client.session.duration')).toEqual([{ ...common, ...address, count: 1 }]);
    expect(pointsOf('mcp.server.session.duration')).toEqual([{ ...common, count: 1 }]);
  });

  it.each(wires)('count each session once: $name', async ({ over, revision }) => {
    const server = example();
    {
      await using client = await testClient(server, { over, revision: revision as never, use: [traced()] });
      await client.callTool('add', { a: 1, b: 2 });
      await client.callTool('add', { a: 1, b: 2 });
    }
    const metrics = await otel.metrics();
    const counts = ['client', 'server'].map((side) =>
      metrics.find(({ name }) => name === `mcp.${side}.session.duration`)?.points.map(({ count }) => count),
    );
    const hasSession = over !== 'in-process' && !(over === 'http' && revision === '2026-07-28');
    expect(counts).toEqual([[1], hasSession ? [1] : undefined]);
  });

  it('have as many series as there are tools, whatever names clients make up', async () => {
    const server = createServer({
      name: 'example',
      version: '1.0.0',
      use: [traced(), rateLimit({ tools: '2/day' })],
      tools: { add: tool({ description: 'Adds.', run: () => 'ok' }) },
    });
    await using client = await connect(server);
    await client.callTool('add');
    for (let at = 0; at < 50; at++) {
      await client.request('tools/call', { name: `made-up-${at}` }).catch(() => undefined);
      await client.request(`made/up/${at}`, {}).catch(() => undefined);
      await client.request('prompts/get', { name: `made-up-${at}` }).catch(() => undefined);
    }
    const [operations] = await otel.metrics();
    const text = JSON.stringify(operations);
    expect(text).not.toContain('made');
    expect(text).toContain('_OTHER');
    expect(text).toContain('"gen_ai.tool.name":"add"');
    const names = new Set(otel.spans().map(({ name }) => name));
    expect([...names].sort()).toEqual([
      '_OTHER',
      'prompts/get',
      'server/discover',
      'tools/call',
      'tools/call add',
    ]);
  });
});

describe('the options of telemetry', () => {
  it.each<[object, string]>([
    [{ captureContents: true }, 'telemetry has no option "captureContents". Did you mean "captureContent"?'],
    [
      { remoteContext: 'child' },
      'telemetry: "remoteContext" must be "parent", "link" or "ignore", not "child".',
    ],
    [{ maxContentLength: 0 }, 'telemetry: "maxContentLength" must be an integer, 1 or more, not 0.'],
  ])('are checked: %o', (options, message) => {
    expect(() => telemetry(options as TelemetryOptions)).toThrow(message);
  });

  it('need no SDK: without one, nothing is recorded and nothing is sent', async () => {
    context.disable();
    propagation.disable();
    let seen: unknown;
    const server = createServer({
      name: 'plain',
      version: '1.0.0',
      use: [
        telemetry(),
        (each, next) => {
          if (each.method === 'tools/call') seen = each.params['_meta'];
          return next(each);
        },
      ],
      tools: { add: tool({ description: 'Adds.', run: () => 'ok' }) },
    });
    await using client = await connect(server, { use: [telemetry()] });
    expect((await client.callTool('add')).text).toBe('ok');
    expect(Object.keys(seen as object)).toEqual(['progressToken']);
  });
});
