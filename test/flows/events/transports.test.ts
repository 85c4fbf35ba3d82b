import { createServer, event, inProcess, type JsonObject, memoryBus, memoryStore } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { until } from '../../support/until.js';
import { makeDesk, type Streamed } from './desk.js';

const ACTIVE = 'notifications/events/active';
const TAG = 'io.modelcontextprotocol/subscriptionId';

describe('A stream of events', () => {
  test('in-process ends with a result when it is cancelled', async () => {
    const server = makeDesk();
    const heard: [string, JsonObject | undefined][] = [];
    const stop = new AbortController();
    const ended = inProcess(server)(
      'events/stream',
      { name: 'pushed' },
      { signal: stop.signal, onNotification: (...message) => heard.push(message) },
    ).catch((error: unknown) => error);
    await until('the stream is confirmed', () => heard.length === 1);
    await server.emit('pushed', { id: 'a' });
    await until('the event has come', () => heard.length === 2);
    expect(heard.map(([method]) => method)).toEqual([ACTIVE, 'notifications/events/event']);
    stop.abort();
    await ended;
    await server.emit('pushed', { id: 'b' });
    await new Promise(setImmediate);
    expect(heard.length).toBe(2);
    await server.close();
  });

  test('over WebSocket has the id of its request, and ends with notifications/cancelled', async () => {
    const server = makeDesk();
    const served = await serve(server, { port: 0, signals: false });
    const socket = new WebSocket(String(served.url).replace('http', 'ws'), 'mcp');
    const heard: Streamed[] = [];
    socket.on('message', (data) => heard.push(JSON.parse(String(data)) as Streamed));
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    socket.send(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 'ws-1',
        method: 'events/stream',
        params: { name: 'pushed', _meta },
      }),
    );
    await until('the stream is confirmed', () => heard.length === 1);
    await server.emit('pushed', { id: 'a' });
    await until('the event has come', () => heard.length === 2);
    expect(heard.map(({ params }) => params._meta[TAG])).toEqual(['ws-1', 'ws-1']);
    socket.send(
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'ws-1' } }),
    );
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'server/discover', params: { _meta } }));
    await until('the next request is answered', () => heard.length === 3);
    await server.emit('pushed', { id: 'b' });
    await new Promise(setImmediate);
    expect(heard.length).toBe(3);
    socket.terminate();
    await served.close();
  });

  test('hears of events that another process emits, each of them once', async () => {
    const [store, bus] = [memoryStore(), memoryBus()];
    const [here, there] = [makeDesk({ store, bus }), makeDesk({ store, bus })];
    const heard: JsonObject[] = [];
    const stop = new AbortController();
    const ended = inProcess(here)(
      'events/stream',
      { name: 'pushed' },
      { signal: stop.signal, onNotification: (_method, params) => heard.push(params as JsonObject) },
    ).catch(() => undefined);
    await until('the stream is confirmed', () => heard.length === 1);
    const ids = Array.from({ length: 60 }, (_, n) => String(n));
    const emit = (server: typeof here, parity: number) =>
      Promise.all(
        ids
          .filter((id) => Number(id) % 2 === parity)
          .map((id) => server.emit('pushed', { id }, { eventId: id })),
      );
    await Promise.all([emit(here, 0), emit(there, 1), emit(there, 0)]);
    await until('all events have come', () => heard.length === 1 + ids.length);
    expect(
      heard
        .slice(1)
        .map(({ eventId }) => String(eventId))
        .sort(),
    ).toEqual([...ids].sort());
    stop.abort();
    await ended;
    await Promise.all([here.close(), there.close()]);
  });

  test('passes through the middleware of the server, and is not ended by its time limits', async () => {
    const seen: string[] = [];
    const server = createServer({
      name: 'wrapped',
      version: '1',
      events: { news: event({ payload: z.object({}) }) },
      use: [
        async (call, next) => {
          seen.push(call.method);
          return next(call);
        },
      ],
    });
    const ask = inProcess(server);
    await ask('events/list', {});
    await ask('events/poll', { name: 'news' });
    const stop = new AbortController();
    const ended = ask('events/stream', { name: 'news' }, { signal: stop.signal }).catch(() => undefined);
    await until('the stream has begun', () => seen.length === 3);
    stop.abort();
    await ended;
    expect(seen).toEqual(['events/list', 'events/poll', 'events/stream']);
    await server.close();
  });
});
