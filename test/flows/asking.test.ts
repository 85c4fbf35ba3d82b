import type { Middleware } from 'fullmcp';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Serving, serve } from '../../src/node.js';
import { openEvents, send } from '../support/http/http.js';
import { modern } from '../support/http/modern.js';
import { initializeMessage, jsonHeaders, openSession } from '../support/http/sessions.js';
import { until } from '../support/until.js';
import {
  type Answering,
  type AskedClient,
  type Message,
  modernWires,
  sessionWires,
  stdioChannel,
  type Wire,
  wires,
} from '../support/wires/asking-wires.js';
import { openWebSocket } from '../support/wires/web-socket.js';
import { askingServer } from './fixtures/asking-server.js';

// The same handlers over every wire on which a server can ask its client questions.

const everything = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
const accept = (content?: Message): Message => ({ action: 'accept', ...(content && { content }) });

/** The answers of a cooperative client. */
const helpful: Answering = ({ method, params }) => {
  if (method === 'roots/list') return { roots: [{ uri: 'file:///work' }] };
  if (method === 'sampling/createMessage')
    return { role: 'assistant', model: 'small', content: { type: 'text', text: 'Enjoy' } };
  if (params['mode'] === 'url') return accept();
  const fields = Object.keys(params['requestedSchema'].properties);
  const values: Message = { name: 'Ada', size: 'large', ok: true, topic: 'Bees' };
  return accept(Object.fromEntries(fields.filter((key) => key in values).map((key) => [key, values[key]])));
};

let server: ReturnType<typeof askingServer>['server'];
let effects: string[];
let signals: AbortSignal[];
let serving: Serving;
let clients: AskedClient[];

beforeEach(async () => {
  signals = [];
  clients = [];
  const note: Middleware = (call, next) => {
    if (call.method === 'tools/call') signals.push(call.signal);
    return next(call);
  };
  ({ server, effects } = askingServer({ use: [note] }));
  serving = await serve(server, { port: 0, signals: false });
});

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await serving.close();
});

async function open(
  wire: Wire | undefined,
  answer: Answering = helpful,
  capabilities: object = everything,
): Promise<AskedClient> {
  const client = await (wire as Wire).open({ url: serving.url, server, answer, capabilities });
  clients.push(client);
  return client;
}

const findWire = (list: readonly Wire[], name: string): Wire | undefined =>
  list.find((wire) => wire.name === name);
const http = findWire(modernWires, 'HTTP 2026-07-28');
const httpSession = findWire(sessionWires, 'HTTP 2025-11-25');
const webSocketSession = findWire(sessionWires, 'WebSocket 2025-11-25');

const tool = (name: string, args: Message = {}): [string, Message] => [
  'tools/call',
  { name, arguments: args },
];

describe.each(wires)('a handler that asks over $name', (wire) => {
  test('asks every question once and in order, and runs its step once', async () => {
    const client = await open(wire);
    const { result } = await client.call(...tool('order'));
    expect(result.content[0].text).toBe(
      '1: large for Ada, {"action":"accept","content":{"gift":false}}, Enjoy',
    );
    const messages = client.questions.map(({ params }) => params.message ?? params.messages[0].content.text);
    expect(messages.slice(0, 2)).toEqual(['Your name?', 'Which size, Ada?']);
    expect(messages.slice(2).sort()).toEqual(['A gift?', 'A note to Ada']);
    const recorded = await client.call(...tool('effects'));
    expect(recorded['result'].structuredContent).toEqual({ effects: ['large for Ada'] });
  });

  test.each(['decline', 'cancel'])(
    'gets the action "%s" from elicit, and its call fails after ask',
    async (action) => {
      const client = await open(wire, () => ({ action }));
      expect((await client.call(...tool('sure')))['result'].structuredContent).toEqual({ action });
      const { result } = await client.call(...tool('order'));
      expect(result).toMatchObject({
        isError: true,
        content: [{ text: action === 'decline' ? 'The user declined: name' : 'The user cancelled: name' }],
      });
      expect((await client.call(...tool('effects')))['result'].structuredContent).toEqual({ effects: [] });
    },
  );

  test('asks again after an invalid answer', async () => {
    const answers: Message[] = [{ action: 'perhaps' }, accept({ ok: 'certainly' }), {}, accept({ ok: true })];
    const client = await open(wire, () => answers.shift() ?? accept());
    const { result } = await client.call(...tool('sure'));
    expect(result.structuredContent).toEqual({ action: 'accept', content: { ok: true } });
    expect(client.questions).toHaveLength(4);
  });
});

describe.each([http, httpSession, webSocketSession])('a handler that asks over $name', (wire) => {
  test('asks the questions of a tool and a resource that it uses', async () => {
    const client = await open(wire);
    const { result } = await client.call(...tool('nested'));
    expect(JSON.parse(result.content[0].text)).toMatchObject([
      { action: 'accept', content: { ok: true } },
      { text: 'file:///work' },
    ]);
    expect(client.questions.map(({ method }) => method)).toEqual(['elicitation/create', 'roots/list']);
  });

  test('may be a prompt or a resource', async () => {
    const client = await open(wire);
    expect((await client.call('prompts/get', { name: 'topic' }))['result']).toMatchObject({
      messages: [{ content: { text: 'Bees' } }],
    });
    expect((await client.call('resources/read', { uri: 'asking://roots' }))['result']).toMatchObject({
      contents: [{ text: 'file:///work' }],
    });
  });

  test.each([
    ['sure', {}, { elicitation: { form: {} } }],
    ['sure', { elicitation: { url: {} } }, { elicitation: { form: {} } }],
    ['login', { elicitation: {} }, { elicitation: { url: {} } }],
    ['summary', {}, { sampling: {} }],
    ['think', { sampling: {} }, { sampling: { tools: {} } }],
    ['pair', { elicitation: {} }, { roots: {} }],
  ])(
    'does not send the question of %s to a client with %j',
    async (name, capabilities, requiredCapabilities) => {
      const client = await open(wire, helpful, capabilities);
      const { error, result, status } = await client.call(...tool(name));
      if (sessionWires.some((session) => session === wire)) {
        // These revisions have no error code for this; the model can read a tool's failure.
        expect(error).toBeUndefined();
        expect(result).toMatchObject({ isError: true });
        expect(result.content[0].text).toContain(Object.keys(requiredCapabilities)[0]);
      } else expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities } });
      if (wire === http) expect(status).toBe(400);
      expect(client.questions).toEqual([]);
    },
  );

  test.each([
    ['sure', { elicitation: {} }],
    ['login', { elicitation: { url: {} } }],
    ['think', { sampling: { tools: {} } }],
  ])('sends the question of %s to a client with %j', async (name, capabilities) => {
    const client = await open(wire, helpful, capabilities);
    expect((await client.call(...tool(name)))['result'].isError).toBeUndefined();
    expect(client.questions).toHaveLength(1);
  });
});

describe.each(sessionWires)('a handler that asks over $name', (wire) => {
  test('ends the call with an error if the client answers with an error, and the next request works', async () => {
    const client = await open(wire, ({ method }) => ({
      error: { code: -32601, message: method === 'roots/list' ? 'What are roots?' : 'Nobody is here' },
    }));
    expect((await client.call(...tool('sure')))['result']).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'The client could not answer: Nobody is here' }],
    });
    expect(client.questions).toHaveLength(1);
    const { error } = await client.call('resources/read', { uri: 'asking://roots' });
    expect(error).toMatchObject({ code: -32603, message: 'The client could not answer: What are roots?' });
    expect((await client.call('ping'))['result']).toEqual({});
  });

  test('writes questions in the shape of the revision', async () => {
    const client = await open(wire);
    await client.call(...tool('order'));
    const { requestedSchema, ...params } = (client.questions[1] as Message)['params'];
    expect(params).toEqual({
      message: 'Which size, Ada?',
      ...(wire.name.includes('2025-11-25') && { mode: 'form' }),
      _meta: { 'fullmcp/key': 'size' },
    });
    expect(requestedSchema).toEqual({
      type: 'object',
      properties: { size: { type: 'string', enum: ['small', 'large'] } },
      required: ['size'],
    });
  });
});

describe('a client of a session', () => {
  async function webSocket() {
    const client = await openWebSocket(serving.url);
    client.send(initializeMessage('2025-11-25', everything));
    await client.next();
    return {
      ...client,
      call: (id: number, name: string) =>
        client.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } }),
      say: (id: unknown, response: Message) => client.send({ jsonrpc: '2.0', id, ...response }),
    };
  }

  // The response to a call is sent a little after the last message, so a call that fails later ends in another order.
  async function olderThan(ageMs: number): Promise<void> {
    const asked = performance.now();
    await until(`the question is ${ageMs} ms old`, () => performance.now() - asked >= ageMs);
  }

  test('is told to drop the other question if it answers one of two with an error, even 120 times in a row', async () => {
    const client = await webSocket();
    for (let id = 1; id <= 120; id++) {
      client.call(id, 'pair');
      const questions = [await client.next(), await client.next()];
      const left = questions.find(({ method }) => method === 'elicitation/create');
      const right = questions.find(({ method }) => method === 'roots/list');
      client.say(right?.['id'], { error: { code: -32601, message: 'No roots' } });
      expect(await client.next()).toMatchObject({
        method: 'notifications/cancelled',
        params: { requestId: left?.['id'] },
      });
      expect(await client.next()).toMatchObject({ id, result: { isError: true } });
    }
    client.socket.close();
  });

  test.each([0, 20])('ends the call if it disconnects %i ms after it was asked', async (ageMs) => {
    const client = await webSocket();
    client.call(1, 'sure');
    expect(await client.next()).toMatchObject({ method: 'elicitation/create' });
    await olderThan(ageMs);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    client.socket.terminate();
    await until('the call has ended', () => signals.every(({ aborted }) => aborted));
    expect(signals.map(({ reason }) => reason.message)).toEqual(['The client went away']);
  });

  test('ends the call if it closes its event stream 20 ms after it was asked', async () => {
    const events = await openEvents(serving.url.replace('/mcp', '/sse'), { method: 'GET' });
    const next = async (): Promise<Message> => JSON.parse(String((await events.next())?.data));
    const endpoint = new URL(String((await events.next())?.data), serving.url).href;
    const say = (message: object): Promise<unknown> =>
      send(endpoint, { headers: jsonHeaders, body: JSON.stringify(message) });
    await say(initializeMessage('2025-06-18', everything));
    await next();
    await say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'sure', arguments: {} } });
    expect(await next()).toMatchObject({ method: 'elicitation/create' });
    await olderThan(20);
    events.drop();
    await until('the call has ended', () => signals.every(({ aborted }) => aborted));
    expect(signals.map(({ reason }) => reason.message)).toEqual(['The client went away']);
  });

  test('gets neither a response nor another question after it cancels the call', async () => {
    const client = await webSocket();
    client.call(1, 'sure');
    const { id } = await client.next();
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    client.say(id, { result: accept({ ok: true }) });
    client.send({ jsonrpc: '2.0', id: 2, method: 'ping' });
    expect(await client.next()).toMatchObject({ id: 2 });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    client.socket.close();
  });

  test('may begin another session on its connection before it answers', async () => {
    const client = await webSocket();
    client.call(1, 'sure');
    const first = await client.next();
    client.send({ ...initializeMessage('2025-11-25', everything), id: 'again' });
    expect(await client.next()).toMatchObject({ id: 'again' });
    client.call(2, 'sure');
    const second = await client.next();
    expect(second['id']).not.toBe(first['id']);
    client.say(first['id'], { result: { action: 'cancel' } });
    expect(await client.next()).toMatchObject({ id: 1, result: { structuredContent: { action: 'cancel' } } });
    client.say(second['id'], { result: { action: 'decline' } });
    expect(await client.next()).toMatchObject({
      id: 2,
      result: { structuredContent: { action: 'decline' } },
    });
    client.socket.close();
  });

  test('lets the server exit if it closes its end of the pipe while it is asked', async () => {
    const pipe = stdioChannel();
    pipe.send(initializeMessage('2025-11-25', everything));
    await pipe.next();
    pipe.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'sure', arguments: {} } });
    expect(await pipe.next()).toMatchObject({ method: 'elicitation/create' });
    expect(await pipe.exit()).toBe(0);
  });

  test('is not asked forever if it never gives a valid answer: its call fails', async () => {
    const client = await open(webSocketSession, () => ({ action: 'perhaps' }));
    const { error } = await client.call(...tool('sure'));
    expect(error).toMatchObject({ code: -32603, message: 'The call asked the client more than 32 times.' });
  });
});

describe('a question over HTTP with sessions', () => {
  const sure = { name: 'sure', arguments: {} };
  const next = async (events: Awaited<ReturnType<Awaited<ReturnType<typeof openSession>>['stream']>>) => {
    for (;;) {
      const event = await events.next();
      if (event === undefined) throw new Error('The stream has ended');
      if (event.data !== '') return { event, message: JSON.parse(String(event.data)) as Message };
    }
  };

  test('is cancelled, and its call does not continue, if the client ends the session', async () => {
    const session = await openSession(serving.url, '2025-11-25', everything);
    const events = await session.stream('tools/call', sure);
    const { message: question } = await next(events);
    expect((await session.end()).status).toBe(200);
    const late = await session.post({ jsonrpc: '2.0', id: question['id'], result: accept({ ok: true }) });
    expect([late.status, signals.length]).toEqual([404, 1]);
    const rest = (await events.rest()).map(({ data }) => JSON.parse(String(data)).method);
    expect(rest).toEqual(['notifications/cancelled']);
  });

  test('is sent again to a client that resumes a lost stream', async () => {
    const session = await openSession(serving.url, '2025-11-25', everything);
    const events = await session.stream('tools/call', sure);
    const before = await events.next();
    const { message: question } = await next(events);
    events.drop();
    const again = await session.resume(String(before?.id));
    expect((await next(again)).message).toEqual(question);
    await session.post({ jsonrpc: '2.0', id: question['id'], result: accept({ ok: true }) });
    expect((await next(again)).message).toMatchObject({
      id: 1,
      result: { structuredContent: { action: 'accept', content: { ok: true } } },
    });
  });

  test('cannot be answered from another session', async () => {
    const session = await openSession(serving.url, '2025-11-25', everything);
    const other = await openSession(serving.url, '2025-11-25', everything);
    const events = await session.stream('tools/call', sure);
    const { message: question } = await next(events);
    const reply = await other.post({ jsonrpc: '2.0', id: question['id'], result: accept({ ok: true }) });
    expect(reply.status).toBe(400);
    await session.post({ jsonrpc: '2.0', id: question['id'], result: { action: 'decline' } });
    expect((await next(events)).message).toMatchObject({
      result: { structuredContent: { action: 'decline' } },
    });
  });

  test('fails the call of a client that does not accept streams', async () => {
    const session = await openSession(serving.url, '2025-11-25', everything);
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: sure };
    const { text } = await session.post(message, { accept: 'application/json' });
    expect(JSON.parse(text).error).toMatchObject({ message: expect.stringContaining('text/event-stream') });
  });

  test('may be answered in a batch if the revision has batches', async () => {
    const session = await openSession(serving.url, '2025-03-26', everything);
    const events = await session.stream('tools/call', { name: 'summary', arguments: {} });
    const { message: question } = await next(events);
    const result = helpful({ method: question['method'], params: question['params'] });
    const reply = await session.post([{ jsonrpc: '2.0', id: question['id'], result }]);
    expect(reply.status).toBe(202);
    expect((await next(events)).message).toMatchObject({ result: { content: [{ text: 'Enjoy' }] } });
  });
});

describe('a URL elicitation', () => {
  test.each([httpSession, webSocketSession])(
    'has an id in 2025-11-25, and its completion is announced ($name)',
    async (wire) => {
      const client = await open(wire);
      expect((await client.call(...tool('login')))['result']).toEqual({
        content: [{ type: 'text', text: 'accept' }],
      });
      const [{ params } = { params: {} }] = client.questions as Message[];
      expect(params).toEqual({
        mode: 'url',
        message: 'Log in',
        url: 'https://example.com/login',
        elicitationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        _meta: { 'fullmcp/key': expect.any(String) },
      });
      expect(client.notifications).toEqual([
        {
          jsonrpc: '2.0',
          method: 'notifications/elicitation/complete',
          params: { elicitationId: params.elicitationId },
        },
      ]);
    },
  );

  test('is not announced as complete if the user declines or the handler fails', async () => {
    const unwilling = await open(webSocketSession, () => ({ action: 'decline' }));
    expect((await unwilling.call(...tool('login')))['result'].content[0].text).toBe('decline');
    expect(unwilling.notifications).toEqual([]);
    const willing = await open(webSocketSession);
    expect((await willing.call(...tool('login', { fails: true })))['result'].isError).toBe(true);
    expect(willing.notifications).toEqual([]);
  });

  test('has no id in 2026-07-28', async () => {
    const client = await open(http);
    expect((await client.call(...tool('login')))['result'].content[0].text).toBe('accept');
    expect(client.questions).toEqual([
      {
        method: 'elicitation/create',
        params: { mode: 'url', message: 'Log in', url: 'https://example.com/login' },
      },
    ]);
  });
});

test('a call over modern HTTP that is retried with one of two answers asks only for the other', async () => {
  const meta = { 'io.modelcontextprotocol/clientCapabilities': everything };
  const call = async (more: Message = {}): Promise<Message> => {
    const { text } = await modern(
      serving.url,
      'tools/call',
      { name: 'pair', arguments: {}, ...more },
      { meta },
    );
    return JSON.parse(text).result;
  };
  const first = await call();
  expect(Object.keys(first['inputRequests'])).toEqual(['left', 'right']);
  const second = await call({
    requestState: first['requestState'],
    inputResponses: { left: accept({ ok: true }) },
  });
  expect(Object.keys(second['inputRequests'])).toEqual(['right']);
  const third = await call({
    requestState: second['requestState'],
    inputResponses: { right: { roots: [] } },
  });
  expect(third).toMatchObject({ resultType: 'complete', content: [{ text: '[{"ok":true},[]]' }] });
  expect(effects).toEqual([]);
});
