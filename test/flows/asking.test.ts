import type { Middleware } from 'fullmcp';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Serving, serve } from '../../src/node.js';
import { openEvents, send } from '../support/http/http.js';
import { initializeMessage, jsonHeaders } from '../support/http/sessions.js';
import { until } from '../support/until.js';
import { accept, askingTable, everything, openingClients, tool } from '../support/wires/asking-table.js';
import {
  type Message,
  modernWires,
  sessionWires,
  stdioChannel,
  type Wire,
} from '../support/wires/asking-wires.js';
import { openWebSocket } from '../support/wires/web-socket.js';
import { askingServer } from './fixtures/asking-server.js';

// The same handlers over every wire on which a server can ask its client questions.

let server: ReturnType<typeof askingServer>['server'];
let effects: readonly string[];
let signals: AbortSignal[];
let serving: Serving;

beforeEach(async () => {
  signals = [];
  const note: Middleware = (call, next) => {
    if (call.method === 'tools/call') signals.push(call.signal);
    return next(call);
  };
  ({ server, effects } = askingServer({ use: [note] }));
  serving = await serve(server, { port: 0, signals: false });
});

afterEach(() => serving.close());

const world = () => ({ url: serving.url, server, calls: () => signals.length, effects: () => effects });
const open = openingClients(world);

const findWire = (list: readonly Wire[], name: string): Wire =>
  list.find((wire) => wire.name === name) as Wire;
const webSocketSession = findWire(sessionWires, 'WebSocket 2025-11-25');

test.each(['HTTP+SSE 2025-06-18', 'WebSocket 2025-11-25'])(
  'a second initialize is refused over %s, and the session stays',
  async (name) => {
    const client = await open(findWire(sessionWires, name), () => accept({ ok: true }));
    const { params } = initializeMessage('2024-11-05') as { params: Message };
    for (let round = 0; round < 2; round++)
      expect((await client.call('initialize', params))['error']).toMatchObject({ code: -32600 });
    expect((await client.call(...tool('sure')))['result'].structuredContent).toMatchObject({
      action: 'accept',
    });
  },
);

askingTable(world, {
  modern: modernWires,
  sessions: sessionWires,
  few: [
    findWire(modernWires, 'HTTP 2026-07-28'),
    findWire(sessionWires, 'HTTP 2025-11-25'),
    webSocketSession,
  ],
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

  test('cannot begin another session on its connection, and keeps the first one', async () => {
    const client = await webSocket();
    client.call(1, 'sure');
    const first = await client.next();
    client.send({ ...initializeMessage('2025-06-18', {}), id: 'again' });
    expect(await client.next()).toMatchObject({
      id: 'again',
      error: { code: -32600, message: expect.stringContaining('has a session already') },
    });
    client.say(first['id'], { result: { action: 'cancel' } });
    expect(await client.next()).toMatchObject({ id: 1, result: { structuredContent: { action: 'cancel' } } });
    client.call(2, 'sure');
    const second = await client.next();
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

describe('a URL elicitation', () => {
  test('is not announced as complete if the user declines or the handler fails', async () => {
    const unwilling = await open(webSocketSession, () => ({ action: 'decline' }));
    expect((await unwilling.call(...tool('login')))['result'].content[0].text).toBe('decline');
    expect(unwilling.notifications).toEqual([]);
    const willing = await open(webSocketSession);
    expect((await willing.call(...tool('login', { fails: true })))['result'].isError).toBe(true);
    expect(willing.notifications).toEqual([]);
  });
});
