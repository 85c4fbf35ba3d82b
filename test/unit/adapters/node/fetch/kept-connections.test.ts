import process from 'node:process';
import { afterEach, expect, test, vi } from 'vitest';
import { PUBLIC_ADDRESS, type PublicHosts, publicHosts } from '../../../../support/http/public-hosts.js';
import { until } from '../../../../support/until.js';

const URL_A = 'https://a.public.example/hook';
const URL_B = 'https://b.public.example/hook';

let hosts: PublicHosts;

afterEach(() => hosts.close());

type Handle = Parameters<typeof publicHosts>[0];
type Options = NonNullable<Parameters<typeof publicHosts>[1]>;

async function start(
  handle: Handle = (_request, response) => response.end('here'),
  options: Options = {},
): Promise<void> {
  hosts = await publicHosts(handle, { keepAlive: true, ...options });
}

/** A POST, as webhooks are sent. Returns the text of the reply. */
async function post(url = URL_A, maxBytes = 100): Promise<string> {
  const limits = { maxBytes, timeoutMs: 60_000 };
  const response = await hosts.fetch(url, { method: 'POST', body: '{}', redirect: 'manual', ...limits });
  return response.text();
}

test('requests to one origin after one another have one connection, whose name is looked up once', async () => {
  await start();
  for (const path of ['/1', '/2', '/3']) expect(await post(new URL(path, URL_A).href)).toBe('here');
  expect(hosts.lookups).toEqual(['a.public.example']);
  expect(hosts.dialled).toHaveLength(1);
  expect(hosts.requests).toHaveLength(3);
});

test('a connection that is used again and again gathers no listeners', async () => {
  await start();
  const warn = vi.spyOn(process, 'emitWarning');
  for (let n = 0; n < 30; n++) await post();
  expect(hosts.dialled).toHaveLength(1);
  expect(warn).not.toHaveBeenCalled();
});

test('without `keepAlive`, each request has a connection of its own', async () => {
  await start(undefined, { keepAlive: false });
  await post();
  await post();
  expect(hosts.dialled).toHaveLength(2);
  expect(hosts.received.map(({ headers }) => headers.connection)).toEqual(['close', 'close']);
});

test('two origins with the same address do not share a connection', async () => {
  await start();
  await post(URL_A);
  await post(URL_B);
  expect(hosts.lookups).toEqual(['a.public.example', 'b.public.example']);
  expect(hosts.requests).toEqual(['POST a.public.example/hook', 'POST b.public.example/hook']);
});

test('a name that leads to a private address later is refused with the next connection', async () => {
  let end: (() => void) | undefined;
  await start(
    (request, response) => {
      if (request.url === '/slow') end = () => response.end('late');
      else response.end('here');
    },
    { addresses: (_hostname, lookup) => (lookup === 1 ? [PUBLIC_ADDRESS] : ['127.0.0.1']) },
  );
  const slow = post(new URL('/slow', URL_A).href);
  await until('the first request arrives', () => end !== undefined);
  await expect(post()).rejects.toMatchObject({ code: 'private_address' });
  end?.();
  expect(await slow).toBe('late');
  expect(hosts.dialled).toEqual([`${PUBLIC_ADDRESS}:443`]);
});

test('a connection is looked up and checked anew when it is a minute old', async () => {
  await start();
  await post();
  const now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 60_001);
  await post();
  await post();
  clock.mockRestore();
  expect(hosts.lookups).toHaveLength(2);
});

test('a request that meets a closed connection is sent once more, on a new one', async () => {
  await start((request, response) => {
    if (hosts.requests.length === 2) request.socket.destroy();
    else response.end(`number ${hosts.requests.length}`);
  });
  expect(await post()).toBe('number 1');
  expect(await post()).toBe('number 3');
  expect(hosts.dialled).toHaveLength(2);
});

test('a new connection that is closed without a reply is a failure', async () => {
  await start((request) => request.socket.destroy());
  await expect(post()).rejects.toMatchObject({ code: 'connect_failed' });
  expect(hosts.requests).toHaveLength(1);
});

test('the rest of a reply that was too long is never read as the next reply', async () => {
  await start((_request, response) => {
    if (hosts.requests.length > 1) return response.end('right');
    response.write('x'.repeat(101));
    return setImmediate(() => response.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwrong'));
  });
  await expect(post()).rejects.toMatchObject({ code: 'too_large', status: 200 });
  expect(await post()).toBe('right');
  expect(hosts.dialled).toHaveLength(2);
});

test('a reply that comes before its request is not read', async () => {
  const forged = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged';
  let isForged = false;
  await start((request, response) => {
    response.end('true');
    if (isForged) return;
    setImmediate(() => request.socket.write(forged, () => (isForged = true)));
  });
  expect(await post()).toBe('true');
  await until('the server has sent a reply that nobody asked for', () => isForged);
  expect(await post()).toBe('true');
});

test('an aborted request does not leave its connection to others', async () => {
  await start((_request, response) => {
    if (hosts.requests.length > 1) response.end('here');
  });
  const controller = new AbortController();
  const stopped = hosts.fetch(URL_A, { method: 'POST', body: '{}', signal: controller.signal });
  await until('the request arrives', () => hosts.requests.length === 1);
  controller.abort(new Error('stopped'));
  await expect(stopped).rejects.toThrow('stopped');
  expect(await post()).toBe('here');
  expect(hosts.dialled).toHaveLength(2);
});

test('many requests at the same time keep at most as many connections as they need', async () => {
  await start();
  const all = Array.from({ length: 30 }, (_, index) => post(index % 2 === 0 ? URL_A : URL_B));
  expect(new Set(await Promise.all(all))).toEqual(new Set(['here']));
  const before = hosts.dialled.length;
  expect(before).toBeLessThanOrEqual(30);
  await Promise.all([post(URL_A), post(URL_B)]);
  expect(hosts.dialled).toHaveLength(before);
});
