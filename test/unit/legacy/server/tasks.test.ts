import { createServer, McpError, type Middleware, tool } from 'fullmcp';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { channelSession } from '../../../../src/legacy/server/channel-session.js';
import { openChannel } from '../../../../src/transports/server/channel.js';
import { until } from '../../../support/until.js';

// The tasks of 2025-11-25 on a connection of their own.

interface Answer {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

// Sets the caller as middleware does; `user` is the current caller.
let user: string | undefined;
const gets: string[] = [];
const names: Middleware = (call, next) => {
  if (call.method === 'tasks/get') gets.push(call.method);
  return next(user === undefined ? call : { ...call, auth: { subject: user, scopes: [], claims: {} } });
};
const answers: string[] = [];

const server = createServer({
  name: 'test',
  version: '1.0.0',
  use: [names],
  logger: () => undefined,
  secret: 'x'.repeat(32),
  tools: {
    plain: tool({ run: () => 'plain' }),
    slow: tool({ task: 'optional', input: z.object({ n: z.number() }), run: ({ n }) => n * 2 }),
    must: tool({ task: 'required', run: () => 'done' }),
    fails: tool({ task: 'optional', run: () => Promise.reject(new McpError('invalid_params', 'no')) }),
    errs: tool({
      task: 'optional',
      run: () => ({ content: [{ type: 'text', text: 'bad' }], isError: true }),
    }),
    asks: tool({
      task: 'optional',
      run: async (_, ctx) =>
        (await ctx.ask('name', { message: 'Name?', schema: z.object({ name: z.string() }) })).name,
    }),
    picky: tool({
      task: 'optional',
      run: async (_, ctx) => {
        const schema = z.object({ name: z.string().max(3) });
        answers.push((await ctx.ask('name', { message: 'Short name?', schema })).name);
        return answers.at(-1);
      },
    }),
    hangs: tool({
      task: 'optional',
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    }),
  },
});

async function connect(revision = '2025-11-25') {
  const received: Answer[] = [];
  const send = (text: string): void => void received.push(JSON.parse(text));
  const channel = openChannel({
    dispatch: server.dispatch,
    send,
    session: channelSession(server.dispatch, send),
  });
  open.push(() => channel.close({ deadlineMs: 0 }));
  let last = 0;
  const request = async (method: string, params: object = {}): Promise<Answer> => {
    const id = ++last;
    channel.receive(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    await until(`${method} is answered`, () => received.some((answer) => answer.id === id));
    return received.find((answer) => answer.id === id) as Answer;
  };
  const initialized = await request('initialize', {
    protocolVersion: revision,
    capabilities: { elicitation: {} },
    clientInfo: { name: 'c', version: '1' },
  });
  return {
    request,
    received,
    channel,
    capabilities: initialized.result?.['capabilities'] as Record<string, unknown>,
  };
}

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  user = undefined;
  gets.length = 0;
  await Promise.all(open.splice(0).map((close) => close()));
});

const taskOf = ({ result }: Answer) => result?.['task'] as Record<string, unknown>;

describe('tasks in a session of 2025-11-25', () => {
  it('are declared with the server and with each tool', async () => {
    const { request, capabilities } = await connect();
    expect(capabilities['tasks']).toEqual({ cancel: {}, requests: { tools: { call: {} } } });
    expect(capabilities).not.toHaveProperty('extensions');
    const { result = {} } = await request('tools/list');
    const support = (result['tools'] as { name: string; execution?: object }[]).map(({ name, execution }) => [
      name,
      execution,
    ]);
    expect(support.slice(0, 3)).toEqual([
      ['plain', undefined],
      ['slow', { taskSupport: 'optional' }],
      ['must', { taskSupport: 'required' }],
    ]);
  });

  it('do not exist in older revisions', async () => {
    const { request, capabilities } = await connect('2025-06-18');
    expect(capabilities).not.toHaveProperty('tasks');
    expect(JSON.stringify(await request('tools/list'))).not.toContain('taskSupport');
    expect(await request('tasks/get', { taskId: 'x' })).toMatchObject({ error: { code: -32601 } });
    expect(await request('tools/call', { name: 'slow', arguments: { n: 1 }, task: {} })).toMatchObject({
      result: { structuredContent: { result: 2 } },
    });
  });

  it('return their result to tasks/result', async () => {
    const { request } = await connect();
    const task = taskOf(
      await request('tools/call', { name: 'slow', arguments: { n: 2 }, task: { ttl: 60_000 } }),
    );
    expect(task).toMatchObject({ status: 'working', ttl: 3_600_000, pollInterval: 1000 });
    const { taskId } = task;
    expect(await request('tasks/result', { taskId })).toMatchObject({
      result: {
        structuredContent: { result: 4 },
        _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
      },
    });
    expect(await request('tasks/get', { taskId })).toMatchObject({ result: { taskId, status: 'completed' } });
  });

  it('have the status failed after an error of the tool, and after an error of the protocol', async () => {
    const { request } = await connect();
    const failed = taskOf(await request('tools/call', { name: 'fails', task: {} }));
    expect(await request('tasks/result', { taskId: failed['taskId'] })).toMatchObject({
      error: { code: -32602, message: 'no' },
    });
    const erred = taskOf(await request('tools/call', { name: 'errs', task: {} }));
    expect(await request('tasks/result', { taskId: erred['taskId'] })).toMatchObject({
      result: { isError: true },
    });
    for (const { taskId } of [failed, erred]) {
      expect(await request('tasks/get', { taskId })).toMatchObject({ result: { status: 'failed' } });
    }
  });

  it('ask on the request for their result', async () => {
    const { request, received, channel } = await connect();
    const { taskId } = taskOf(await request('tools/call', { name: 'asks', task: {} }));
    const result = request('tasks/result', { taskId });
    await until('the client is asked', () => received.some(({ method }) => method === 'elicitation/create'));
    const question = received.find(({ method }) => method === 'elicitation/create') as Answer;
    expect(question.params).toMatchObject({
      message: 'Name?',
      _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
    });
    expect(await request('tasks/get', { taskId })).toMatchObject({ result: { status: 'input_required' } });
    channel.receive(
      JSON.stringify({
        jsonrpc: '2.0',
        id: question.id,
        result: { action: 'accept', content: { name: 'Ann' } },
      }),
    );
    expect(await result).toMatchObject({ result: { content: [{ text: 'Ann' }] } });
  });

  it('are awaited in the name of their caller, without polling the store', async () => {
    user = 'ada';
    const { request } = await connect();
    const { taskId } = taskOf(await request('tools/call', { name: 'hangs', task: {} }));
    const result = request('tasks/result', { taskId });
    // Timers run meanwhile, and the store is read a few times, not thousands.
    await new Promise((resolve) => setImmediate(() => setTimeout(resolve, 0)));
    expect(gets.length).toBeLessThan(10);
    expect(await request('tasks/cancel', { taskId })).toMatchObject({ result: { status: 'cancelled' } });
    expect(await result).toMatchObject({ error: { code: -32602 } });
  });

  it('of another caller are unknown, and are not awaited', async () => {
    user = 'ada';
    const { request } = await connect();
    const { taskId } = taskOf(await request('tools/call', { name: 'hangs', task: {} }));
    user = 'bob';
    expect(await request('tasks/result', { taskId })).toMatchObject({
      error: { code: -32602, message: expect.stringContaining('Unknown task') },
    });
    user = 'ada';
    await request('tasks/cancel', { taskId });
  });

  it('that are cancelled while the user is asked fail tasks/result at once and withdraw the question', async () => {
    const { request, received } = await connect();
    const { taskId } = taskOf(await request('tools/call', { name: 'asks', task: {} }));
    const result = request('tasks/result', { taskId });
    await until('the client is asked', () => received.some(({ method }) => method === 'elicitation/create'));
    const question = received.find(({ method }) => method === 'elicitation/create') as Answer;
    await request('tasks/cancel', { taskId });
    expect(await result).toMatchObject({ error: { code: -32602 } });
    expect(received.find(({ method }) => method === 'notifications/cancelled')).toMatchObject({
      params: { requestId: question.id },
    });
  });

  it('need only one answer if two requests wait for their result', async () => {
    const { request, received, channel } = await connect();
    const { taskId } = taskOf(await request('tools/call', { name: 'asks', task: {} }));
    const results = [request('tasks/result', { taskId }), request('tasks/result', { taskId })];
    const questions = (): Answer[] => received.filter(({ method }) => method === 'elicitation/create');
    await until('the client is asked twice', () => questions().length === 2);
    const answer = { action: 'accept', content: { name: 'Ann' } };
    channel.receive(JSON.stringify({ jsonrpc: '2.0', id: questions()[1]?.id, result: answer }));
    for (const result of await Promise.all(results))
      expect(result).toMatchObject({ result: { content: [{ text: 'Ann' }] } });
  });

  it('ask a client that only sends invalid answers 32 times', async () => {
    const { request, received, channel } = await connect();
    const { taskId } = taskOf(await request('tools/call', { name: 'picky', task: {} }));
    const result = request('tasks/result', { taskId });
    let answeredUpTo = 0;
    const over = result.then(() => true);
    for (;;) {
      const next = () => received.filter(({ method }) => method === 'elicitation/create')[answeredUpTo];
      const ended = await Promise.race([
        over,
        until('the client is asked again', () => next() !== undefined).then(() => false),
      ]);
      if (ended) break;
      const nonsense = { action: 'accept', content: { name: 'far too long' } };
      channel.receive(JSON.stringify({ jsonrpc: '2.0', id: next()?.id, result: nonsense }));
      answeredUpTo++;
    }
    expect(answeredUpTo).toBe(32);
    expect(await result).toMatchObject({ error: { message: expect.stringContaining('32 times') } });
    expect(answers).toEqual([]);
    await request('tasks/cancel', { taskId });
  });

  it('with an id that is not a string are rejected', async () => {
    const { request } = await connect();
    for (const taskId of [5, null, undefined])
      for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
        expect(await request(method, { taskId }), method).toMatchObject({ error: { code: -32602 } });
  });

  it('can be cancelled only once, and have no result then', async () => {
    const { request } = await connect();
    const { taskId } = taskOf(await request('tools/call', { name: 'hangs', task: {} }));
    expect(await request('tasks/cancel', { taskId })).toMatchObject({
      result: { taskId, status: 'cancelled' },
    });
    expect(await request('tasks/cancel', { taskId })).toMatchObject({ error: { code: -32602 } });
    expect(await request('tasks/result', { taskId })).toMatchObject({ error: { code: -32602 } });
  });

  it('are rejected for a tool without them, required for a tool that requires them, and not listed', async () => {
    const { request } = await connect();
    expect(await request('tools/call', { name: 'plain', task: {} })).toMatchObject({
      error: { code: -32601 },
    });
    expect(await request('tools/call', { name: 'must' })).toMatchObject({ error: { code: -32601 } });
    expect(await request('tools/call', { name: 'slow', arguments: { n: 1 } })).toMatchObject({
      result: { structuredContent: { result: 2 } },
    });
    expect(await request('tasks/list')).toMatchObject({ error: { code: -32601 } });
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      expect(await request(method, { taskId: 'nope' }), method).toMatchObject({
        error: { code: -32602, message: 'Unknown task: nope' },
      });
    }
  });
});
