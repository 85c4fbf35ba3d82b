import { once } from 'node:events';
import { createServer as createHttpServer, request } from 'node:http';
import { type AddressInfo, connect as connectSocket } from 'node:net';
import express from 'express';
import { createServer, tool } from 'fullmcp';
import { type RestHandler, rest } from 'fullmcp/rest';
import { expect, test } from 'vitest';
import { z } from 'zod';

/** A promise, and the function that resolves it. */
function signalled(): { readonly wait: Promise<void>; readonly fire: () => void } {
  let fire = (): void => undefined;
  const wait = new Promise<void>((resolve) => (fire = resolve));
  return { wait, fire: () => fire() };
}

function waiting(options: object = {}) {
  const began = signalled();
  const ended = signalled();
  const release = signalled();
  const server = createServer({
    ...{ name: 'waiting', version: '1', logger: () => undefined },
    tools: {
      wait: tool({
        run: async (_, ctx) => {
          ctx.signal.addEventListener('abort', ended.fire);
          began.fire();
          await release.wait;
          return 'done';
        },
      }),
    },
    ...options,
  });
  return { server, began: began.wait, ended: ended.wait, release: release.fire };
}

async function listening(api: RestHandler) {
  const server = createHttpServer(api.node).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    server,
    url: `http://127.0.0.1:${port}`,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test('on Node, a client that disconnects cancels its call', async () => {
  const { server, began, ended } = waiting();
  using listener = await listening(rest(server));
  const sent = request({ port: listener.port, host: '127.0.0.1', method: 'POST', path: '/tools/wait' });
  sent.on('error', () => undefined).end();
  await began;
  sent.destroy();
  await ended;
});

test('a client that does not read the bytes of a reply is disconnected', async () => {
  const data = Buffer.alloc(16 * 1024 * 1024).toString('base64');
  const server = createServer({
    ...{ name: 'pictures', version: '1', logger: () => undefined },
    tools: { picture: tool({ run: () => ({ content: [{ type: 'image', data, mimeType: 'image/png' }] }) }) },
  });
  using listener = await listening(rest(server, { writeTimeoutMs: 100 }));
  const socket = connectSocket(listener.port, '127.0.0.1').pause();
  socket.on('error', () => undefined);
  const closed = once(listener.server, 'connection').then(([accepted]) => once(accepted, 'close'));
  socket.write('POST /tools/picture HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n');
  await closed;
  socket.destroy();
});

test('a web request that is aborted cancels its call', async () => {
  const { server, began, ended } = waiting();
  const abort = new AbortController();
  void rest(server)(new Request('http://localhost/tools/wait', { method: 'POST', signal: abort.signal }));
  await began;
  abort.abort();
  await ended;
});

test('a call that takes too long is 504, even if its handler ignores the signal', async () => {
  const { server, ended } = waiting();
  const api = rest(server, { requestTimeoutMs: 30 });
  const response = await api(new Request('http://localhost/tools/wait', { method: 'POST' }));
  expect(response.status).toBe(504);
  expect(await response.json()).toMatchObject({ code: 'timeout' });
  await ended;
});

test('close lets open calls finish and refuses others', async () => {
  const { server, began, release } = waiting();
  const api = rest(server);
  const open = api(new Request('http://localhost/tools/wait', { method: 'POST' }));
  await began;
  const closing = api.close();
  const refused = await api(new Request('http://localhost/tools/wait', { method: 'POST' }));
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  release();
  expect((await open).status).toBe(200);
  await closing;
});

test.each([
  ['a declared length', new TextEncoder().encode(`{"a":"${'x'.repeat(2000)}"}`)],
  [
    'a stream',
    new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(' '.repeat(512))),
    }),
  ],
])('a body that is too large is refused: %s', async (_, body) => {
  const { server } = waiting();
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json' }, duplex: 'half' };
  const response = await rest(server, { maxBodyBytes: 1000 })(
    new Request('http://localhost/tools/wait', init as RequestInit),
  );
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({ code: 'too_large' });
});

test('a request with an idempotency key runs once, and the key belongs to its arguments', async () => {
  let runs = 0;
  const server = createServer({
    ...{
      name: 'shop',
      version: '1',
      logger: () => undefined,
      idempotency: true,
      auth: () => ({ subject: 'ann' }),
    },
    tools: { pay: tool({ input: z.object({ sum: z.number() }), run: () => ({ run: ++runs }) }) },
  });
  const api = rest(server);
  const pay = async (sum: number, key: string): Promise<readonly [number, unknown]> => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': key };
    const response = await api(
      new Request('http://localhost/tools/pay', { method: 'POST', headers, body: JSON.stringify({ sum }) }),
    );
    return [response.status, await response.json()];
  };
  expect(await Promise.all([pay(1, 'k1'), pay(1, '"k1"')])).toEqual([
    [200, { run: 1 }],
    [200, { run: 1 }],
  ]);
  expect(await pay(1, 'k2')).toEqual([200, { run: 2 }]);
  expect(await pay(2, 'k1')).toEqual([
    400,
    expect.objectContaining({
      detail: 'The header Idempotency-Key was already used with other arguments. Use a new key.',
    }),
  ]);
  expect((await pay(2, 'k'.repeat(300)))[0]).toBe(400);
});

test('the handler works in Express, with a body that Express has parsed, and with bytes', async () => {
  const server = createServer({
    ...{ name: 'e', version: '1', logger: () => undefined },
    tools: {
      add: tool({ input: z.object({ a: z.number() }), run: ({ a }) => ({ sum: a + 1 }) }),
      picture: tool({ run: () => ({ content: [{ type: 'image', data: 'AQID', mimeType: 'image/png' }] }) }),
    },
  });
  const api = rest(server);
  const app = express();
  app.use(express.json());
  app.use('/api', api.node);
  const listener = app.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/api`;
  try {
    const init = { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } };
    expect(await (await fetch(`${url}/tools/add`, init)).json()).toEqual({ sum: 2 });
    const picture = await fetch(`${url}/tools/picture`, { method: 'POST' });
    expect([picture.headers.get('content-type'), [...new Uint8Array(await picture.arrayBuffer())]]).toEqual([
      'image/png',
      [1, 2, 3],
    ]);
    expect((await fetch(`${url}/openapi.json`, { method: 'HEAD' })).status).toBe(200);
  } finally {
    listener.closeAllConnections();
    listener.close();
  }
});
