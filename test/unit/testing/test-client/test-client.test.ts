import { createServer, inProcess, type McpError, resource, revisions, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  everyWire,
  type FaultEvent,
  startFaults,
  type TestTransport,
  testClient,
  wires,
} from '../../../../src/testing.js';
import { until } from '../../../support/until.js';

function server() {
  const signals: AbortSignal[] = [];
  let version = 1;
  const built = createServer({
    name: 'tested',
    version: '1.0.0',
    changes: true,
    logger: () => undefined,
    tools: {
      add: tool({ input: z.object({ a: z.number(), b: z.number() }), run: ({ a, b }) => a + b }),
      who: tool({ run: (_, ctx) => `${ctx.auth?.subject} ${ctx.auth?.scopes.join(' ')}` }),
      spoken: tool({ run: (_, ctx) => ctx.client.revision }),
      long: tool({
        run: async (_, ctx) => {
          ctx.progress(1, 2, 'half');
          ctx.progress(2, 2, 'all');
          return 'done';
        },
      }),
      wait: tool({
        run: (_, ctx) => {
          signals.push(ctx.signal);
          return new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve('ended')));
        },
      }),
      order: tool({
        run: async (_, ctx) => {
          const { name } = await ctx.ask('name', {
            message: 'Your name?',
            schema: z.object({ name: z.string() }),
          });
          const sure = await ctx.elicit('sure', { message: 'Sure?', schema: z.object({ ok: z.boolean() }) });
          return `${name} ${sure.action}`;
        },
      }),
      login: tool({
        run: async (_, ctx) =>
          (await ctx.elicit('login', { message: 'Log in', url: 'https://x.example/' })).action,
      }),
      summary: tool({
        run: async (_, ctx) => {
          const { content } = await ctx.sample('summary', { messages: 'Sum up', maxTokens: 10 });
          return JSON.stringify(content);
        },
      }),
      folders: tool({ run: async (_, ctx) => (await ctx.roots('roots')).map(({ uri }) => uri).join() }),
    },
    resources: { 'test://version': resource({ read: () => `v${version}` }) },
  });
  return {
    ...built,
    signals,
    publish: () => {
      version += 1;
      built.changed.resource('test://version');
    },
  };
}

test('the list of wires has every wire and revision', () => {
  expect(wires.map(({ name }) => name)).toEqual([
    'in-process 2026-07-28',
    'http 2026-07-28',
    'http 2025-11-25',
    'http 2025-06-18',
    'http 2025-03-26',
    'http+sse 2024-11-05',
    ...['stdio', 'websocket'].flatMap((over) => [...revisions].reverse().map((it) => `${over} ${it}`)),
  ]);
});

describe.each(wires)('a test client over $name', ({ over, revision }) => {
  const asks = revision === '2026-07-28' || revision === '2025-11-25' || revision === '2025-06-18';

  test('calls tools through that revision', async () => {
    await using client = await testClient(server(), { over, revision });
    expect((await client.callTool('add', { a: 1, b: 2 })).unwrap()).toBe(3);
    expect((await client.callTool('spoken')).text).toBe(revision);
    expect(client.info()).toMatchObject({ transport: over, revision, status: 'ready' });
    expect((await client.tools().all()).map(({ name }) => name)).toContain('add');
  });

  test('identifies its caller to the server', async () => {
    await using client = await testClient(server(), {
      over,
      revision,
      caller: { subject: 'ada', scopes: ['admin', 'read'] },
    });
    expect((await client.callTool('who')).text).toBe('ada admin read');
  });

  test('receives progress', async () => {
    await using client = await testClient(server(), { over, revision });
    const events: unknown[] = [];
    const { text } = await client.callTool(
      'long',
      {},
      { onProgress: ({ progress }) => events.push(progress) },
    );
    expect(text).toBe('done');
    expect(events).toEqual([1, 2]);
  });

  test.runIf(asks)('answers questions by key', async () => {
    await using client = await testClient(server(), {
      over,
      revision,
      answers: { name: { name: 'Ada' }, sure: { action: 'decline' } },
    });
    expect((await client.callTool('order')).text).toBe('Ada decline');
  });

  test.runIf(revision === '2026-07-28' || revision === '2025-11-25')('accepts to visit a URL', async () => {
    await using client = await testClient(server(), { over, revision, answers: { login: true } });
    expect((await client.callTool('login')).text).toBe('accept');
  });

  test('answers sampling by key, and has roots', async () => {
    await using client = await testClient(server(), {
      over,
      revision,
      answers: { summary: ({ message }) => `${message.length > 0}` },
      roots: ['file:///work'],
    });
    expect((await client.callTool('summary')).text).toContain('"text":"true"');
    expect((await client.callTool('folders')).text).toBe('file:///work');
  });

  test.runIf(asks)('reports a question without an answer by its key', async () => {
    await using client = await testClient(server(), { over, revision, answers: { sure: { ok: true } } });
    const failure = await client.callTool('order').then(
      ({ text, isError }) => ({ text, isError }),
      (error: McpError) => ({ text: error.message, isError: true }),
    );
    expect(failure).toMatchObject({
      isError: true,
      text: expect.stringContaining('no answer to "name" ("Your name?"). It has: sure'),
    });
  });

  test('receives a change of a resource, and reads the new version', async () => {
    const tested = server();
    await using client = await testClient(tested, { over, revision });
    const events: unknown[] = [];
    await using _ = await client.subscribe('test://version', { onChange: (change) => events.push(change) });
    tested.publish();
    await until('the change has arrived', () => events.length > 0);
    expect(events).toEqual([{ kind: 'resource', uri: 'test://version' }]);
    expect((await client.readResource('test://version')).text).toBe('v2');
  });

  test('ends a cancelled call on the server too', async () => {
    const tested = server();
    await using client = await testClient(tested, { over, revision });
    const controller = new AbortController();
    const call = client.callTool('wait', {}, { signal: controller.signal });
    await until('the call has begun', () => tested.signals.length === 1);
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    await until('the handler is aborted', () => tested.signals.every(({ aborted }) => aborted));
  });

  test('ends an open call, on both sides, when it closes', async () => {
    const tested = server();
    const client = await testClient(tested, { over, revision });
    const call = client.callTool('wait');
    const rejection = expect(call).rejects.toMatchObject({ code: 'connection_closed' });
    await until('the call has begun', () => tested.signals.length === 1);
    await client.close();
    await rejection;
    expect(client.status).toBe('closed');
    await until('the handler is aborted', () => tested.signals.every(({ aborted }) => aborted));
  });
});

describe('testClient', () => {
  test('is in-process by default, and a revision selects a wire that supports it', async () => {
    await using plain = await testClient(server());
    expect(plain.info().transport).toBe('in-process');
    await using older = await testClient(server(), { revision: '2025-11-25' });
    expect(older.info()).toMatchObject({ transport: 'http', revision: '2025-11-25' });
    await using oldest = await testClient(server(), { revision: '2024-11-05' });
    expect(oldest.info().transport).toBe('http+sse');
  });

  test('rejects a wire that does not carry the revision, an unknown wire, and faults in-process', async () => {
    await expect(testClient(server(), { over: 'http', revision: '2024-11-05' })).rejects.toThrow(
      'The transport http does not carry revision 2024-11-05. It carries: 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26.',
    );
    await expect(testClient(server(), { over: 'pigeon' as TestTransport['over'] })).rejects.toThrow(
      'no transport "pigeon"',
    );
    await expect(testClient(server(), { faults: { seed: 1 } })).rejects.toThrow("over: 'http'");
  });

  test('knows the types of the tools', async () => {
    await using client = await testClient(server());
    const sum: number = await client.tool.add({ a: 1, b: 2 });
    expect(sum).toBe(3);
  });

  test.each(['http', 'stdio', 'websocket'] as const)(
    'causes the same faults over %s for the same seed',
    async (over) => {
      const run = async (): Promise<readonly [string[], readonly FaultEvent[]]> => {
        const faults = startFaults({ seed: 1, after: 2, drop: 0.1, garble: 0.1, duplicate: 0.1 });
        await using client = await testClient(server(), { over, faults, timeoutMs: 50, maxRetries: 0 });
        const ends: string[] = [];
        for (let i = 0; i < 20; i++) {
          const call = client.callTool('add', { a: 1, b: 2 });
          ends.push(
            await call.then(
              ({ text }) => text,
              (error: McpError) => error.code,
            ),
          );
        }
        return [ends, faults.events.slice(0, 6)];
      };
      const [ends, faults] = await run();
      expect(ends.filter((end) => end === '3').length).toBeGreaterThan(5);
      expect(ends.filter((end) => end !== '3').length).toBeGreaterThan(0);
      expect(faults.length).toBeGreaterThan(5);
      expect((await run())[1]).toEqual(faults);
    },
  );
});

describe('the caller of a test client', () => {
  const whoServer = () =>
    createServer({
      name: 'who',
      version: '1.0.0',
      user: ({ request, auth }) => ({ name: request?.header('x-user') ?? auth?.subject ?? 'nobody' }),
      tools: { me: tool({ run: (_, ctx) => (ctx.user as { name: string }).name }) },
    });

  test('comes from `headers`, over HTTP by default', async () => {
    await using client = await testClient(whoServer(), { headers: { 'X-User': 'ada' } });
    expect(client.info().transport).toBe('http');
    expect((await client.callTool('me')).text).toBe('ada');
  });

  test('comes from `headers` over every wire that has them, and the other wires are left out', async () => {
    const over = new Set<string>();
    await everyWire(
      whoServer(),
      async (client, wire) => {
        over.add(wire.over);
        expect((await client.callTool('me')).text).toBe('ada');
      },
      { headers: { 'x-user': 'ada' } },
    );
    expect([...over].sort()).toEqual(['http', 'http+sse', 'websocket']);
  });

  test.each(['stdio', 'in-process'] as const)('cannot come from headers over %s', async (over) => {
    await expect(testClient(whoServer(), { over, headers: { 'x-user': 'ada' } })).rejects.toThrow(
      `The transport ${over} has no headers. Choose \`over: 'http'\`, or pass \`caller\` instead.`,
    );
  });

  test('needs only a subject, with connect and inProcess too', async () => {
    await using tested = await testClient(whoServer(), { caller: { subject: 'ann' } });
    expect((await tested.callTool('me')).text).toBe('ann');
    await using client = await connect(whoServer(), { caller: { subject: 'bob' } });
    expect((await client.callTool('me')).text).toBe('bob');
    const outcome = await inProcess(whoServer(), { caller: { subject: 'eve' } })('tools/call', {
      name: 'me',
    });
    expect(outcome['content']).toEqual([{ type: 'text', text: 'eve' }]);
    await expect(connect(whoServer(), { caller: { subject: '' } })).rejects.toThrow(
      'caller.subject must be a string',
    );
  });
});
