import { McpError } from 'fullmcp';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nodeSafeFetch } from '../../../../../../src/adapters/node/fetch/node-safe-fetch.js';
import { type Intention, Intents } from '../../../../../../src/extensions/events/webhooks/outgoing/intent.js';
import { readSecret, webhookKey } from '../../../../../../src/protocol/events/signature.js';
import { accept, type Receiver, secretOf, startReceiver } from '../../../../../support/events/receiver.js';
import { publicHosts } from '../../../../../support/http/public-hosts.js';
import { until } from '../../../../../support/until.js';

const secret = secretOf(1);
const key = await webhookKey(readSecret(secret) as Uint8Array<ArrayBuffer>);
let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

function intents(allow: readonly string[] = []): Intents {
  return new Intents({ fetch: nodeSafeFetch({ privateHosts: [receiver.origin] }), allow: new Set(allow) });
}

function intention(change: Partial<Intention> = {}): Intention {
  return { principal: 'ann', url: receiver.url(), subscription: 'sub_1', key, dialect: 'sketch', ...change };
}

async function reasonOf(confirming: Promise<void>): Promise<unknown> {
  const error = await confirming.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!McpError.is(error)) return error;
  const { code, data, message } = error.toWire('2026-07-28');
  expect(message).not.toContain('secret');
  return { code, ...(data as object) };
}

test('a receiver that echoes the challenge is asked once for each caller and address', async () => {
  const asked = intents();
  await asked.confirm(intention());
  await asked.confirm(intention({ subscription: 'sub_2' }));
  expect(receiver.messages).toHaveLength(1);
  const [challenge] = receiver.messages;
  expect(challenge?.id).toMatch(/^msg_verification_.+/);
  expect(Object.keys(challenge?.body ?? {})).toEqual(['type', 'challenge']);
  expect(await challenge?.isSignedWith(secret)).toBe(true);
  await asked.confirm(intention({ principal: 'bob' }));
  await asked.confirm(intention({ url: receiver.url('/other') }));
  const nonces = receiver.messages.map(({ body }) => body['challenge']);
  expect(new Set(nonces).size).toBe(3);
});

test.each([
  ['another value', '{"challenge":"wrong"}'],
  ['its beginning', undefined],
  ['no JSON', 'the secret of an internal service'],
  ['another type', '{"challenge":{"length":43}}'],
  ['nothing', ''],
  ['too much', 'x'.repeat(100_000)],
])('a receiver that echoes %s is not confirmed, and its reply is not in the error', async (_what, reply) => {
  receiver.answer = ({ body }, response) =>
    response.end(reply ?? JSON.stringify({ challenge: String(body['challenge']).slice(0, -1) }));
  const asked = intents();
  expect(await reasonOf(asked.confirm(intention()))).toEqual({ code: -32015, reason: 'challenge_failed' });
  expect(await reasonOf(asked.confirm(intention({ dialect: 'sep' })))).toEqual({
    code: -32027,
    reason: 'challenge_failed',
  });
});

test.each([302, 400, 404, 500])(
  'a receiver that replies with the status %d has failed the challenge',
  async (status) => {
    receiver.answer = (_message, response) => response.writeHead(status, { location: '/x' }).end('secret');
    expect(await reasonOf(intents().confirm(intention()))).toEqual({
      code: -32015,
      reason: 'challenge_failed',
    });
    expect(receiver.messages).toHaveLength(1);
  },
);

test('a receiver that is not there has a reason of its own', async () => {
  const { url } = intention();
  const fetch = nodeSafeFetch({ privateHosts: [receiver.origin] });
  await receiver.close();
  const asked = new Intents({ fetch, allow: new Set() });
  expect(await reasonOf(asked.confirm(intention({ url })))).toEqual({
    code: -32015,
    reason: 'connection_refused',
  });
  receiver = await startReceiver();
});

test('an origin that the operator has named is not asked, nor looked up', async () => {
  await intents(['https://conformance.invalid']).confirm(intention({ url: 'https://conformance.invalid/x' }));
});

test('one challenge is under way for a caller and an address, and its result is for all that wait', async () => {
  const waiting: (() => void)[] = [];
  receiver.answer = (message, response) => waiting.push(() => accept(message, response));
  const asked = intents();
  const all = Promise.all([1, 2, 3, 4, 5, 6, 7].map(() => asked.confirm(intention())));
  await until('the challenge has arrived', () => waiting.length > 0);
  for (const reply of waiting) reply();
  await all;
  expect(receiver.messages).toHaveLength(1);
});

test('a host gets at most five challenges at the same time, and sixty in a minute', async () => {
  const waiting: (() => void)[] = [];
  receiver.answer = (message, response) => waiting.push(() => accept(message, response));
  const asked = intents();
  const open = Array.from({ length: 5 }, (_, at) =>
    asked.confirm(intention({ url: receiver.url(`/${at}`) })),
  );
  expect(await reasonOf(asked.confirm(intention({ url: receiver.url('/5') })))).toEqual({
    code: -32013,
    limit: 'verifications',
    max: 5,
  });
  await until('the challenges have arrived', () => waiting.length === 5);
  for (const reply of waiting) reply();
  await Promise.all(open);
  receiver.answer = accept;
  for (let at = 5; at < 60; at++) await asked.confirm(intention({ url: receiver.url(`/${at}`) }));
  expect(await reasonOf(asked.confirm(intention({ url: receiver.url('/60') })))).toMatchObject({ max: 60 });
  expect(receiver.messages).toHaveLength(60);
});

test('the page of an https origin may name the paths that accept webhooks', async () => {
  const hosts = await publicHosts((request, response) => {
    if (request.method === 'POST') response.writeHead(404).end();
    else response.end(JSON.stringify({ receivers: ['/hooks/', '/one', 7, '//evil'] }));
  });
  const asked = new Intents({ fetch: hosts.fetch, allow: new Set() });
  const confirm = (path: string) =>
    reasonOf(asked.confirm(intention({ url: `https://a.public.example${path}` })));
  expect(await confirm('/hooks/mine?k=1')).toBeUndefined();
  expect(await confirm('/one')).toBeUndefined();
  for (const path of ['/hooks', '/one/more', '/onemore', '/hooks/../other'])
    expect(await confirm(path), path).toMatchObject({ reason: 'challenge_failed' });
  expect(hosts.requests.filter((line) => line.startsWith('GET'))).toEqual([
    'GET a.public.example/.well-known/mcp-webhook-receiver.json',
  ]);
  await hosts.close();
});
