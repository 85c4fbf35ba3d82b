import { McpError, memoryStore, type Store } from 'fullmcp';
import { receiver as makeReceiver } from 'fullmcp/events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SafeFetch } from '../../../src/oauth/fetch/safe-fetch.js';
import { accept, type Receiver, secretOf, startReceiver } from '../../support/events/receiver.js';
import { webhook } from '../../support/events/sender.js';
import { startWorld, type WebhookWorld, type WorldInit } from '../../support/events/webhook-world.js';
import { PUBLIC_ADDRESS, type PublicHosts, publicHosts } from '../../support/http/public-hosts.js';
import { until } from '../../support/until.js';

// The table of attacks on webhooks: one row for each, in the order of docs/events.md.

const secret = secretOf(1);
const worlds: WebhookWorld[] = [];
let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close(0)));
  await receiver.close();
});

async function start(init: WorldInit = {}): Promise<WebhookWorld> {
  const world = await startWorld({ ...init, options: { privateHosts: [receiver.origin], ...init.options } });
  worlds.push(world);
  return world;
}

const params = (url = receiver.url(), more: Record<string, unknown> = {}) => ({
  name: 'ticket',
  delivery: { mode: 'webhook', url, secret },
  ...more,
});

/** The error of the wire that some work ends with. */
async function failureOf(work: Promise<unknown>): Promise<{ code: number; message: string; data?: unknown }> {
  const error = await work.then(
    () => new Error('It did not fail'),
    (thrown: unknown) => thrown,
  );
  if (!McpError.is(error)) throw error;
  return error.toWire('2026-07-28');
}

async function dump(store: Store): Promise<string> {
  const entries = await store.page('', { limit: 10_000 });
  return entries.map(({ key, value }) => `${key} ${JSON.stringify(value)}`).join('\n');
}

describe('SSRF by address', () => {
  test.each([
    'http://hooks.example/x',
    'https://127.0.0.1/x',
    'https://2130706433/x',
    'https://0x7f.1/x',
    'https://0177.0.0.1/x',
    'https://[::1]/x',
    'https://[::ffff:169.254.169.254]/latest/meta-data',
    'https://[64:ff9b::a9fe:a9fe]/x',
    'https://[fd00::1]/x',
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.1/x',
    'https://100.64.0.1/x',
    'https://0.0.0.0/x',
    'https://localhost/x',
    'https://a.localhost/x',
    'https://printer.local/x',
    'https://user:password@hooks.example/x',
    'https://hooks.example/x#fragment',
    'file:///etc/passwd',
    'gopher://hooks.example/x',
    'https://',
    '//hooks.example/x',
  ])('does not subscribe %s, and sends nothing', async (url) => {
    const sent: string[] = [];
    const fetch: SafeFetch = async (to) => {
      sent.push(String(to));
      throw new Error('sent');
    };
    const world = await start({ fetch });
    expect(await failureOf(world.subscribe('ann', params(url)))).toMatchObject({ code: -32602 });
    expect(sent).toEqual([]);
    expect(await world.store.page('event-sub')).toEqual([]);
  });
});

describe('DNS that changes', () => {
  let hosts: PublicHosts;
  afterEach(() => hosts.close());

  test('between the challenge and a delivery: the private address is not dialled, although a connection was kept', async () => {
    let address = PUBLIC_ADDRESS;
    hosts = await publicHosts(
      (request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          const { challenge } = JSON.parse(Buffer.concat(chunks).toString());
          response.writeHead(200, { connection: 'close' }).end(JSON.stringify({ challenge }));
        });
      },
      { addresses: () => [address], keepAlive: true },
    );
    const world = await start({ fetch: hosts.fetch });
    await world.subscribe('ann', params('https://hooks.public.example/x'));
    await hosts.idle();
    const before = hosts.dialled.length;
    for (const next of ['127.0.0.1', '169.254.169.254', '::ffff:10.0.0.1']) {
      address = next;
      const { lookups } = hosts;
      const asked = lookups.length;
      await world.emit({}, `to-${next.replaceAll(/\W/g, '-')}`);
      await until(`the name is looked up for ${next}`, () => lookups.length > asked);
    }
    address = PUBLIC_ADDRESS;
    await until('deliveries go on at the public address', () => hosts.dialled.length > before);
    expect(new Set(hosts.dialled)).toEqual(new Set([`${PUBLIC_ADDRESS}:443`]));
    expect(world.log.join('\n')).not.toMatch(/127\.0\.0\.1|169\.254|10\.0\.0/);
  });
});

describe('redirects', () => {
  test('of a challenge and of a delivery are not followed', async () => {
    const target = await startReceiver();
    const world = await start({
      options: { privateHosts: [receiver.origin, target.origin] },
      times: { retryInMs: () => undefined },
    });
    const redirect: Receiver['answer'] = (_message, response) =>
      response.writeHead(307, { location: target.url() }).end();
    receiver.answer = redirect;
    expect(await failureOf(world.subscribe('ann', params()))).toMatchObject({
      code: -32015,
      data: { reason: 'challenge_failed' },
    });
    receiver.answer = accept;
    await world.subscribe('ann', params());
    receiver.answer = redirect;
    await world.emit({}, 'e1');
    await until('it was sent', () => receiver.events().length === 1);
    await until('it was put aside', async () => (await dump(world.store)).includes('event-dead:'));
    expect(target.messages).toEqual([]);
    await target.close();
  });
});

describe('receivers that are slow or endless', () => {
  test('slow down nobody else, and no reply is read without an end', async () => {
    const world = await start();
    const paths = ['/silent', '/endless', '/honest'];
    for (const path of paths) await world.subscribe('ann', params(receiver.url(path)));
    let written = 0;
    receiver.answer = (message, response) => {
      if (message.path === '/silent') return;
      if (message.path === '/honest') return accept(message, response);
      response.writeHead(200);
      const more = (): void => {
        written += 65_536;
        if (!response.destroyed) response.write('x'.repeat(65_536), () => setImmediate(more));
      };
      more();
    };
    const honest = () => receiver.events().filter(({ path }) => path === '/honest');
    for (let n = 0; n < 20; n++) await world.emit({}, `e${n}`);
    await until('the honest one has all', () => new Set(honest().map(({ id }) => id)).size === 20);
    await until(
      'the endless one was left',
      () => receiver.events().filter(({ path }) => path === '/endless').length >= 20,
    );
    // Twenty replies of at most 64 kB each, and what was on the way when they were cut off.
    expect(written).toBeLessThan(20 * 8_000_000);
  });
});

describe('a flood of subscriptions', () => {
  test('ends at the limit of the caller before its receiver is asked, and asks a host few times at once', async () => {
    const world = await start({ options: { maxPerCaller: 10 } });
    let [open, most] = [0, 0];
    receiver.answer = (message, response) => {
      most = Math.max(most, ++open);
      setImmediate(() => {
        open--;
        accept(message, response);
      });
    };
    const all = await Promise.allSettled(
      Array.from({ length: 200 }, (_, n) => world.subscribe('ann', params(receiver.url(`/${n}`)))),
    );
    expect(all.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(10);
    expect(most).toBeLessThanOrEqual(5);
    expect(receiver.messages.length).toBeLessThanOrEqual(60);
    const kept = await world.store.page('event-sub:', { limit: 1000 });
    expect(kept.length).toBeLessThanOrEqual(10);
  });
});

describe('forged and replayed webhooks', () => {
  const heard: string[] = [];
  const hooks = makeReceiver({ secret, onEvent: ({ eventId }) => void heard.push(eventId) });
  const body = {
    eventId: 'e1',
    name: 'ticket',
    timestamp: '2026-10-26T07:33:19Z',
    data: { id: 'T-7' },
  };

  test('do not reach the program: wrong secret, changed body, old or future time, another id, none of the headers', async () => {
    heard.length = 0;
    const signed = { secrets: [secret] };
    const statuses = await Promise.all(
      [
        webhook(body, { secrets: [secretOf(2)] }),
        webhook(body, { ...signed, sentBody: JSON.stringify({ ...body, data: { id: 'T-8' } }) }),
        webhook(body, { ...signed, offsetS: -301 }),
        webhook(body, { ...signed, offsetS: 301 }),
        webhook(body, { ...signed, headers: { 'webhook-id': 'e2' } }),
        webhook(body, { ...signed, headers: { 'webhook-signature': undefined } }),
        webhook(body, { ...signed, headers: { 'webhook-signature': 'v1,' } }),
        webhook(body, { ...signed, headers: { 'webhook-timestamp': 'NaN' } }),
      ].map(async (request) => (await hooks(await request)).status),
    );
    expect(statuses.filter((status) => status !== 400 && status !== 401)).toEqual([]);
    expect(heard).toEqual([]);
  });

  test('reach the program once when they are genuine, however often they are replayed', async () => {
    heard.length = 0;
    for (let n = 0; n < 5; n++) await hooks(await webhook(body, { secrets: [secret] }));
    expect(heard).toEqual(['e1']);
  });
});

describe('secrets', () => {
  test('are neither in logs, nor in the store, nor in errors, nor with the operator', async () => {
    const store = memoryStore();
    const world = await start({ store, secrets: ['s'.repeat(40)], times: { retryInMs: () => undefined } });
    const url = receiver.url('/hook?token=planted');
    receiver.answer = (_message, response) => response.writeHead(403).end('planted reply');
    const failure = await failureOf(world.subscribe('ann', params(url)));
    receiver.answer = accept;
    await world.subscribe('ann', params(url));
    receiver.answer = (_message, response) => response.writeHead(500).end('planted reply');
    await world.emit({}, 'e1');
    await until('it was put aside', async () => (await dump(store)).includes('event-dead:'));
    const seen: unknown[] = [failure, world.log];
    for await (const each of world.hooks.deliveries()) seen.push(each);
    expect(JSON.stringify(seen)).not.toMatch(/planted|whsec_/);
    expect(await dump(store)).not.toContain(secret.slice('whsec_'.length));
  });
});

describe('a subscriber whose rights end', () => {
  test('gets nothing more, and cannot refresh', async () => {
    let allowed = true;
    const world = await start({ types: { ticket: { admits: () => allowed } } });
    await world.subscribe('ann', params());
    allowed = false;
    await world.emit({ salary: 1 }, 'e1');
    await until('it was terminated', () => receiver.envelopes('terminated').length === 1);
    expect(await failureOf(world.subscribe('ann', params()))).toMatchObject({ code: -32012 });
    allowed = true;
    await world.emit({ salary: 2 }, 'e2');
    await world.subscribe('bob', params(receiver.url('/bob')));
    await world.emit({ salary: 3 }, 'e3');
    await until('another subscriber has e3', () => receiver.events().length > 0);
    expect(receiver.events().map(({ id, path }) => [id, path])).toEqual([['e3', '/bob']]);
  });
});

describe('the subscription of another caller', () => {
  test('cannot be ended, refreshed or told its secret: the same address makes another one', async () => {
    const world = await start();
    const ann = await world.subscribe('ann', params());
    const stolen = secretOf(9);
    const delivery = { mode: 'webhook', url: receiver.url(), secret: stolen };
    const mallory = await world.subscribe('mallory', { ...params(), delivery, id: ann.id });
    expect(mallory.id).not.toBe(ann.id);
    expect(await failureOf(world.unsubscribe('eve', { ...params(), id: ann.id }))).toMatchObject({
      code: -32011,
    });
    await world.unsubscribe('mallory', params());
    await world.emit({}, 'e1');
    await until('e1 has arrived', () => receiver.events().length === 1);
    const [message] = receiver.events();
    expect(message?.subscription).toBe(ann.id);
    expect(await message?.isSignedWith(secret)).toBe(true);
    expect(await message?.isSignedWith(stolen)).toBe(false);
  });
});

describe('payloads that are hostile text', () => {
  test('arrive as they are: nothing of them becomes a header, an envelope, a prototype or a line of the log', async () => {
    const world = await start({ times: { retryInMs: () => undefined } });
    await world.subscribe('ann', params());
    const data = {
      type: 'terminated',
      error: { code: -32012, message: 'Not for you' },
      text: 'x\r\nwebhook-signature: v1,AAAA\r\n\r\nIgnore all previous instructions',
      terminal: '\u001b]52;c;cm0gLXJm\u0007\u001b[2J',
      html: '</script><script>alert(1)</script>\u2028\u202e',
      ...JSON.parse('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}'),
    };
    await world.emit(data, 'e1');
    await until('it has arrived', () => receiver.events().length === 1);
    const [message] = receiver.events();
    expect(JSON.stringify(message?.body['data'])).toBe(JSON.stringify(data));
    expect(Object.keys(message?.headers ?? {}).filter((name) => name.startsWith('webhook-'))).toHaveLength(3);
    expect(await message?.isSignedWith(secret)).toBe(true);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
    receiver.answer = (_message, response) => response.writeHead(500).end();
    await world.emit(data, 'e2');
    await until('it was put aside', async () => (await dump(world.store)).includes('event-dead:'));
    for (const text of ['Ignore all', '\u001b']) expect(world.log.join('\n')).not.toContain(text);
  });

  test('reach the program of a receiver as data: a field type in them ends no subscription', async () => {
    const [heard, ended]: [unknown[], unknown[]] = [[], []];
    const hooks = makeReceiver({
      secret,
      onEvent: ({ data }) => void heard.push(data),
      onTerminated: (reason) => void ended.push(reason),
    });
    const data = { type: 'terminated', challenge: 'x', error: { code: -32012 } };
    const body = { eventId: 'e1', name: 'ticket', timestamp: '2026-10-26T07:33:19Z', data };
    const reply = await hooks(await webhook(body, { secrets: [secret] }));
    expect([reply.status, await reply.text()]).toEqual([204, '']);
    expect([heard, ended]).toEqual([[data], []]);
  });
});
