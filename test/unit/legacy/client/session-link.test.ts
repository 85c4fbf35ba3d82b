import { audio, createServer, McpError, prompt, resource, text, tool, user } from 'fullmcp';
import { afterEach, describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { SERVER_INFO } from '../../../../src/protocol/meta.js';
import { sessionRevisions } from '../../../../src/protocol/tables/features.js';
import { until } from '../../../support/until.js';
import {
  closeLinks,
  linkTo,
  linkToScript,
  type Message,
  serverAnswer,
} from '../../../support/wires/session-links.js';

afterEach(closeLinks);

const server = createServer({
  name: 'sessions',
  version: '2.0.0',
  title: 'Sessions',
  instructions: 'Be kind.',
  changes: true,
  logger: () => undefined,
  secret: 'x'.repeat(32),
  methods: { 'acme/echo': { run: ({ word }) => ({ word }) } },
  tools: {
    add: tool({
      input: z.object({ a: z.number(), b: z.number() }),
      output: z.object({ sum: z.number() }),
      run: ({ a, b }) => ({ sum: a + b }),
    }),
    list: tool({ output: z.array(z.number()), run: () => [1, 2] }),
    nothing: tool({ run: () => null }),
    number: tool({ run: () => '42' }),
    meta: tool({ run: () => ({ content: [text('[1]')], _meta: { 'com.example/own': 1 } }) }),
    fails: tool({ run: () => Promise.reject(new McpError('invalid_params', 'no')) }),
    steps: tool({
      run: (_, { progress }) => {
        progress(1, 2, 'half');
        return 'done';
      },
    }),
    logs: tool({
      run: (_, { log }) => {
        log.debug('fine');
        log.error('bad');
        return 'logged';
      },
    }),
    hangs: tool({
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    }),
    asks: tool({
      run: async (_, ctx) => {
        const { name } = await ctx.ask('who', { message: 'Name?', schema: z.object({ name: z.string() }) });
        const { content } = await ctx.sample('idea', {
          messages: [{ role: 'user', content: text('An idea?') }],
          maxTokens: 10,
        });
        const roots = await ctx.roots('folders');
        return [name, JSON.stringify(content), roots[0]?.uri].join(' ');
      },
    }),
  },
  resources: {
    'config://app': resource({ read: () => 'x' }),
    'doc://{id}': resource({ complete: { id: () => ['1', '2'] }, read: () => 'doc' }),
  },
  prompts: { sound: prompt({ run: () => [user(audio('YXVk', 'audio/wav'))] }) },
});

describe.each(sessionRevisions)('a session of %s with a fullmcp server', (revision) => {
  const link = (options: Parameters<typeof linkTo>[1] = {}) =>
    linkTo(server.dispatch, { revision, ...options });

  it("opens with a handshake and reports the server's description", async () => {
    const { link: opened, sent } = await link({ capabilities: { roots: {} } });
    expect(opened.revision).toBe(revision);
    expect(opened.transport).toBe('memory');
    expect(sent[0]).toMatchObject({
      method: 'initialize',
      params: {
        protocolVersion: revision,
        capabilities: { roots: { listChanged: true } },
        clientInfo: { name: 'c', version: '1' },
      },
    });
    expect(sent[1]).toEqual({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect(opened.discovered).toMatchObject({
      supportedVersions: [revision],
      instructions: 'Be kind.',
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} },
      _meta: { [SERVER_INFO]: { name: 'sessions', version: '2.0.0', title: 'Sessions' } },
    });
  });

  it('answers server/discover from the handshake, after a ping', async () => {
    const { call, link: opened, sent } = await link();
    expect(await call('server/discover')).toEqual({ ...opened.discovered, resultType: 'complete' });
    expect(sent.at(-1)).toMatchObject({ method: 'ping' });
  });

  it('lists everything, reads resources, gets prompts and completes arguments', async () => {
    const { call } = await link();
    const tools = await call('tools/list');
    expect(tools.resultType).toBe('complete');
    expect(tools['tools']).toContainEqual(expect.objectContaining({ name: 'add' }));
    expect(await call('resources/list')).toMatchObject({ resources: [{ uri: 'config://app' }] });
    expect(await call('resources/templates/list')).toMatchObject({
      resourceTemplates: [{ uriTemplate: 'doc://{id}' }],
    });
    expect(await call('prompts/list')).toMatchObject({ prompts: [{ name: 'sound' }] });
    expect(await call('resources/read', { uri: 'config://app' })).toMatchObject({
      resultType: 'complete',
      contents: [{ text: 'x' }],
    });
    expect(await call('prompts/get', { name: 'sound' })).toMatchObject({ messages: [{ role: 'user' }] });
    expect(
      await call('completion/complete', {
        ref: { type: 'ref/resource', uri: 'doc://{id}' },
        argument: { name: 'id', value: '' },
      }),
    ).toMatchObject({ completion: { values: ['1', '2'] } });
  });

  it('returns results as they were before the server translated them', async () => {
    const { call } = await link();
    const result = async (name: string, args: object = {}): Promise<Message> =>
      call('tools/call', { name, arguments: args });
    expect(await result('add', { a: 1, b: 2 })).toEqual({
      resultType: 'complete',
      content: [text('{"sum":3}')],
      structuredContent: { sum: 3 },
    });
    expect(await result('list')).toEqual({
      resultType: 'complete',
      content: [text('[1,2]')],
      structuredContent: [1, 2],
    });
    expect(await result('nothing')).toEqual({
      resultType: 'complete',
      content: [text('null')],
      structuredContent: null,
    });
    expect(await result('number')).toEqual({ resultType: 'complete', content: [text('42')] });
    expect(await result('meta')).toEqual({
      resultType: 'complete',
      content: [text('[1]')],
      _meta: { 'com.example/own': 1 },
    });
  });

  it("throws the server's errors", async () => {
    const { call } = await link();
    await expect(call('tools/call', { name: 'fails' })).rejects.toMatchObject({
      code: 'invalid_params',
      message: 'no',
    });
    await expect(call('resources/read', { uri: 'no://such' })).rejects.toMatchObject({
      code: 'resource_not_found',
    });
  });

  it('reports progress to its call', async () => {
    const { call } = await link();
    const events: unknown[] = [];
    await call(
      'tools/call',
      { name: 'steps', _meta: { progressToken: 'mine' } },
      { notify: (method, params) => void events.push([method, params]) },
    );
    expect(events).toEqual([
      ['notifications/progress', { progressToken: 'mine', progress: 1, total: 2, message: 'half' }],
    ]);
  });

  it('fails a cancelled call with the reason, and tells the server', async () => {
    const { call, sent } = await link();
    const controller = new AbortController();
    const hanging = call('tools/call', { name: 'hangs' }, { signal: controller.signal });
    await until('it is called', () => sent.some(({ params }) => params?.name === 'hangs'));
    controller.abort(new McpError('cancelled', 'Enough'));
    await expect(hanging).rejects.toMatchObject({ code: 'cancelled', message: 'Enough' });
    await until('the server is told', () => sent.at(-1)?.['method'] === 'notifications/cancelled');
  });

  it('receives real requests from the server and answers them', async () => {
    const { call, questions } = await link({
      capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
      async answer({ method }) {
        if (method === 'elicitation/create') return { action: 'accept', content: { name: 'Ann' } };
        if (method === 'roots/list') return { roots: [{ uri: 'file:///a' }] };
        return { role: 'assistant', content: { type: 'text', text: 'Tea' }, model: 'm' };
      },
    });
    const { content } = await call('tools/call', { name: 'asks' });
    expect(content).toMatchObject([{ text: expect.stringMatching(/^Ann .*Tea.* file:\/\/\/a$/) }]);
    expect(questions.map(({ method }) => method)).toEqual([
      'elicitation/create',
      'sampling/createMessage',
      'roots/list',
    ]);
  });

  it('forwards custom methods of the server, and rejects methods that sessions do not have', async () => {
    const { call } = await link();
    expect(await call('acme/echo', { word: 'a' })).toMatchObject({ resultType: 'complete', word: 'a' });
    await expect(call('acme/none')).rejects.toMatchObject({ code: 'method_not_found' });
    await expect(call('tasks/update', { taskId: 'x' })).rejects.toMatchObject({ code: 'method_not_found' });
    await expect(call('initialize')).rejects.toMatchObject({ code: 'method_not_found' });
  });

  it('sends a notification of the client', async () => {
    const { call, sent } = await link();
    expect(await call('notifications/roots/list_changed')).toEqual({ resultType: 'complete' });
    await until('it is sent', () => sent.length === 3);
    expect(sent.at(-1)).toEqual({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' });
  });

  it('fails its calls when the server disconnects, and reports that once', async () => {
    const { call, far, lost, sent } = await link();
    const hanging = call('tools/call', { name: 'hangs' });
    await until('it is called', () => sent.some(({ params }) => params?.name === 'hangs'));
    far.drop('It crashed');
    await expect(hanging).rejects.toMatchObject({ code: 'connection_closed', message: 'It crashed' });
    expect(lost.map(({ message }) => message)).toEqual(['It crashed']);
    await expect(call('tools/list')).rejects.toMatchObject({ code: 'connection_closed' });
  });

  it('fails its open calls when it is closed, and reports no lost connection', async () => {
    const { call, link: opened, far, lost, sent } = await link();
    const hanging = call('tools/call', { name: 'hangs' });
    await until('it is called', () => sent.some(({ params }) => params?.name === 'hangs'));
    await opened.close();
    await expect(hanging).rejects.toMatchObject({ code: 'connection_closed' });
    expect(far.isClosed()).toBe(true);
    expect(lost).toEqual([]);
  });
});

describe('the log level of a session', () => {
  const levels = (sent: readonly Message[]): unknown[] =>
    sent.filter(({ method }) => method === 'logging/setLevel').map(({ params }) => params.level);

  it('is set by a call that needs another, and only once for equal levels', async () => {
    const { call, sent, notifications } = await linkTo(server.dispatch);
    const logs = (logLevel?: 'debug' | 'error') => call('tools/call', { name: 'logs' }, { logLevel });
    await Promise.all([logs('error'), logs('error'), logs()]);
    expect(levels(sent)).toEqual(['error']);
    await until('the messages have arrived', () => notifications.length === 3);
    await logs('debug');
    await logs('debug');
    expect(levels(sent)).toEqual(['error', 'debug']);
    await until('a debug message has arrived', () =>
      notifications.some(({ params }) => (params as Message)['level'] === 'debug'),
    );
  });

  test('that the server rejects is reported once, and the calls are served', async () => {
    const { call, problems, sent } = await linkToScript({
      initialize: { ...serverAnswer, capabilities: { logging: {}, tools: {} } },
      answer({ method }) {
        if (method === 'logging/setLevel') throw { code: -32603, message: 'No' };
        return { content: [] };
      },
    });
    for (let i = 0; i < 2; i++) await call('tools/call', { name: 'x' }, { logLevel: 'info' });
    expect(problems).toEqual(['The server did not accept the log level "info"']);
    expect(levels(sent)).toEqual(['info']);
  });

  test('is not sent to a server without logging', async () => {
    const { call, sent } = await linkToScript({ answer: () => ({ content: [] }) });
    await call('tools/call', { name: 'x' }, { logLevel: 'info' });
    expect(levels(sent)).toEqual([]);
  });

  test('that the server never acknowledges does not hold a call that is aborted', async () => {
    const { call } = await linkToScript({
      initialize: { ...serverAnswer, capabilities: { logging: {} } },
      answer: () => undefined,
    });
    const controller = new AbortController();
    const waiting = call('tools/call', { name: 'x' }, { logLevel: 'info', signal: controller.signal });
    controller.abort(new McpError('timeout', 'Too long'));
    await expect(waiting).rejects.toMatchObject({ code: 'timeout', message: 'Too long' });
  });
});

describe('a server of the session era', () => {
  it('is not asked for lists of prompts and resources that it does not declare, and rejects other calls itself', async () => {
    const { call, sent } = await linkToScript({
      answer() {
        throw { code: -32601, message: 'No such thing' };
      },
    });
    expect(await call('prompts/list')).toEqual({ resultType: 'complete', prompts: [] });
    expect(await call('resources/list')).toEqual({ resultType: 'complete', resources: [] });
    expect(await call('resources/templates/list')).toEqual({ resultType: 'complete', resourceTemplates: [] });
    await until('the handshake is over', () => sent.length === 2);
    // The server may have tools without declaring them.
    await expect(call('tools/list')).rejects.toMatchObject({ code: 'method_not_found' });
    await expect(call('prompts/get', { name: 'x' })).rejects.toMatchObject({ message: 'No such thing' });
    // A server that rejects a ping is alive.
    expect(await call('server/discover')).toMatchObject({ resultType: 'complete' });
  });

  it('may omit the content of a result', async () => {
    const { call } = await linkToScript({ answer: () => ({ structuredContent: { a: 1 } }) });
    expect(await call('tools/call', { name: 'x' })).toEqual({
      resultType: 'complete',
      content: [],
      structuredContent: { a: 1 },
    });
  });

  it('gets answers to a ping and a question, and an error for another method', async () => {
    const { far, sent, questions } = await linkToScript(
      {},
      { answer: () => Promise.reject(new McpError('invalid_params', 'Not now')) },
    );
    const ask = (id: string, method: string, params?: object): void =>
      far.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    ask('a', 'ping');
    ask('b', 'roots/list');
    ask('c', 'acme/secrets');
    const answerTo = async (id: string): Promise<Message> => {
      await until(`${id} is answered`, () => sent.some((message) => message['id'] === id));
      return sent.find((message) => message['id'] === id) as Message;
    };
    expect(await answerTo('a')).toMatchObject({ result: {} });
    expect(await answerTo('b')).toMatchObject({ error: { code: -32602, message: 'Not now' } });
    expect(await answerTo('c')).toMatchObject({ error: { code: -32601 } });
    expect(questions).toEqual([{ method: 'roots/list' }]);
  });

  it('delivers notifications that belong to no call', async () => {
    const { far, notifications } = await linkToScript({});
    for (const method of ['notifications/elicitation/complete', 'notifications/message', 'acme/news'])
      far.send(JSON.stringify({ jsonrpc: '2.0', method, params: { a: 1 } }));
    await until('all have arrived', () => notifications.length === 3);
    expect(notifications[0]).toEqual({ method: 'notifications/elicitation/complete', params: { a: 1 } });
  });
});
