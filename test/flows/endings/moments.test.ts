import { connect as openSocket } from 'node:net';
import { createServer, tool } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { serve } from 'fullmcp/node';
import { afterAll, describe, expect, test, vi } from 'vitest';
import WebSocket from 'ws';
import { modern, modernExchange } from '../../support/http/modern.js';
import { signal } from '../../support/signal.js';
import { soon, until } from '../../support/until.js';
import { begin, killAll, start } from './processes.js';

afterAll(killAll);
vi.setConfig({ testTimeout: 120_000 });

const quiet = { name: 'test', version: '1.0.0', logger: () => undefined };

describe('a signal', () => {
  test('during the start closes the lifespan when it has opened, and ends the process in order', async () => {
    const begun = begin({ startMs: 700 });
    await begun.says('starting');
    begun.child.kill('SIGTERM');
    expect(await begun.exit).toEqual([0, null]);
    expect(begun.lines).toEqual(['starting', 'ended']);
    expect(begun.stderr()).toBe('');
  });

  test('during the start rejects the promise if the process is to stay', async () => {
    const begun = begin({ startMs: 700, exit: false });
    await begun.says('starting');
    begun.child.kill('SIGTERM');
    expect(await begun.exit).toEqual([1, null]);
    expect(begun.stderr()).toContain('A signal closed the server before it listened.');
    expect(begun.lines).toEqual(['starting', 'ended']);
  });

  test('during a start that fails does not hide the failure', async () => {
    const begun = begin({ startMs: 500, fails: true });
    await begun.says('starting');
    begun.child.kill('SIGTERM');
    const [code] = await begun.exit;
    expect(code).toBe(1);
    expect(begun.stderr()).toContain('The lifespan failed');
  });

  test('during a start that never ends ends the process after the time for a shutdown', async () => {
    const begun = begin({ startMs: 600_000, drainMs: 0 });
    await begun.says('starting');
    begun.child.kill('SIGTERM');
    expect(await soon('The exit', begun.exit, 45_000)).toEqual([0, null]);
  });

  test('that is repeated ends the process at once, also between readiness and the drain', async () => {
    const served = await start({ shutdownDelayMs: 60_000, drainMs: 60_000 });
    const again = setInterval(() => served.child.kill('SIGTERM'), 300);
    expect(await soon('The exit', served.exit, 45_000)).toEqual([null, 'SIGTERM']);
    clearInterval(again);
    expect(served.lines).not.toContain('ended');
  });

  test('ends the process with a failure if the lifespan could not end, and says so', async () => {
    const served = await start({ closes: 'badly' });
    served.child.kill('SIGTERM');
    expect(await served.exit).toEqual([1, null]);
    expect(served.lines).toContain('error: The server could not be closed');
  });

  test('ends the process even if the lifespan never ends', async () => {
    const served = await start({ closes: 'never', drainMs: 0, shutdownDelayMs: 100 });
    served.child.kill('SIGTERM');
    expect(await soon('The exit', served.exit, 45_000)).toEqual([0, null]);
  });

  test('ends a server with workers at once if it is repeated', async () => {
    const served = await start({ workers: 2, shutdownDelayMs: 60_000, drainMs: 60_000 });
    const again = setInterval(() => served.child.kill('SIGTERM'), 300);
    expect(await soon('The exit', served.exit, 45_000)).toEqual([null, 'SIGTERM']);
    clearInterval(again);
    await until('no worker serves', async () => (await served.ready()) === undefined);
  });

  test('during the start of workers ends all of them in order', async () => {
    const begun = begin({ workers: 2, startMs: 1000 });
    await begun.says('starting');
    begun.child.kill('SIGTERM');
    expect(await begun.exit).toEqual([0, null]);
    expect(begun.lines.filter((line) => line.startsWith('http'))).toEqual([]);
    const count = (word: string): number => begun.lines.filter((line) => line === word).length;
    expect(count('ended')).toBe(count('starting'));
  });

  test('turns the readiness of all workers, which keep serving', async () => {
    const served = await start({ workers: 2, shutdownDelayMs: 1500 });
    served.child.kill('SIGTERM');
    await until('a worker is not ready', async () => (await served.ready()) === 503);
    for (let n = 0; n < 6; n++) {
      expect(await served.ready()).toBe(503);
      expect((await modern(served.url, 'tools/call', { name: 'who' })).status).toBe(200);
    }
    expect(await served.exit).toEqual([0, null]);
  });
});

test('a handler that closes its own server and waits for that is ended at the drain limit', async () => {
  const served = await start({ drainMs: 200 });
  const { text } = await modern(served.url, 'tools/call', { name: 'leave' });
  expect(JSON.parse(text)).toMatchObject({ error: { message: 'The server is shutting down' } });
  expect(await served.exit).toEqual([0, null]);
  expect(served.lines.slice(-2)).toEqual(['ended', 'closed']);
});

test('a server that is closed several times ends once, and every caller waits for the end', async () => {
  const ended = vi.fn();
  const server = createServer({
    ...quiet,
    lifespan: async function* () {
      yield {};
      ended();
    },
  });
  const serving = await serve(server, { port: 0, signals: false });
  await Promise.all([serving.close(), serving.close(), serving.closed]);
  await serving.close();
  expect(ended).toHaveBeenCalledOnce();
});

test('a request whose body is still arriving when the shutdown begins is served', async () => {
  const server = createServer({ ...quiet, tools: { who: tool({ run: () => 'me' }) } });
  const serving = await serve(server, { port: 0, signals: false, drainMs: 10_000 });
  const { headers = {}, body = '' } = modernExchange('tools/call', { name: 'who' });
  const socket = openSocket(serving.port, '127.0.0.1');
  const fields = { ...headers, host: 'localhost', 'content-length': String(body.length) };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST /mcp HTTP/1.1\r\n${head.join('')}\r\n${body.slice(0, 20)}`);
  await until('the request has arrived', async () => {
    const { headers: replied } = await modern(serving.url, 'ping');
    return replied.connection !== undefined && socket.bytesWritten > 0;
  });
  const closing = serving.close();
  await until('the server does not listen any more', () =>
    modern(serving.url, 'ping').then(
      () => false,
      () => true,
    ),
  );
  socket.write(body.slice(20));
  let reply = '';
  for await (const chunk of socket) reply += String(chunk);
  expect(reply).toContain('HTTP/1.1 200');
  expect(reply.toLowerCase()).toContain('connection: close');
  expect(reply).toContain('"text":"me"');
  await closing;
});

test('a connection that never sends a request does not keep the server open', async () => {
  const serving = await serve(createServer(quiet), { port: 0, signals: false, drainMs: 60_000 });
  const socket = openSocket(serving.port, '127.0.0.1');
  await new Promise((resolve) => socket.on('connect', resolve));
  await soon('The end', serving.close(), 5000);
  socket.destroy();
});

test('a WebSocket whose client is still being identified is refused, and does not keep the server open', async () => {
  const asked = signal<void>();
  const serving = await serve(createServer(quiet), {
    port: 0,
    signals: false,
    drainMs: 60_000,
    auth: () => {
      asked.give();
      return new Promise(() => undefined);
    },
  });
  const socket = new WebSocket(serving.url.replace('http', 'ws'), 'mcp');
  const refused = new Promise<number | undefined>((resolve) =>
    socket
      .on('unexpected-response', (_, response) => resolve(response.statusCode))
      .on('error', () => undefined),
  );
  await asked.promise;
  await soon('The end', serving.close(), 5000);
  expect(await soon('The refusal', refused)).toBe(503);
});

test('a handler that is mounted elsewhere turns its readiness and still serves for the delay', async () => {
  const server = createServer({ ...quiet, tools: { who: tool({ run: () => 'me' }) } });
  const handler = createHandler(server);
  const { headers, body } = modernExchange('tools/call', { name: 'who' });
  const call = (): Promise<Response> =>
    handler(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: headers as Record<string, string>,
        body: String(body),
      }),
    );
  const closing = handler.close({ delayMs: 300 });
  const ready = await handler(new Request('http://localhost/ready'));
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'draining' }]);
  expect((await call()).status).toBe(200);
  await closing;
  expect((await call()).status).toBe(503);
  await expect(handler.close({ delayMs: -1 })).resolves.toBeUndefined();
});

test('a failed start closes the parts that had started', async () => {
  const closed = vi.fn(async () => undefined);
  const cluster = { start: async () => [], ping: async () => undefined, close: closed } as never;
  const server = createServer({
    ...quiet,
    cluster,
    // biome-ignore lint/correctness/useYield: it fails before.
    lifespan: async function* () {
      throw new Error('no database');
    },
  });
  await expect(serve(server, { port: 0, signals: false })).rejects.toThrow('no database');
  expect(closed).toHaveBeenCalledOnce();
});
