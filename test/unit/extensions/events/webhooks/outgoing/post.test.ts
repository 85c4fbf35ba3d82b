import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nodeSafeFetch } from '../../../../../../src/adapters/node/fetch/node-safe-fetch.js';
import { postWebhook } from '../../../../../../src/extensions/events/webhooks/outgoing/post.js';
import { readSecret, webhookKey } from '../../../../../../src/protocol/events/signature.js';
import { type Receiver, secretOf, startReceiver } from '../../../../../support/events/receiver.js';
import { publicHosts } from '../../../../../support/http/public-hosts.js';

const [old, current] = [secretOf(1), secretOf(2)];
const keyOf = (secret: string) => webhookKey(readSecret(secret) as Uint8Array<ArrayBuffer>);
const body = new TextEncoder().encode('{"eventId":"e1","name":"t","data":{"text":"\\u2028 <script> é"}}');
let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

async function post(url: string, options: { now?: () => number; signal?: AbortSignal } = {}) {
  const fetch = nodeSafeFetch({ privateHosts: [new URL(url).origin] });
  const keys = [await keyOf(current), await keyOf(old)];
  return postWebhook({ url, id: 'e1', subscription: 'sub_1', body, keys }, { fetch, ...options });
}

describe('one attempt', () => {
  test('is a POST of the same bytes that were signed, with both secrets', async () => {
    expect(await post(receiver.url('/hook?k=1'))).toEqual({ ok: true, reply: '' });
    const [message] = receiver.messages;
    expect(message?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': 'e1',
      'x-mcp-subscription-id': 'sub_1',
    });
    expect(message?.path).toBe('/hook?k=1');
    expect(message?.raw).toEqual(body);
    expect(await message?.isSignedWith(current)).toBe(true);
    expect(await message?.isSignedWith(old)).toBe(true);
    expect(await message?.isSignedWith(secretOf(3))).toBe(false);
    expect(Math.abs((message?.timestamp ?? 0) - Date.now() / 1000)).toBeLessThan(60);
  });

  test.each([200, 201, 202, 204, 299])('succeeds with the status %d', async (status) => {
    receiver.answer = (_message, response) => response.writeHead(status).end();
    expect(await post(receiver.url())).toMatchObject({ ok: true });
  });

  test.each([
    [400, 'http_4xx', false],
    [401, 'http_4xx', false],
    [404, 'http_4xx', false],
    [410, 'http_4xx', true],
    [413, 'http_4xx', true],
    [429, 'http_4xx', false],
    [500, 'http_5xx', false],
    [503, 'http_5xx', false],
  ] as const)('fails with the status %d as %s', async (status, reason, isFinal) => {
    receiver.answer = (_message, response) => response.writeHead(status).end('a secret of the network');
    expect(await post(receiver.url())).toEqual({ ok: false, status, reason, isFinal });
  });

  test.each([301, 302, 303, 307, 308])('does not follow a redirect (%d)', async (status) => {
    receiver.answer = (_message, response) =>
      response.writeHead(status, { location: receiver.url('/other') }).end();
    expect(await post(receiver.url())).toMatchObject({ ok: false, status, isFinal: false });
    expect(receiver.messages.map(({ path }) => path)).toEqual(['/hook']);
  });

  test.each([
    ['7', 7000],
    ['0', 0],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['soon', undefined],
    ['-5', undefined],
    ['1e9', undefined],
  ])('reads the header Retry-After: %s', async (header, retryAfterMs) => {
    receiver.answer = (_message, response) => response.writeHead(503, { 'retry-after': header }).end();
    const attempt = await post(receiver.url(), { now: () => Date.parse('2026-01-01T00:00:00Z') });
    expect('retryAfterMs' in attempt ? attempt.retryAfterMs : undefined).toBe(retryAfterMs);
  });

  test('reads no more of a reply than it needs', async () => {
    let isClosed = false;
    receiver.answer = (_message, response) => {
      response.writeHead(200);
      const more = (): void => {
        while (response.write('x'.repeat(16_384)));
        response.once('drain', more);
      };
      response.on('error', () => undefined).on('close', () => (isClosed = true));
      more();
    };
    expect(await post(receiver.url())).toEqual({ ok: true, reply: undefined });
    receiver.answer = (_message, response) => response.writeHead(500).end('x'.repeat(200_000));
    expect(await post(receiver.url())).toMatchObject({ ok: false, status: 500, reason: 'http_5xx' });
    await expect.poll(() => isClosed).toBe(true);
  });

  test('ends with its signal', async () => {
    receiver.answer = () => undefined;
    const controller = new AbortController();
    const posting = post(receiver.url(), { signal: controller.signal });
    await expect.poll(() => receiver.messages.length).toBe(1);
    controller.abort(new Error('shutdown'));
    await expect(posting).rejects.toThrow('shutdown');
  });
});

describe('an attempt that gets no reply', () => {
  test('is refused if nobody listens', async () => {
    await receiver.close();
    expect(await post(receiver.url())).toEqual({ ok: false, reason: 'connection_refused', isFinal: false });
    receiver = await startReceiver();
  });

  test('is a TLS error if the certificate is not valid', async () => {
    const hosts = await publicHosts((_request, response) => response.end());
    const message = {
      url: 'https://other.example/',
      id: 'e1',
      subscription: 's',
      body,
      keys: [await keyOf(old)],
    };
    expect(await postWebhook(message, { fetch: hosts.fetch })).toMatchObject({
      ok: false,
      reason: 'tls_error',
    });
    await hosts.close();
  });

  test('is refused if the connection breaks, and if it is not HTTP', async () => {
    const sockets = new Set<Socket>();
    let answer = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc';
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      socket.once('data', () => socket.end(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    expect(await post(url)).toMatchObject({ ok: false, reason: 'connection_refused' });
    answer = 'SSH-2.0-OpenSSH_9.2\r\n';
    expect(await post(url)).toMatchObject({ ok: false, reason: 'connection_refused' });
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
});

test('a name that leads to a private address later is not dialled', async () => {
  const addresses = [['93.184.215.14'], ['127.0.0.1'], ['93.184.215.14', '10.0.0.1'], ['::ffff:127.0.0.1']];
  const hosts = await publicHosts((_request, response) => response.end(), {
    addresses: (_name, lookup) => addresses[lookup - 1] ?? [],
  });
  const message = {
    url: 'https://a.public.example/',
    id: 'e1',
    subscription: 's',
    body,
    keys: [await keyOf(old)],
  };
  const results = [];
  for (let round = 0; round < 5; round++) results.push(await postWebhook(message, { fetch: hosts.fetch }));
  expect(results.map(({ ok }) => ok)).toEqual([true, false, false, false, false]);
  for (const each of results.slice(1)) expect(each).toMatchObject({ reason: 'connection_refused' });
  expect(hosts.dialled).toEqual(['93.184.215.14:443']);
  await hosts.close();
});
