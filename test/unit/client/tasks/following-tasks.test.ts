import { afterEach, describe, expect, test, vi } from 'vitest';
import type { TaskState } from '../../../../src/client/model/client.js';
import { connect, McpError } from '../../../../src/client.js';
import { createServer, tool } from '../../../../src/index.js';
import type { Dispatch } from '../../../../src/protocol/call.js';
import { inProcessClient } from '../../../support/in-process-client.js';
import { until } from '../../../support/until.js';

afterEach(() => vi.restoreAllMocks());

const refusal = (): McpError =>
  new McpError('connect_failed', 'Nothing listens there.', { data: { unsent: true } });

/** A server that turns each call into a task and reports the status that the test chooses; a thrown error is an outage. */
function tasks(get: (poll: number, call: Parameters<Dispatch>[0]) => object, overrides: object = {}) {
  const base = { taskId: 'task-1', status: 'working', ttlMs: 60_000, pollIntervalMs: 1, ...overrides };
  const sent: Record<string, unknown>[] = [];
  let polls = 0;
  const dispatch: Dispatch = async (call) => {
    sent.push({ method: call.method, ...call.params });
    switch (call.method) {
      case 'server/discover':
        return { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
      case 'tools/call':
        return { resultType: 'task', ...base };
      case 'tasks/get':
        return { resultType: 'complete', ...base, ...get(++polls, call) };
      default:
        return { resultType: 'complete' };
    }
  };
  return { dispatch, sent, polls: () => polls };
}

const done = {
  status: 'completed',
  result: { resultType: 'complete', content: [{ type: 'text', text: 'done' }] },
};
const progress = (at: number) => ({
  _meta: { 'fullmcp/progress': { progress: at, total: 3, message: `${at}` } },
});

describe('the progress of a task', () => {
  test('reaches onProgress and the progress of connect, each value once', async () => {
    const server = tasks((poll) => (poll > 8 ? { ...done, ...progress(3) } : progress(Math.ceil(poll / 4))));
    const reports: unknown[] = [];
    const all: unknown[] = [];
    await using client = await inProcessClient(server, {
      progress: (at, call) => all.push([at.progress, call]),
    });
    const result = await client.callTool('t', {}, { onProgress: (at) => reports.push(at) });
    expect(result.text).toBe('done');
    expect(reports).toEqual([1, 2, 3].map((at) => ({ progress: at, total: 3, message: `${at}` })));
    expect(all[0]).toEqual([1, { method: 'tools/call', name: 't' }]);
    expect(all).toHaveLength(3);
  });

  test('is ignored if it is malformed, and a listener that throws does no harm', async () => {
    const odd = [{ progress: 'much' }, { progress: null }, 7, { progress: Number.NaN }, { progress: 1 }];
    const server = tasks((poll) =>
      poll > odd.length ? done : { _meta: { 'fullmcp/progress': odd[poll - 1] } },
    );
    const reports: unknown[] = [];
    await using client = await inProcessClient(server);
    await client.callTool(
      't',
      {},
      {
        onProgress: (at) => {
          reports.push(at);
          throw new Error('in the listener');
        },
      },
    );
    expect(reports).toEqual([{ progress: 1 }]);
    expect(client.info().problems).toEqual(['onProgress threw']);
  });

  test('arrives from a fullmcp server, also in a group, by polling and by notification', async () => {
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = createServer({
      name: 'rows',
      version: '1',
      tools: {
        rows: tool({
          task: { support: 'optional', pollIntervalMs: 20 },
          run: async (_, ctx) => {
            ctx.progress(1, 2, 'half');
            await gate;
            ctx.progress(2, 2);
            return 'done';
          },
        }),
      },
    });
    await using client = await connect({ mcpServers: { own: { target: server } } });
    const reports: unknown[] = [];
    const task = await client.startTool('own_rows');
    const states: (TaskState | undefined)[] = [];
    await using _subscription = await client.subscribe(
      { tasks: [task.id as string] },
      { onChange: (change) => states.push(change.kind === 'task' ? change.state : undefined) },
    );
    const result = task.result({ onProgress: (at) => reports.push(at) });
    await until('the first half is reported', () => reports.length > 0);
    expect(reports).toEqual([{ progress: 1, total: 2, message: 'half' }]);
    release();
    expect((await result).text).toBe('done');
    await until('the completion is reported', () => states.some((state) => state?.status === 'completed'));
    expect(states.at(-1)?.progress).toEqual({ progress: 2, total: 2 });
    await server.close();
  });
});

describe('a task that the client follows', () => {
  test('is polled until an unavailable server is back, and the outage is reported once', async () => {
    const server = tasks((poll) => {
      if (poll > 1 && poll < 8) throw poll % 2 ? refusal() : new McpError('connection_closed', 'It broke.');
      return poll < 10 ? {} : done;
    });
    await using client = await inProcessClient(server, { maxRetries: 0 });
    expect((await client.callTool('t')).text).toBe('done');
    expect(client.info().problems).toHaveLength(1);
    expect(client.info().problems[0]).toContain('task-1');
  });

  test('is polled again after overloaded, 502, an internal error and a timeout', async () => {
    const errors = [
      new McpError('overloaded', 'Busy.', { status: 503 }),
      new McpError('bad_response', '502', { data: { status: 502 } }),
      new McpError('internal_error', 'Internal error', { number: -32603 }),
      new McpError('timeout', 'No answer.'),
    ];
    const server = tasks((poll) => {
      const error = errors[poll - 1];
      if (error) throw error;
      return done;
    });
    await using client = await inProcessClient(server, { maxRetries: 0 });
    expect((await client.callTool('t')).text).toBe('done');
  });

  test('is given up when it must have expired while its server was unavailable, with its id in the error', async () => {
    const server = tasks(
      () => {
        throw refusal();
      },
      { ttlMs: 1000 },
    );
    await using client = await inProcessClient(server, { maxRetries: 0 });
    const error = await client.callTool('t').catch((reason) => reason);
    expect(error).toMatchObject({ code: 'timeout', data: { taskId: 'task-1' } });
    expect(error.message).toContain('Nothing listens there.');
    expect(server.polls()).toBeGreaterThan(2);
    // The delays grow.
    expect(server.polls()).toBeLessThan(20);
  });

  test("is given up at the client's maxTimeoutMs, unless the call has its own", async () => {
    const server = tasks((poll) => (poll > 30 ? done : {}));
    await using client = await inProcessClient(server, { maxTimeoutMs: 50 });
    await expect(client.callTool('t')).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('is not done after 50 ms (maxTimeoutMs)'),
      data: { taskId: 'task-1' },
    });
    await expect(client.task('task-1').result()).rejects.toMatchObject({ code: 'timeout' });
    const own = await client.callTool('t', {}, { maxTimeoutMs: 60_000 });
    expect(own.text).toBe('done');
  });

  test('is given up at once by the signal and at the limit by maxTimeoutMs, with its id in the error', async () => {
    const server = tasks(() => {
      throw refusal();
    });
    await using client = await inProcessClient(server, { maxRetries: 0 });
    const stop = new AbortController();
    const call = client.callTool('t', {}, { signal: stop.signal });
    await until('it was polled', () => server.polls() > 1);
    stop.abort();
    await expect(call).rejects.toMatchObject({ code: 'cancelled', data: { taskId: 'task-1' } });
    await expect(client.callTool('t', {}, { maxTimeoutMs: 100 })).rejects.toMatchObject({
      code: 'timeout',
      data: { taskId: 'task-1' },
    });
  });

  test('is given up when the client is closed, with its id in the error', async () => {
    const server = tasks(() => ({}));
    const client = await inProcessClient(server);
    const call = client.callTool('t').catch((reason) => reason);
    await until('it was polled', () => server.polls() > 0);
    await client.close();
    expect(await call).toMatchObject({ code: 'connection_closed', data: { taskId: 'task-1' } });
  });

  test('is not given up because the clock of either machine jumps', async () => {
    const server = tasks((poll) => {
      if (poll === 2) vi.spyOn(Date, 'now').mockReturnValue(Date.UTC(2040, 0));
      if (poll > 2 && poll < 6) throw refusal();
      if (poll < 8) return { createdAt: '2026-01-01T00:00:00Z', lastUpdatedAt: '2039-01-01T00:00:00Z' };
      return done;
    });
    await using client = await inProcessClient(server, { maxRetries: 0 });
    expect((await client.callTool('t')).text).toBe('done');
  });
});

describe('an error of a call that became a task', () => {
  test.each([
    [
      'a task that failed',
      { status: 'failed', error: { code: -32602, message: 'no', data: { field: 'a' } } },
      { field: 'a' },
    ],
    [
      'a task that failed with data that is not an object',
      { status: 'failed', error: { code: 1, message: 'no', data: 'why' } },
      { data: 'why' },
    ],
    ['a task that failed without an error', { status: 'failed' }, {}],
    ['a task that was cancelled', { status: 'cancelled' }, {}],
    ['a task without a result', { status: 'completed' }, {}],
    ['a state that cannot be read', { status: 'odd' }, {}],
    ['a result that cannot be read', { status: 'completed', result: {} }, {}],
    [
      'a peer that names another task',
      { status: 'failed', error: { code: 1, message: 'x', data: { taskId: 'other' } } },
      {},
    ],
  ])('contains the id of the task: %s', async (_name, state, data) => {
    const server = tasks(() => state);
    await using client = await inProcessClient(server);
    await expect(client.callTool('t')).rejects.toMatchObject({ data: { ...data, taskId: 'task-1' } });
  });

  test('contains the id also if the status, an answer or the cancellation fails', async () => {
    const dispatch: Dispatch = async (call) => {
      if (call.method === 'server/discover')
        return { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: {} };
      throw new McpError('invalid_params', 'Unknown task', { number: -32602 });
    };
    await using client = await inProcessClient({ dispatch });
    const task = client.task('gone');
    const unknown = { code: 'invalid_params', number: -32602, data: { taskId: 'gone' } };
    await expect(task.status()).rejects.toMatchObject(unknown);
    await expect(task.answer({})).rejects.toMatchObject(unknown);
    await expect(task.cancel()).rejects.toMatchObject(unknown);
    await expect(task.result()).rejects.toMatchObject(unknown);
  });

  test('is a bad response if the task has no id', async () => {
    await using client = await inProcessClient(tasks(() => ({}), { taskId: 7 }));
    await expect(client.callTool('t')).rejects.toMatchObject({ code: 'bad_response' });
  });
});

describe('polling of a task', () => {
  test.each([
    ['every 20 ms if the server requests 0', 0],
    ['every second if the server requests a negative interval', -5],
    ['every second if the server requests an interval that is not a number', 'soon'],
  ])('happens %s', async (_name, pollIntervalMs) => {
    const waits: number[] = [];
    const timer = globalThis.setTimeout;
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms = 0) => {
      waits.push(ms);
      return timer(work, 0);
    }) as typeof setTimeout);
    await using client = await inProcessClient(tasks((poll) => (poll < 5 ? {} : done), { pollIntervalMs }));
    waits.length = 0;
    await client.callTool(
      't',
      {},
      { timeoutMs: Number.POSITIVE_INFINITY, maxTimeoutMs: Number.POSITIVE_INFINITY },
    );
    const expected = pollIntervalMs === 0 ? 20 : 1000;
    expect(waits.filter((ms) => ms === expected)).toHaveLength(5);
  });

  test('happens every minute if the server requests a longer interval', async () => {
    const timer = globalThis.setTimeout;
    const waits: number[] = [];
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms = 0) => {
      waits.push(ms);
      return timer(work, 0);
    }) as typeof setTimeout);
    await using client = await inProcessClient(tasks(() => done, { pollIntervalMs: 1e12 }));
    await client.callTool(
      't',
      {},
      { timeoutMs: Number.POSITIVE_INFINITY, maxTimeoutMs: Number.POSITIVE_INFINITY },
    );
    expect(waits).toContain(60_000);
    expect(waits).not.toContain(1e12);
  });
});

describe('the questions of a task', () => {
  const question = {
    method: 'elicitation/create',
    params: { message: 'Name?', requestedSchema: { type: 'object', properties: {} } },
  };
  const open = { status: 'input_required', inputRequests: { name: question } };

  test('are put to the user once, even if the server was unavailable when the answer was sent', async () => {
    const inner = tasks((poll) => (poll < 6 ? open : done));
    let updates = 0;
    const dispatch: Dispatch = async (call) => {
      if (call.method === 'tasks/update' && ++updates < 3)
        throw new McpError('connection_closed', 'It broke.');
      return inner.dispatch(call);
    };
    let questions = 0;
    await using client = await inProcessClient(
      { dispatch },
      {
        maxRetries: 0,
        elicit: () => {
          questions++;
          return { action: 'accept', content: {} };
        },
      },
    );
    expect((await client.callTool('t')).text).toBe('done');
    expect({ questions, updates }).toEqual({ questions: 1, updates: 3 });
  });

  test('are put to the user again if another question has the same key', async () => {
    const other = { ...question, params: { ...question.params, message: 'Really?' } };
    const server = tasks((poll) =>
      poll < 3 ? open : poll < 5 ? { ...open, inputRequests: { name: other } } : done,
    );
    const messages: string[] = [];
    await using client = await inProcessClient(server, {
      elicit: ({ message }) => {
        messages.push(message);
        return { action: 'decline' };
      },
    });
    await client.callTool('t');
    expect(messages).toEqual(['Name?', 'Really?']);
  });

  test.each([
    ['the handlers are blamed if they accept', 'accept', 'invalid_params', /"name".*handlers/],
    ['the server is blamed if the user declines', 'decline', 'bad_response', /^The server asked/],
  ] as const)(
    'end the call after maxRounds answers if they stay open: %s',
    async (_who, action, code, message) => {
      const server = tasks(() => open);
      let questions = 0;
      await using client = await inProcessClient(server, {
        maxRounds: 3,
        elicit: () => {
          questions++;
          return { action };
        },
      });
      const error = await client.callTool('t').catch((reason) => reason);
      expect(error).toMatchObject({ code, data: { taskId: 'task-1' } });
      expect(error.message).toMatch(message);
      expect(questions).toBe(3);
    },
  );

  test('end the call at once with the error of the handler if it throws', async () => {
    const server = tasks(() => open);
    await using client = await inProcessClient(server, {
      elicit: () => {
        throw new Error('the screen is broken');
      },
    });
    await expect(client.callTool('t')).rejects.toMatchObject({
      code: 'internal_error',
      message: 'tools/call "t" failed: the screen is broken',
      cause: { message: 'the screen is broken' },
      data: { taskId: 'task-1' },
    });
    expect(server.polls()).toBe(1);
  });

  test('do not use up the time of the call while the user answers', async () => {
    let answer: (value: { action: 'decline' }) => void = () => {};
    const server = tasks((poll) => (poll === 1 ? open : done));
    await using client = await inProcessClient(server, {
      elicit: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    const call = client.callTool('t', {}, { maxTimeoutMs: 400 });
    await until('it asks', () => server.polls() === 1);
    const start = performance.now();
    await until('more time has passed than the call has', () => performance.now() - start > 600);
    answer({ action: 'decline' });
    expect((await call).text).toBe('done');
  });
});
