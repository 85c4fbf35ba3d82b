import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createServer, McpError, ToolError, text, tool } from '../../../../src/index.js';
import type { Dispatch, Middleware } from '../../../../src/protocol/call.js';
import { inProcessClient } from '../../../support/in-process-client.js';
import { until } from '../../../support/until.js';

const server = createServer({
  name: 'test',
  version: '1.2.3',
  instructions: 'Be kind.',
  tools: {
    add: tool({ input: z.object({ a: z.number(), b: z.number().default(1) }), run: ({ a, b }) => a + b }),
    greet: tool({ input: z.object({ name: z.string() }), run: ({ name }) => `Hello, ${name}` }),
    two: tool({ run: () => [text('one'), text('two')] }),
    fail: tool({
      run: () => {
        throw new ToolError('It is closed on Sundays');
      },
    }),
    nothing: tool({ run: () => undefined }),
    count: tool({
      run: async (_, ctx) => {
        for (let at = 1; at <= 3; at++) ctx.progress(at, 3, `step ${at}`);
        ctx.log.info('counted');
        return 'done';
      },
    }),
    hang: tool({
      run: (_, ctx) =>
        new Promise((_resolve, reject) =>
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
        ),
    }),
    checked: tool({ output: z.object({ n: z.number() }), run: () => ({ n: 1 }) }),
  },
  resources: {},
  prompts: {},
});

describe('a tool call', () => {
  test('returns text, data and unwrap', async () => {
    await using client = await inProcessClient(server);
    const sum = await client.callTool('add', { a: 1, b: 2 });
    expect(sum).toMatchObject({ text: '3', data: 3, isError: false });
    expect(sum.unwrap()).toBe(3);
    expect((await client.callTool('greet', { name: 'Ada' })).unwrap()).toBe('Hello, Ada');
    expect((await client.callTool('two')).text).toBe('one\ntwo');
    expect((await client.callTool('nothing')).unwrap()).toBe('');
  });

  test('returns the failure of the tool as a result, which unwrap and client.tool throw', async () => {
    await using client = await inProcessClient(server);
    const result = await client.callTool('fail');
    expect(result).toMatchObject({ isError: true, text: 'It is closed on Sundays' });
    expect(() => result.unwrap()).toThrow(
      expect.objectContaining({ code: 'tool_failed', message: 'It is closed on Sundays' }),
    );
    await expect(client.tool['fail']?.()).rejects.toMatchObject({ code: 'tool_failed' });
  });

  test('to an unknown tool is an error', async () => {
    await using client = await inProcessClient(server);
    await expect(client.callTool('nope')).rejects.toMatchObject({ code: 'invalid_params' });
  });

  test('delivers progress and log messages to the call and to the client', async () => {
    const ofClient: unknown[] = [];
    await using client = await inProcessClient(server, {
      onLog: (message) => ofClient.push(message),
      progress: (progress, { name }) => ofClient.push([name, progress]),
    });
    const ofCall: unknown[] = [];
    await client.callTool(
      'count',
      {},
      { onProgress: (progress) => ofCall.push(progress), onLog: (message) => ofCall.push(message) },
    );
    expect(ofCall).toEqual([
      { progress: 1, total: 3, message: 'step 1' },
      { progress: 2, total: 3, message: 'step 2' },
      { progress: 3, total: 3, message: 'step 3' },
      expect.objectContaining({ level: 'info' }),
    ]);
    expect(ofClient).toEqual([
      ['count', expect.objectContaining({ progress: 1 })],
      ['count', expect.objectContaining({ progress: 2 })],
      ['count', expect.objectContaining({ progress: 3 })],
      expect.objectContaining({ level: 'info' }),
    ]);
  });

  test('delivers no log messages until a log level is set', async () => {
    await using client = await inProcessClient(server);
    const messages: unknown[] = [];
    client.on('log', (message) => messages.push(message));
    await client.callTool('count');
    expect(messages).toEqual([]);
    client.setLogLevel('debug');
    await client.callTool('count');
    expect(messages).toHaveLength(1);
  });

  test('is cancelled by its signal, and is pending until then', async () => {
    await using client = await inProcessClient(server);
    const stop = new AbortController();
    const call = client.callTool('hang', {}, { signal: stop.signal });
    await until('it is open', () => client.pending().length === 1);
    expect(client.pending()).toMatchObject([{ method: 'tools/call', name: 'hang' }]);
    stop.abort();
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    expect(client.pending()).toEqual([]);
    await expect(client.callTool('add', { a: 1 }, { signal: stop.signal })).rejects.toMatchObject({
      code: 'cancelled',
    });
  });

  test('ends when the client closes, and later calls are rejected', async () => {
    const client = await inProcessClient(server);
    const call = client.callTool('hang');
    await until('it is open', () => client.pending().length === 1);
    await Promise.all([client.close(), expect(call).rejects.toMatchObject({ code: 'connection_closed' })]);
    expect(client.status).toBe('closed');
    await expect(client.callTool('add', { a: 1 })).rejects.toMatchObject({ code: 'connection_closed' });
  });
});

describe('the timeout of a call', () => {
  /** Answers a call, and reports progress, only when the test says so. */
  function slowServer(): { dispatch: Dispatch; progress: () => void; aborted: () => boolean } {
    let notify: (() => void) | undefined;
    let signal: AbortSignal | undefined;
    return {
      dispatch: async (call) => {
        if (call.method === 'server/discover') return server.dispatch(call);
        signal = call.signal;
        const { progressToken } = call.params['_meta'] as { progressToken: number };
        let progress = 0;
        notify = () => call.notify('notifications/progress', { progressToken, progress: ++progress });
        return new Promise(() => {});
      },
      progress: () => notify?.(),
      aborted: () => signal?.aborted === true,
    };
  }

  test('ends a call without a response or progress, even if the server ignores its signal', async () => {
    const slow = slowServer();
    await using client = await inProcessClient(slow);
    await expect(client.callTool('x', {}, { timeoutMs: 20 })).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('tools/call "x": no response and no progress for 20 ms'),
    });
    expect(slow.aborted()).toBe(true);
  });

  test('is reset by progress, up to the maximum', async () => {
    const slow = slowServer();
    await using client = await inProcessClient(slow);
    const progressing = setInterval(slow.progress, 5);
    const start = performance.now();
    await expect(client.callTool('x', {}, { timeoutMs: 100, maxTimeoutMs: 400 })).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('400 ms in all'),
    });
    clearInterval(progressing);
    expect(performance.now() - start).toBeGreaterThan(390);
  });
});

describe("the server's description of itself", () => {
  test('is known when connect returns', async () => {
    await using client = await inProcessClient(server);
    expect(client.server).toMatchObject({
      info: { name: 'test', version: '1.2.3' },
      instructions: 'Be kind.',
      revision: '2026-07-28',
      capabilities: { tools: {} },
    });
    expect(client.info()).toMatchObject({
      status: 'ready',
      transport: 'in-process',
      target: 'in-process',
      pending: 0,
      reconnects: 0,
    });
    expect(JSON.parse(JSON.stringify(client.info()))).toEqual(client.info());
    expect(await client.ping()).toBeGreaterThanOrEqual(0);
  });

  test('may lack every capability, and its lists are then empty', async () => {
    await using client = await inProcessClient(createServer({ name: 'bare', version: '1' }));
    expect(await client.prompts().all()).toEqual([]);
    expect(await client.resources().all()).toEqual([]);
    expect(await client.templates().all()).toEqual([]);
    expect(await client.tools().all()).toEqual([]);
  });
});

describe('middleware', () => {
  test('sees every call, the first outermost, and may answer itself', async () => {
    const order: string[] = [];
    const named =
      (name: string): Middleware =>
      async (call, next) => {
        order.push(`${name} ${call.method}`);
        return next(call);
      };
    const stub: Middleware = async (call, next) =>
      call.method === 'tools/call'
        ? { resultType: 'complete', content: [{ type: 'text', text: 'stub' }] }
        : next(call);
    await using client = await inProcessClient(server, { use: [named('a'), named('b'), stub] });
    expect((await client.callTool('add', { a: 1 })).text).toBe('stub');
    expect(order).toEqual(['a tools/call', 'b tools/call']);
  });
});

describe('a callback that throws', () => {
  test('is reported as a problem, and harms neither the call nor the client', async () => {
    const angry = (): never => {
      throw new Error('no');
    };
    await using client = await inProcessClient(server, { onLog: angry, progress: angry });
    const problems: string[] = [];
    client.on('problem', ({ message }) => problems.push(message));
    client.on('problem', angry);
    const result = await client.callTool('count', {}, { onProgress: angry, onLog: angry });
    expect(result.text).toBe('done');
    expect(problems).toContain('onProgress threw');
    expect(problems).toContain('A listener for "log" threw');
    expect(client.info().problems).toContain('progress threw');
  });
});

describe('the output schema of a tool', () => {
  test('rejects a result that does not fit, once the tool has been listed', async () => {
    const lying: Dispatch = async (call) => {
      const outcome = await server.dispatch(call);
      return call.method === 'tools/call' ? { ...outcome, structuredContent: { n: 'one' } } : outcome;
    };
    await using client = await inProcessClient({ dispatch: lying });
    expect((await client.callTool('checked')).data).toEqual({ n: 'one' });
    await client.tools().all();
    await expect(client.callTool('checked')).rejects.toMatchObject({
      code: 'bad_response',
      message: expect.stringContaining('n'),
    });
  });

  test('is reported once if it cannot be read, and results pass unchecked', async () => {
    const odd: Dispatch = async (call) => {
      const outcome = await server.dispatch(call);
      if (call.method !== 'tools/list') return outcome;
      return {
        ...outcome,
        tools: [
          {
            name: 'checked',
            inputSchema: { type: 'object' },
            outputSchema: { $ref: 'https://example.com/x' },
          },
        ],
      };
    };
    await using client = await inProcessClient({ dispatch: odd });
    await client.tools().all();
    expect((await client.callTool('checked')).data).toEqual({ n: 1 });
    await client.callTool('checked');
    expect(client.info().problems).toHaveLength(1);
  });

  test('does not have its regular expressions run', async () => {
    const evil: Dispatch = async (call) => {
      const outcome = await server.dispatch(call);
      if (call.method === 'tools/call') return { ...outcome, structuredContent: { n: `${'a'.repeat(50)}!` } };
      if (call.method !== 'tools/list') return outcome;
      const outputSchema = { type: 'object', properties: { n: { type: 'string', pattern: '^(a+)+$' } } };
      return { ...outcome, tools: [{ name: 'checked', inputSchema: { type: 'object' }, outputSchema }] };
    };
    await using client = await inProcessClient({ dispatch: evil });
    await client.tools().all();
    expect((await client.callTool('checked')).data).toEqual({ n: `${'a'.repeat(50)}!` });
  });
});

test.each([
  [[{ type: 'text' }], ''],
  [[{ type: 'text', text: 5 }, { type: 'text', text: 'a' }, {}], 'a'],
])('the text of a result is always a string, whatever the server sends: %j', async (content, text) => {
  const odd: Dispatch = async (call) =>
    call.method === 'tools/call' ? { resultType: 'complete', content } : server.dispatch(call);
  await using client = await inProcessClient({ dispatch: odd });
  expect((await client.callTool('any')).text).toBe(text);
});

test('an McpError of a dispatch keeps its number, and another error becomes an internal error with its cause', async () => {
  const broken: Dispatch = async (call) => {
    if (call.method === 'server/discover') return server.dispatch(call);
    throw call.method === 'x/mcp'
      ? new McpError('remote_error', 'odd', { number: -32099 })
      : new TypeError('oops');
  };
  await using client = await inProcessClient({ dispatch: broken });
  await expect(client.request('x/mcp')).rejects.toMatchObject({ code: 'remote_error', number: -32099 });
  await expect(client.request('x/other')).rejects.toMatchObject({
    code: 'internal_error',
    cause: expect.any(TypeError),
  });
});
