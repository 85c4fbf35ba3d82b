import { createServer, McpError, tool } from 'fullmcp';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Outcome } from '../../../../src/protocol/call.js';
import { until } from '../../../support/until.js';
import {
  closeLinks,
  linkTo,
  linkToScript,
  type Message,
  type Script,
  serverAnswer,
  type TestLink,
} from '../../../support/wires/session-links.js';

afterEach(closeLinks);

const capabilities = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const task = 'required';
const server = createServer({
  name: 'tasks',
  version: '1.0.0',
  logger: () => undefined,
  secret: 'x'.repeat(32),
  tools: {
    plain: tool({ run: () => 'plain' }),
    maybe: tool({ task: 'optional', run: () => 'at once' }),
    must: tool({ task, output: z.array(z.number()), run: () => [1, 2] }),
    fails: tool({ task, run: () => Promise.reject(new McpError('invalid_params', 'no')) }),
    errs: tool({ task, run: () => ({ content: [{ type: 'text', text: 'bad' }], isError: true }) }),
    asks: tool({
      task,
      run: async (_, ctx) =>
        (await ctx.ask('name', { message: 'Name?', schema: z.object({ name: z.string() }) })).name,
    }),
    hangs: tool({
      task,
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    }),
  },
});

async function start({ call }: Pick<TestLink, 'call'>, name: string): Promise<Outcome> {
  await call('tools/list');
  return call('tools/call', { name });
}

async function waitForEnd({ call }: Pick<TestLink, 'call'>, { taskId }: Message): Promise<Outcome> {
  let state: Outcome = { resultType: '' };
  await until('the task has ended', async () => {
    state = await call('tasks/get', { taskId });
    return state['status'] !== 'working' && state['status'] !== 'input_required';
  });
  return state;
}

describe('tasks of a fullmcp server in a session of 2025-11-25', () => {
  it('are created for a tool that requires them, and end with its result', async () => {
    const link = await linkTo(server.dispatch, { capabilities });
    const created = await start(link, 'must');
    expect(created).toEqual({
      resultType: 'task',
      taskId: expect.any(String),
      status: 'working',
      createdAt: expect.any(String),
      lastUpdatedAt: expect.any(String),
      ttlMs: 3_600_000,
      pollIntervalMs: 1000,
    });
    expect(await waitForEnd(link, created)).toMatchObject({
      resultType: 'complete',
      taskId: created['taskId'],
      status: 'completed',
      ttlMs: 3_600_000,
      result: { resultType: 'complete', content: [{ text: '[1,2]' }], structuredContent: [1, 2] },
    });
  });

  it('are created even if the tool that requires them was not listed', async () => {
    const { call } = await linkTo(server.dispatch, { capabilities });
    expect(await call('tools/call', { name: 'must' })).toMatchObject({ resultType: 'task' });
  });

  it('are not created for tools that do not require them, nor for clients that do not support them', async () => {
    const link = await linkTo(server.dispatch, { capabilities });
    expect(await start(link, 'plain')).toMatchObject({ resultType: 'complete' });
    expect(await start(link, 'maybe')).toMatchObject({ resultType: 'complete' });
    const unable = await linkTo(server.dispatch);
    await expect(start(unable, 'must')).rejects.toMatchObject({ code: 'method_not_found' });
  });

  it('fail with the error of a call, and complete with a result even if that is an error', async () => {
    const link = await linkTo(server.dispatch, { capabilities });
    const failed = await waitForEnd(link, await start(link, 'fails'));
    expect(failed).toMatchObject({ status: 'failed', error: { code: -32602, message: 'no' } });
    expect(failed).not.toHaveProperty('result');
    const erred = await waitForEnd(link, await start(link, 'errs'));
    expect(erred).toMatchObject({ status: 'completed', result: { isError: true } });
    expect(erred).not.toHaveProperty('error');
  });

  it('ask the handlers of the client, while their result is requested only once', async () => {
    let answer: ((answer: Message) => void) | undefined;
    const link = await linkTo(server.dispatch, {
      capabilities,
      answer: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    const created = await start(link, 'asks');
    const { taskId } = created;
    let state: Outcome = created;
    await until('the task needs an answer', async () => {
      state = await link.call('tasks/get', { taskId });
      return state['status'] === 'input_required';
    });
    expect(state['inputRequests']).toEqual({});
    await until('the client is asked', () => link.questions.length > 0);
    await link.call('tasks/get', { taskId });
    expect(link.sent.filter(({ method }) => method === 'tasks/result')).toHaveLength(1);
    await expect(link.call('tasks/update', { taskId, inputResponses: {} })).rejects.toMatchObject({
      code: 'method_not_found',
      message: expect.stringContaining('handlers'),
    });
    answer?.({ action: 'accept', content: { name: 'Ann' } });
    expect(await waitForEnd(link, created)).toMatchObject({ result: { content: [{ text: 'Ann' }] } });
    expect(link.questions).toHaveLength(1);
  });

  it('can be cancelled, even after they are cancelled, unless they are unknown', async () => {
    const link = await linkTo(server.dispatch, { capabilities });
    const { taskId } = await start(link, 'hangs');
    for (let i = 0; i < 2; i++)
      expect(await link.call('tasks/cancel', { taskId })).toEqual({ resultType: 'complete' });
    expect(await link.call('tasks/get', { taskId })).toMatchObject({ status: 'cancelled' });
    await expect(link.call('tasks/cancel', { taskId: 'nope' })).rejects.toMatchObject({
      code: 'invalid_params',
      message: 'Unknown task: nope',
    });
  });

  it('do not exist in older sessions', async () => {
    const { call } = await linkTo(server.dispatch, { capabilities, revision: '2025-06-18' });
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
      await expect(call(method, { taskId: 'x' })).rejects.toMatchObject({ code: 'method_not_found' });
  });
});

describe('tasks of another server', () => {
  const initialize = {
    ...serverAnswer,
    capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
  };
  const open = (answer: NonNullable<Script['answer']>) =>
    linkToScript({ initialize, answer }, { capabilities });

  it('are requested for a tool that requires them, and the server may return a result instead', async () => {
    const link = await open(({ method }) =>
      method === 'tools/list'
        ? { tools: [{ name: 'x', execution: { taskSupport: 'required' } }, null] }
        : { content: [] },
    );
    expect(await start(link, 'x')).toEqual({ resultType: 'complete', content: [] });
    expect(link.sent.at(-1)).toMatchObject({ method: 'tools/call', params: { name: 'x', task: {} } });
  });

  it('are not tried on a tool that is known not to support them', async () => {
    const link = await open(({ method }) => {
      if (method === 'tools/list') return { tools: [{ name: 'x' }] };
      throw { code: -32601, message: 'Gone' };
    });
    await expect(start(link, 'x')).rejects.toMatchObject({ message: 'Gone' });
    expect(link.sent.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });

  it('are announced to the calls that listen to them', async () => {
    const { call, far, notifications } = await open(() => ({}));
    const events: Message[] = [];
    const controller = new AbortController();
    const outcome = call(
      'subscriptions/listen',
      { notifications: { taskIds: ['t1'] } },
      { signal: controller.signal, notify: (method, params) => void events.push({ method, ...params }) },
    );
    await until('it is acknowledged', () => events.length === 1);
    expect(events[0]).toMatchObject({ notifications: {} });
    for (const taskId of ['t2', 't1']) {
      const params = { taskId, status: 'working', ttl: null, pollInterval: 5 };
      far.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tasks/status', params }));
    }
    await until('both have arrived', () => notifications.length === 2);
    expect(events.slice(1)).toEqual([
      {
        method: 'notifications/tasks',
        taskId: 't1',
        status: 'working',
        ttlMs: null,
        pollIntervalMs: 5,
        _meta: { 'io.modelcontextprotocol/subscriptionId': 'call' },
      },
    ]);
    controller.abort();
    await outcome;
  });

  it('that are cancelled have the request for their result cancelled as well', async () => {
    const { call, sent } = await open(({ method }) => {
      if (method === 'tasks/get') return { taskId: 't1', status: 'input_required' };
      return method === 'tasks/cancel' ? { taskId: 't1', status: 'cancelled' } : undefined;
    });
    await call('tasks/get', { taskId: 't1' });
    await until('the result is requested', () => sent.some(({ method }) => method === 'tasks/result'));
    await call('tasks/cancel', { taskId: 't1' });
    const { id } = sent.find(({ method }) => method === 'tasks/result') as Message;
    await until('the request is cancelled', () =>
      sent.some(({ method, params }) => method === 'notifications/cancelled' && params.requestId === id),
    );
  });
});
