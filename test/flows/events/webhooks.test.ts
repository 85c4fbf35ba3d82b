import { createServer, event, memoryStore, type Store } from 'fullmcp';
import { bearer } from 'fullmcp/auth';
import { serve } from 'fullmcp/node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { accept, type Receiver, secretOf, startReceiver } from '../../support/events/receiver.js';
import { modern } from '../../support/http/modern.js';
import { until } from '../../support/until.js';

// The checks of the draft scenarios `events-webhook` and `events-webhook-delivery`, over real HTTP. Their names are in the tests.

const SEP = {
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/events': {} } },
};
const secret = secretOf(1);
const payload = z.object({ id: z.string(), queue: z.string().optional() });
const types = {
  ticket_changed: event({
    description: 'A ticket changed',
    input: z.object({ queue: z.string().optional() }),
    payload,
    match: (data, { queue }) => queue === undefined || data.queue === queue,
  }),
  polled: event({ description: 'Only polled', payload, delivery: ['poll'] }),
  guarded: event({ description: 'Only for readers', payload, scopes: ['tickets:read'] }),
  fired: event({
    description: 'Only for those who are employed',
    payload,
    allow: (auth) => !left.has(auth?.subject ?? ''),
  }),
};
const left = new Set<string>();

let receiver: Receiver;
const opened: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  receiver = await startReceiver();
  left.clear();
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  await receiver.close();
});

interface DeskOptions {
  readonly store?: Store;
  readonly webhooks?: NonNullable<Parameters<typeof createServer>[0]['webhooks']>;
  readonly hasAuth?: boolean;
}

async function startDesk({ store = memoryStore(), webhooks, hasAuth = true }: DeskOptions = {}) {
  const log: string[] = [];
  const server = createServer({
    ...{ name: 'desk', version: '1', events: types, store, secret: 'd'.repeat(40) },
    webhooks: { privateHosts: [receiver.origin], ...webhooks },
    logger: (level, message, detail) => void log.push(`${level} ${message} ${String(detail)}`),
    ...(hasAuth && {
      auth: bearer((token) => ({ subject: token, scopes: token === 'reader' ? ['tickets:read'] : [] })),
    }),
  });
  const served = await serve(server, { port: 0, signals: false });
  const close = (): Promise<void> => served.close();
  opened.push(close);
  const url = String(served.url);
  async function ask(
    method: string,
    params: Record<string, unknown> = {},
    { caller = 'ann', meta = {} } = {},
  ) {
    const headers = hasAuth ? { authorization: `Bearer ${caller}` } : {};
    const { status, text } = await modern(url, method, params, { headers, meta });
    const { result, error } = JSON.parse(text);
    return { status, result, error, text };
  }
  const subscribe = (change: Record<string, unknown> = {}, options = {}) =>
    ask('events/subscribe', params(change), options);
  return { server, log, ask, subscribe, close, emit: server.emit };
}

function params(change: Record<string, unknown> = {}): Record<string, unknown> {
  const delivery = { mode: 'webhook', url: receiver.url('/hook?k=1'), secret };
  return { name: 'ticket_changed', arguments: { queue: 'billing' }, delivery, cursor: null, ...change };
}

const eventIds = () => receiver.events().map(({ id }) => id);

describe('events/subscribe', () => {
  test('is offered for types with webhooks (descriptor-delivery-subset, subscribe-webhook-only, error-unsupported)', async () => {
    const { ask, subscribe } = await startDesk();
    const { result } = await ask('events/list');
    expect(result.events.map(({ delivery }: { delivery: unknown }) => delivery).slice(0, 2)).toEqual([
      ['webhook', 'push', 'poll'],
      ['poll'],
    ]);
    expect((await subscribe({ name: 'polled' })).error).toMatchObject({
      code: -32014,
      data: { feature: 'deliveryMode', value: 'webhook' },
    });
    const delivery = { mode: 'push', url: receiver.url(), secret };
    expect((await subscribe({ delivery })).error).toMatchObject({ code: -32014, data: { value: 'push' } });
    expect((await subscribe({ delivery }, { meta: SEP })).error.code).toBe(-32026);
  });

  test('without the option has no webhooks, and says so', async () => {
    const server = createServer({ name: 'desk', version: '1', events: types, logger: () => undefined });
    const served = await serve(server, { port: 0, signals: false });
    opened.push(() => served.close());
    const { text } = await modern(String(served.url), 'events/subscribe', params());
    expect(JSON.parse(text).error).toMatchObject({ code: -32014, data: { value: 'webhook' } });
    await expect(server.webhooks.redeliver('sub_1')).rejects.toThrow('no webhooks');
    expect(() => event({ payload, description: '', delivery: ['webhook'] })).not.toThrow();
    const wrong = { hook: event({ payload, description: 'x', delivery: ['webhook'] }) };
    expect(() => createServer({ name: 'x', version: '1', events: wrong })).toThrow(
      'Give it the option "webhooks"',
    );
  });

  test('refuses wrong addresses and secrets with -32602 (subscribe-secret-*, -url-*, ssrf-validate-callback-url, ssrf-reject-non-routable)', async () => {
    const { subscribe } = await startDesk({ webhooks: { privateHosts: [] } });
    const good = { mode: 'webhook', url: 'https://hooks.example/x', secret };
    const port = new URL(receiver.origin).port;
    for (const wrong of [
      { url: 'http://hooks.example/x' },
      { url: receiver.url() },
      { url: `https://127.0.0.1:${port}/x` },
      { url: `https://[::ffff:7f00:1]:${port}/x` },
      { url: `https://2130706433:${port}/x` },
      { url: `https://localhost:${port}/x` },
      { url: 'https://169.254.169.254/latest' },
      { url: 'https://u:p@hooks.example/' },
      { url: 'https://hooks.example/#f' },
      { secret: undefined },
      { secret: `whsec_${Buffer.alloc(8).toString('base64')}` },
      { secret: 'not-a-secret' },
    ]) {
      const { error } = await subscribe({ delivery: { ...good, ...wrong } });
      expect(error?.code, JSON.stringify(wrong)).toBe(-32602);
    }
    expect(receiver.messages).toEqual([]);
  });

  test('answers with an id of its key, a lifetime and a cursor (subscribe-response-*, -id-derived, -idempotent-upsert, -key-composition, -id-not-an-input)', async () => {
    const { subscribe } = await startDesk();
    const { result, status } = await subscribe();
    expect(status).toBe(200);
    expect(result).toMatchObject({
      resultType: 'complete',
      id: expect.stringMatching(/^sub_/),
      truncated: false,
    });
    expect(typeof result.cursor).toBe('string');
    expect((await subscribe({ id: 'sub_mine' })).result.id).toBe(result.id);
    expect((await subscribe({}, { caller: 'bob' })).result.id).not.toBe(result.id);
    const delivery = { mode: 'webhook', url: receiver.url('/hook?k=2'), secret };
    expect((await subscribe({ delivery })).result.id).not.toBe(result.id);
    expect((await subscribe({ arguments: {} })).result.id).not.toBe(result.id);
  });

  test('grants every lifetime in bounds (ttl-null-only-when-requested, ttl-omitted-means-default, ttl-no-rejection-path, ttl-refresh-before-lte-suggestion)', async () => {
    const { subscribe } = await startDesk();
    for (const ttlMs of [undefined, null, 1000, 30 * 86_400_000]) {
      const before = Date.now();
      const { result } = await subscribe(ttlMs === undefined ? {} : { ttlMs });
      expect(Date.parse(result.refreshBefore)).toBeGreaterThan(before);
      if (typeof ttlMs === 'number')
        expect(Date.parse(result.refreshBefore)).toBeLessThanOrEqual(Date.now() + ttlMs);
    }
  });

  test('needs a caller (subscribe-auth-required)', async () => {
    const { subscribe, ask } = await startDesk({ hasAuth: false });
    expect((await subscribe()).error.code).toBe(-32012);
    expect((await subscribe({}, { meta: SEP })).error.code).toBe(-32024);
    expect((await ask('events/unsubscribe', params())).error.code).toBe(-32012);
    expect(receiver.messages).toEqual([]);
  });

  test('reports unknown types, wrong arguments and missing rights before it looks at the delivery (error-not-found, error-invalid-params, error-forbidden, authz-subscribe-time)', async () => {
    const { subscribe } = await startDesk();
    const delivery = {};
    expect((await subscribe({ name: 'nothing', delivery })).error).toMatchObject({
      code: -32011,
      data: { kind: 'event' },
    });
    expect((await subscribe({ arguments: { queue: 7 }, delivery })).error.code).toBe(-32602);
    expect((await subscribe({ name: 'guarded', arguments: {}, delivery })).error.code).toBe(-32012);
    left.add('ann');
    expect((await subscribe({ name: 'fired', arguments: {}, delivery })).error.code).toBe(-32011);
    const readers = await subscribe({ name: 'guarded', arguments: {} }, { caller: 'reader' });
    expect(readers.result.id).toMatch(/^sub_/);
  });

  test('tells the limit of a caller (error-resource-exhausted)', async () => {
    const { subscribe } = await startDesk({ webhooks: { maxPerCaller: 1 } });
    await subscribe();
    const { error } = await subscribe({ arguments: {} });
    expect(error).toMatchObject({ code: -32013, data: { limit: 'subscriptions', max: 1 } });
    expect(receiver.messages).toHaveLength(1);
  });

  test('accepts an origin on the allow-list without looking it up', async () => {
    const { subscribe } = await startDesk({ webhooks: { allow: ['https://conformance.invalid'] } });
    const delivery = { mode: 'webhook', url: 'https://conformance.invalid/hook', secret };
    expect((await subscribe({ delivery })).result.id).toMatch(/^sub_/);
    const unknown = { mode: 'webhook', url: 'https://other.invalid/hook', secret };
    expect((await subscribe({ delivery: unknown })).error).toMatchObject({
      code: -32015,
      data: { reason: 'connection_refused' },
    });
  });
});

test.each([
  [{ allow: ['https://hooks.example/path'] }, 'not an origin'],
  [{ allow: ['hooks.example'] }, 'not an origin'],
  [{ privateHosts: ['*.internal'] }, 'without wildcards'],
])('a server with wrong options of webhooks does not start: %j', async (webhooks, message) => {
  const server = createServer({
    name: 'desk',
    version: '1',
    events: types,
    webhooks,
    logger: () => undefined,
  });
  await expect(serve(server, { port: 0, signals: false })).rejects.toThrow(message);
  expect(() => createServer({ name: 'x', version: '1', webhooks: { maxPerCaller: 0 } })).toThrow(
    'maxPerCaller',
  );
});

describe('events/unsubscribe', () => {
  test('ends a subscription by its key (unsubscribe-by-key, unsubscribe-unknown-not-found, cross-tenant-isolation)', async () => {
    const { ask, subscribe, emit } = await startDesk();
    const other = { caller: 'bob' };
    expect((await ask('events/unsubscribe', params())).error).toMatchObject({
      code: -32011,
      data: { kind: 'subscription' },
    });
    await subscribe();
    expect((await ask('events/unsubscribe', params(), other)).error.code).toBe(-32011);
    expect((await ask('events/unsubscribe', params())).result).toMatchObject({ resultType: 'complete' });
    expect((await ask('events/unsubscribe', params())).error).toBeUndefined();
    await subscribe({}, other);
    await emit('ticket_changed', { id: '1', queue: 'billing' }, { eventId: 'e1' });
    await until('bob has the event', () => receiver.events().length > 0);
    expect(receiver.events()).toHaveLength(1);
  });
});

describe('a delivery', () => {
  test('is signed JSON with the headers of the standard (delivery-post-json, -standard-webhooks-headers, -subscription-id-header, -signature-formula)', async () => {
    const { subscribe, emit } = await startDesk();
    const { result } = await subscribe();
    const { eventId } = await emit('ticket_changed', { id: '1', queue: 'billing' });
    await emit('ticket_changed', { id: '2', queue: 'sales' });
    await until('the event has arrived', () => receiver.events().length === 1);
    const [message] = receiver.events();
    expect(message?.headers['content-type']).toBe('application/json');
    expect(message).toMatchObject({ id: eventId, subscription: result.id, path: '/hook?k=1' });
    expect(message?.body).toMatchObject({
      eventId,
      name: 'ticket_changed',
      data: { id: '1', queue: 'billing' },
    });
    expect(await message?.isSignedWith(secret)).toBe(true);
    expect(message?.raw.length).toBeLessThan(262_144);
  });

  test('comes after a challenge, and only if the receiver echoes it (verification-required-before-delivery, -challenge-echo, -failure-error, -no-raw-endpoint-responses)', async () => {
    const { subscribe, emit } = await startDesk();
    receiver.answer = (_message, response) => response.end('{"challenge":"PLANTED-ECHO"}');
    const { error, text } = await subscribe();
    expect(error).toMatchObject({ code: -32015, data: { reason: 'challenge_failed' } });
    expect(text).not.toContain('PLANTED');
    await emit('ticket_changed', { id: '1', queue: 'billing' });
    receiver.answer = accept;
    await subscribe();
    await emit('ticket_changed', { id: '2', queue: 'billing' }, { eventId: 'e2' });
    await until('the event has arrived', () => receiver.events().length === 1);
    expect(receiver.messages.map(({ body }) => body['type'] ?? body['eventId'])).toEqual([
      'verification',
      'verification',
      'e2',
    ]);
  });

  test('is repeated within five seconds, not at once, and newly signed (delivery-retry-regenerates-signature, -retries-bounded)', async () => {
    const { subscribe, emit } = await startDesk();
    await subscribe();
    let count = 0;
    receiver.answer = (message, response) =>
      count++ < 1 ? response.writeHead(503).end() : accept(message, response);
    await emit('ticket_changed', { id: '1', queue: 'billing' });
    await until('there were two attempts', () => receiver.events().length === 2);
    const [first, second] = receiver.events();
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1000);
    expect(second?.id).toBe(first?.id);
    expect(second?.timestamp).toBeGreaterThan(first?.timestamp ?? 0);
    expect(second?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature']);
    expect(second?.raw).toEqual(first?.raw);
  });

  test('does not follow redirects (ssrf-no-redirects)', async () => {
    const { subscribe, emit } = await startDesk();
    await subscribe();
    receiver.answer = (message, response) =>
      message.path.startsWith('/hook')
        ? response.writeHead(302, { location: receiver.url('/elsewhere') }).end()
        : accept(message, response);
    await emit('ticket_changed', { id: '1', queue: 'billing' });
    await until('there were two attempts', () => receiver.events().length === 2);
    expect(receiver.messages.filter(({ path }) => path === '/elsewhere')).toEqual([]);
  });

  test.each([410, 413])(
    'is not repeated after %d (delivery-410-non-retryable, -413-non-retryable)',
    async (status) => {
      const { subscribe, emit, server } = await startDesk();
      const { result } = await subscribe();
      receiver.answer = (_message, response) => response.writeHead(status).end();
      await emit('ticket_changed', { id: '1', queue: 'billing' }, { eventId: 'e1' });
      const dead = async () => {
        for await (const each of server.webhooks.deliveries()) return each.dead;
        return [];
      };
      await until('it was given up', async () => (await dead()).length === 1);
      expect(await dead()).toMatchObject([{ eventId: 'e1', attempts: 1, reason: 'http_4xx' }]);
      receiver.answer = accept;
      expect(await server.webhooks.redeliver(result.id, 'e1')).toBe(1);
      await until('it was sent again', async () => (await dead()).length === 0);
      expect(eventIds()).toEqual(['e1', 'e1']);
    },
  );

  test('ends with the rights of its caller (authz-delivery-time-reverify, envelope-terminated, envelope-signed-like-deliveries, -webhook-id-format)', async () => {
    const { subscribe, emit } = await startDesk();
    const { result } = await subscribe({ name: 'fired', arguments: {} }, { meta: SEP });
    await emit('fired', { id: '1' }, { eventId: 'before' });
    await until('the first event has arrived', () => eventIds().length === 1);
    left.add('ann');
    await emit('fired', { id: 'confidential' }, { eventId: 'after' });
    await until('the end was told', () => receiver.envelopes('terminated').length === 1);
    const [last] = receiver.envelopes('terminated');
    expect(last).toMatchObject({ subscription: result.id, body: { error: { code: -32024 } } });
    expect(last?.id).toMatch(/^msg_terminated_.+/);
    expect(await last?.isSignedWith(secret)).toBe(true);
    expect(eventIds()).toEqual(['before']);
  });

  test('uses a new secret, and the old one for a while (refresh-replaces-secret, delivery-dual-sign-on-rotation, delivery-status-last-error-category, verification-cached-per-principal-url)', async () => {
    const { subscribe, emit } = await startDesk();
    const first = (await subscribe()).result;
    const delivery = { mode: 'webhook', url: receiver.url('/hook?k=1'), secret: secretOf(2) };
    const { result } = await subscribe({ delivery });
    expect(result).toMatchObject({
      id: first.id,
      deliveryStatus: { active: true, lastDeliveryAt: null, lastError: null },
    });
    await emit('ticket_changed', { id: '1', queue: 'billing' });
    await until('the event has arrived', () => eventIds().length === 1);
    const [message] = receiver.events();
    expect([await message?.isSignedWith(secretOf(2)), await message?.isSignedWith(secret)]).toEqual([
      true,
      true,
    ]);
    expect(receiver.envelopes('verification')).toHaveLength(1);
  });

  test('carries hostile text as it is, and nothing of it becomes a header', async () => {
    const { subscribe, emit } = await startDesk();
    await subscribe({ arguments: {} });
    const id = '\r\nwebhook-id: forged\u0000\u202e</script>{{x}}';
    await emit('ticket_changed', { id }, { eventId: 'a b\r\nx: y.z' });
    await until('the event has arrived', () => receiver.events().length === 1);
    const [message] = receiver.events();
    expect(message?.body['data']).toEqual({ id });
    expect(message?.id).toMatch(/^[\x21-\x7e]+$/);
    expect(message?.id).toBe(message?.body['eventId']);
    expect(await message?.isSignedWith(secret)).toBe(true);
  });
});

test('subscriptions survive a restart, and events that were emitted while nobody delivered arrive', async () => {
  const store = memoryStore();
  const lasting: Store = { ...store, close: async () => undefined };
  const first = await startDesk({ store: lasting });
  const { result } = await first.subscribe();
  receiver.answer = () => undefined;
  await first.emit('ticket_changed', { id: '1', queue: 'billing' }, { eventId: 'e1' });
  await first.server.drain({ drainMs: 0 });
  await first.emit('ticket_changed', { id: '2', queue: 'billing' }, { eventId: 'e2' });
  await first.close();
  receiver.answer = accept;
  const second = await startDesk({ store: lasting });
  await until('both have arrived', () => new Set(eventIds()).size === 2);
  expect((await second.subscribe()).result.id).toBe(result.id);
  await store.close();
});

test('a session of 2025-11-25 has webhooks, too', async () => {
  const { server } = await startDesk();
  const served = await serve(server, { port: 0, signals: false });
  opened.push(() => served.close());
  const headers = {
    authorization: 'Bearer ann',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const post = async (message: object, more: Record<string, string> = {}) => {
    const response = await fetch(String(served.url), {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify(message),
    });
    const text = await response.text();
    const data =
      text
        .split('\n')
        .find((line) => line.startsWith('data: {'))
        ?.slice('data: '.length) ?? text;
    return { response, message: data === '' ? undefined : JSON.parse(data) };
  };
  const hello = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'old', version: '1' },
  };
  const opening = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello });
  const session = {
    'mcp-session-id': String(opening.response.headers.get('mcp-session-id')),
    'mcp-protocol-version': '2025-11-25',
  };
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session);
  const { message } = await post(
    { jsonrpc: '2.0', id: 2, method: 'events/subscribe', params: params() },
    session,
  );
  expect(message.result).toMatchObject({ id: expect.stringMatching(/^sub_/), truncated: false });
  expect(message.result.resultType).toBeUndefined();
  await server.emit('ticket_changed', { id: '1', queue: 'billing' }, { eventId: 'e1' });
  await until('the event has arrived', () => eventIds().length === 1);
});
