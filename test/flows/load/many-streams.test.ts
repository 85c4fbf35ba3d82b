import diagnostics from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { createServer, resource } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { modernExchange } from '../../support/http/modern.js';
import { head, printPost, rawSocket } from '../../support/http/raw.js';
import { initializeMessage, jsonHeaders } from '../../support/http/sessions.js';
import { until } from '../../support/until.js';

// A thousand open streams of one server, half of them of each era.

const STREAMS = 1000;
const AT_ONCE = 25;
// Opening the streams takes a second, and many times as long on a busy machine.
const timeout = 60_000;
const SHARED = 'news://all';

const createNews = () =>
  createServer({
    name: 'news',
    version: '1.0.0',
    changes: true,
    resources: { 'news://{topic}': resource({ read: ({ topic }) => String(topic) }) },
  });
let server: ReturnType<typeof createNews>;
let running: Awaited<ReturnType<typeof serve>>;
/** The subscriptions that the server holds open, as it tells its operator. */
let open = 0;
const started = (): void => void open++;
const ended = (): void => void open--;

beforeAll(() => {
  diagnostics.subscribe('tracing:fullmcp:subscription:start', started);
  diagnostics.subscribe('tracing:fullmcp:subscription:asyncEnd', ended);
});
beforeEach(async () => {
  server = createNews();
  running = await serve(server, { port: 0, host: '127.0.0.1', signals: false });
  return () => running.close();
});
afterAll(() => {
  diagnostics.unsubscribe('tracing:fullmcp:subscription:start', started);
  diagnostics.unsubscribe('tracing:fullmcp:subscription:asyncEnd', ended);
});

/** An open stream, with a letter for each change that it has received: the list of tools, the shared resource, its own one. */
interface Stream {
  readonly socket: Socket;
  received: string;
}

const letters: readonly (readonly [RegExp, string])[] = [
  [/notifications\/tools\/list_changed/, 'L'],
  [/"uri":"news:\/\/all"/, 'S'],
  [/"uri":"news:\/\/\d+"/, 'O'],
];

/** Opens a stream that follows the list of tools, the shared resource, and one that nobody else follows. */
async function openStream(number: number): Promise<Stream> {
  const socket = await rawSocket(running.port);
  const uris = [SHARED, `news://${number}`];
  if (number % 2 === 0) {
    const notifications = { toolsListChanged: true, resourceSubscriptions: uris };
    await ask(socket, printPost(modernExchange('subscriptions/listen', { notifications })), 'acknowledged');
  } else await openSessionStream(socket, uris);
  const stream: Stream = { socket, received: '' };
  let rest = '';
  socket.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines)
      for (const [pattern, letter] of letters) if (pattern.test(line)) stream.received += letter;
  });
  return stream;
}

async function openSessionStream(socket: Socket, uris: readonly string[]): Promise<void> {
  const initialize = JSON.stringify(initializeMessage('2025-11-25'));
  const reply = await ask(socket, printPost({ headers: jsonHeaders, body: initialize }), 'serverInfo');
  const session = { 'mcp-session-id': /mcp-session-id: (\S+)/i.exec(reply)?.[1] };
  for (const uri of uris) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri } });
    await ask(socket, printPost({ headers: { ...jsonHeaders, ...session }, body }), '"result":{}');
  }
  const fields = Object.entries({ host: 'localhost', accept: 'text/event-stream', ...session });
  const get = head(['GET /mcp HTTP/1.1', ...fields.map(([name, value]) => `${name}: ${value}`)]);
  // The first event of the stream is empty, and follows its head.
  await ask(socket, get, 'data: ');
}

/** Sends a request and reads until `ending` has arrived. */
function ask(socket: Socket, request: string, ending: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const read = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      if (!text.includes(ending)) return;
      socket.off('data', read).off('close', closed);
      resolve(text);
    };
    const closed = (): void => reject(new Error(`The server closed the connection after:\n${text}`));
    socket.on('data', read).on('close', closed);
    socket.write(request);
  });
}

async function openMany(count: number, from = 0): Promise<Stream[]> {
  const streams: Stream[] = [];
  let next = 0;
  const openSome = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) streams[at] = await openStream(from + at);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, openSome));
  return streams;
}

async function closeAll(streams: readonly Stream[]): Promise<void> {
  for (const { socket } of streams) socket.destroy();
  await until('the server has no open subscription', () => open === 0);
}

it('each of 1,000 streams of both eras gets each change exactly once and in order, and none is left when they close', {
  timeout,
}, async () => {
  const streams = await openMany(STREAMS);
  expect(open).toBe(STREAMS);
  for (let round = 0; round < 3; round++) {
    server.changed.tools();
    server.changed.resource(SHARED);
    server.changed.resource(SHARED);
  }
  server.changed.resource('news://7');
  server.changed.resource('news://8');
  // Comes after all others, so that a second copy of an earlier change would be seen.
  server.changed.tools();
  await until('everybody has the last change', () => streams.every(({ received }) => received.length >= 10));
  const expected = (at: number): string => `${'LSS'.repeat(3)}${at === 7 || at === 8 ? 'O' : ''}L`;
  expect(streams.map(({ received }) => received)).toEqual(streams.map((_, at) => expected(at)));
  await closeAll(streams);
});

it('each stream gets each change exactly once while others open and close', { timeout }, async () => {
  const streams = await openMany(300);
  let isOver = false;
  const churn = (async () => {
    for (let from = 1000; !isOver; from += AT_ONCE) {
      const some = await openMany(AT_ONCE, from);
      for (const { socket } of some) socket.destroy();
    }
  })();
  const ROUNDS = 10;
  for (let round = 1; round <= ROUNDS; round++) {
    server.changed.resource(SHARED);
    await until('somebody has the change', () => streams.some(({ received }) => received.length >= round));
  }
  await until('everybody has it', () => streams.every(({ received }) => received.length >= ROUNDS));
  isOver = true;
  await churn;
  expect(new Set(streams.map(({ received }) => received))).toEqual(new Set(['S'.repeat(ROUNDS)]));
  await closeAll(streams);
});

it('a change that is announced right before a shutdown reaches the streams of 2026-07-28 before they end', {
  timeout,
}, async () => {
  const streams = (await openMany(400)).filter((_, at) => at % 2 === 0);
  const closed = streams.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve)));
  server.changed.tools();
  await running.close();
  await Promise.all(closed);
  expect(new Set(streams.map(({ received }) => received))).toEqual(new Set(['L']));
  expect(open).toBe(0);
});
