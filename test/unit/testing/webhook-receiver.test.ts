import { expect, test } from 'vitest';
import { makeSecret, readSecret, signWebhook, webhookKey } from '../../../src/protocol/events/signature.js';
import { webhookReceiver } from '../../../src/testing.js';

const post = (url: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'webhook-id': 'a', 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

test('a receiver of a test returns challenges, and accepts everything else', async () => {
  await using hooks = await webhookReceiver();
  const echoed = await post(`${hooks.url}/x?y=1`, { type: 'verification', challenge: 'c' });
  expect(await echoed.json()).toEqual({ challenge: 'c' });
  expect((await post(hooks.url, { eventId: 'a' })).status).toBe(204);
  expect(hooks.received.map(({ path, attempt }) => [path, attempt])).toEqual([
    ['/x?y=1', 1],
    ['/', 2],
  ]);
});

test('a receiver of a test replies as told: by attempt, with a redirect, without end, or with a broken connection', async () => {
  await using hooks = await webhookReceiver({
    reply({ attempt, body }) {
      if (body['way'] === 'redirect') return { status: 302, headers: { location: 'http://127.0.0.1:1' } };
      if (body['way'] === 'endless') return 'endless';
      if (body['way'] === 'reset') return 'reset';
      return attempt < 3 ? 503 : undefined;
    },
  });
  const third = hooks.next(({ attempt }) => attempt === 3);
  expect([(await post(hooks.url, {})).status, (await post(hooks.url, {})).status]).toEqual([503, 503]);
  expect((await post(hooks.url, {})).status).toBe(204);
  expect((await third).attempt).toBe(3);
  expect((await post(hooks.url, { way: 'redirect' })).status).toBe(302);
  await expect(post(hooks.url, { way: 'reset' })).rejects.toThrow();
  const endless = await post(hooks.url, { way: 'endless' });
  const reader = (endless.body as ReadableStream<Uint8Array>).getReader();
  let bytes = 0;
  while (bytes < 1_000_000) bytes += (await reader.read()).value?.byteLength ?? 0;
  await reader.cancel();
});

test('a receiver of a test verifies signatures', async () => {
  await using hooks = await webhookReceiver();
  const secret = makeSecret();
  const body = new TextEncoder().encode('{"a":1}');
  const key = await webhookKey(readSecret(secret) as Uint8Array<ArrayBuffer>);
  const signature = await signWebhook({ id: 'a', timestamp: 7, body }, [key]);
  await post(hooks.url, { a: 1 }, { 'webhook-timestamp': '7', 'webhook-signature': signature });
  expect(await hooks.received[0]?.isSignedWith(secret)).toBe(true);
  expect(await hooks.received[0]?.isSignedWith(makeSecret())).toBe(false);
  expect(await hooks.received[0]?.isSignedWith('not a secret')).toBe(false);
});
