import { describe, expect, test } from 'vitest';
import { connect, type EventStore } from '../../../../../src/client.js';
import {
  type EventReceiver,
  type ReceiverOptions,
  receiver,
  type WebhookSubscription,
} from '../../../../../src/events.js';
import { memoryTokenStore } from '../../../../../src/oauth.js';
import {
  type EventServer,
  eventServer,
  listed,
  occurrence,
} from '../../../../support/events/event-server.js';
import { type Sent, webhook } from '../../../../support/events/sender.js';
import { error, json, result } from '../../../../support/http/http-server.js';
import { soon, until } from '../../../../support/until.js';

const url = 'https://app.example/hooks?k=1';
const events = [listed('tick', 'webhook')];

interface Script {
  /** The time for which the server keeps a subscription; null: forever. */
  readonly grantMs?: number | null;
  /** Changes the answer to `events/subscribe`, by the number of the request. */
  readonly answer?: (n: number) => object;
  /** Refuses a request with this number. */
  readonly refuse?: (n: number) => { readonly code: number; readonly message?: string } | undefined;
  /** Runs in the middle of a request. */
  readonly during?: (secret: string, url: string) => Promise<void>;
}

/** A server with webhooks, which sends nothing by itself. */
function webhookServer({
  grantMs = 3_600_000,
  answer = () => ({}),
  refuse,
  during,
}: Script = {}): Promise<EventServer> {
  let count = 0;
  return eventServer({
    events,
    answers: {
      async subscribe(request, response) {
        const n = ++count;
        const failure = refuse?.(n);
        if (failure !== undefined)
          return json(response, error(request, failure.code, failure.message ?? 'no'));
        const { delivery } = request.body?.params ?? {};
        if (n === 1) await during?.(delivery.secret, delivery.url);
        const refreshBefore = grantMs === null ? null : new Date(Date.now() + grantMs).toISOString();
        const values = { id: 'sub_1', refreshBefore, cursor: `c${n}`, truncated: false, ...answer(n) };
        json(response, result(request, values));
      },
      unsubscribe: (request, response) => json(response, result(request, {})),
    },
  });
}

interface Seen {
  readonly hooks: EventReceiver;
  readonly events: string[];
  readonly ends: unknown[];
  readonly gaps: unknown[];
  readonly problems: string[];
}

function seeing(options: Partial<ReceiverOptions> = {}): Seen {
  const seen: Omit<Seen, 'hooks'> = { events: [], ends: [], gaps: [], problems: [] };
  const hooks = receiver({
    onEvent: ({ eventId }) => void seen.events.push(eventId),
    onTerminated: ({ number }) => void seen.ends.push(number),
    onGap: (cursor) => void seen.gaps.push(cursor),
    onProblem: ({ message }) => void seen.problems.push(message),
    ...options,
  });
  return { ...seen, hooks };
}

const sentTo = (server: EventServer): { url: string; secret: string } =>
  server.requests('subscribe').at(-1)?.body?.params.delivery;

/** Sends what the server of a subscription would send. */
async function deliver(
  hooks: EventReceiver,
  server: EventServer,
  body: unknown,
  sent: Sent = {},
): Promise<number> {
  const to = sentTo(server);
  return (await hooks(await webhook(body, { url: to.url, secrets: [to.secret], ...sent }))).status;
}

describe('a receiver that subscribes', () => {
  test('plays the transcript: challenge, an early event, the answer, events, a gap, a refresh, the end', async () => {
    const { hooks, events: seen, ends, gaps } = seeing();
    const early: number[] = [];
    await using server = await webhookServer({
      async during(secret, to) {
        const sent = { url: to, secrets: [secret] };
        const challenge = await hooks(await webhook({ type: 'verification', challenge: '2dBO' }, sent));
        if ((await challenge.json()).challenge === '2dBO') early.push(challenge.status);
        early.push((await hooks(await webhook(occurrence('evt_early'), sent))).status);
      },
    });
    await using client = await connect(server.url);
    const subscription = await hooks.subscribe(client, 'tick', { queue: 'billing' }, { url, ttlMs: 600_000 });
    expect(subscription.id).toBe('sub_1');
    const [first] = server.requests('subscribe');
    expect(first?.body?.params).toMatchObject({
      name: 'tick',
      arguments: { queue: 'billing' },
      delivery: {
        mode: 'webhook',
        url: expect.stringMatching(/^https:\/\/app\.example\/hooks\?k=1&mcp_event_subscription=/),
      },
      cursor: null,
      ttlMs: 600_000,
    });
    expect(first?.body?.params.delivery.secret).toMatch(/^whsec_/);
    expect(early).toEqual([200, 503]);
    expect(await deliver(hooks, server, occurrence('evt_1'))).toBe(204);
    expect(await deliver(hooks, server, occurrence('evt_1'), { subscription: 'sub_other' })).toBe(401);
    expect(await deliver(hooks, server, occurrence('evt_2', { name: 'tock' }))).toBe(400);
    expect(await deliver(hooks, server, { type: 'gap', cursor: 'c9' })).toBe(204);
    await hooks.subscribe(client, 'tick', { queue: 'billing' }, { url });
    const [, second] = server.requests('subscribe');
    expect(second?.body?.params).toMatchObject({ delivery: first?.body?.params.delivery, cursor: 'c9' });
    expect(await deliver(hooks, server, { type: 'terminated', error: { code: -32012, message: 'no' } })).toBe(
      204,
    );
    expect(await deliver(hooks, server, occurrence('evt_3'))).toBe(401);
    expect([seen, gaps, ends]).toEqual([['evt_1'], ['c9'], [-32012]]);
  });

  test('refreshes at 60 percent of the grant, with the same address, name and arguments, without an answer of truncated', async () => {
    await using server = await webhookServer({ grantMs: 2500, answer: () => ({ truncated: undefined }) });
    await using client = await connect(server.url);
    const { hooks } = seeing();
    await using _subscription = await hooks.subscribe(client, 'tick', { a: 1 }, { url });
    await until('it was refreshed twice', () => server.requests('subscribe').length === 3);
    const [one, two, three] = server.requests('subscribe');
    expect((two?.at ?? 0) - (one?.at ?? 0)).toBeGreaterThan(1300);
    const of = (request: typeof one): object => ({ ...request?.body?.params, _meta: 0, cursor: 0 });
    expect(of(two)).toEqual(of(one));
    expect([two, three].map((request) => request?.body?.params.cursor)).toEqual(['c1', 'c2']);
  });

  test('sends null again when the server names no position, and no older one', async () => {
    await using server = await webhookServer({
      grantMs: 1500,
      answer: (n) => (n > 1 ? { cursor: undefined } : {}),
    });
    await using client = await connect(server.url);
    const { hooks } = seeing();
    await using _subscription = await hooks.subscribe(client, 'tick', {}, { url });
    await until('it was refreshed twice', () => server.requests('subscribe').length === 3);
    expect(server.requests('subscribe').map(({ body }) => body?.params.cursor)).toEqual([null, 'c1', null]);
  });

  test('refuses events after the end of the grant, and tells of a gap in the answer', async () => {
    let isDown = false;
    await using server = await webhookServer({
      grantMs: 1200,
      answer: () => ({ truncated: true, cursor: 'fresh' }),
      refuse: () => (isDown ? { code: -32603 } : undefined),
    });
    await using client = await connect(server.url, { maxRetries: 0 });
    const { hooks, gaps, problems } = seeing();
    const subscription = await hooks.subscribe(client, 'tick', {}, { url });
    expect(gaps).toEqual(['fresh']);
    isDown = true;
    await until('the grant is over', async () => (await deliver(hooks, server, occurrence('late'))) === 410);
    await until('a refresh has failed', () => problems.length > 0);
    isDown = false;
    await until('it was refreshed', () => gaps.length === 2);
    expect(await deliver(hooks, server, occurrence('new'))).toBe(204);
    await subscription.close();
  });

  test('gets a new secret when told, and accepts what was signed with the one before', async () => {
    await using server = await webhookServer();
    await using client = await connect(server.url);
    const { hooks, events: seen } = seeing();
    await using subscription = await hooks.subscribe(client, 'tick', {}, { url });
    const before = sentTo(server).secret;
    await subscription.rotate();
    const after = sentTo(server).secret;
    expect(after).not.toBe(before);
    expect(await deliver(hooks, server, occurrence('1'), { secrets: [before] })).toBe(204);
    expect(await deliver(hooks, server, occurrence('2'), { secrets: [after] })).toBe(204);
    await subscription.rotate();
    expect(await deliver(hooks, server, occurrence('3'), { secrets: [before] })).toBe(401);
    expect(seen).toEqual(['1', '2']);
  });

  test('continues after a restart, and in another process, with the same address and secret', async () => {
    const store: EventStore = memoryTokenStore();
    await using server = await webhookServer();
    {
      await using client = await connect(server.url);
      const { hooks } = seeing({ store });
      await using _subscription = await hooks.subscribe(client, 'tick', { a: 1, b: 2 }, { url });
      expect(await deliver(hooks, server, occurrence('1'))).toBe(204);
    }
    const { hooks, events: seen } = seeing({ store });
    // The other process does not subscribe: it knows the subscription from the store.
    expect(await deliver(hooks, server, occurrence('1'))).toBe(204);
    expect(await deliver(hooks, server, occurrence('2'))).toBe(204);
    expect(seen).toEqual(['2']);
    await using client = await connect(server.url);
    await using _subscription = await hooks.subscribe(client, 'tick', { b: 2, a: 1 }, { url });
    const [one, two] = server.requests('subscribe').map(({ body }) => body?.params);
    expect(two).toMatchObject({ delivery: one.delivery, cursor: 'c1' });
  });

  test('unsubscribes by the same address, and forgets the subscription even if the server already has', async () => {
    for (const code of [undefined, -32011, -32023]) {
      const store = memoryTokenStore();
      await using server = await eventServer({
        events,
        answers: {
          subscribe: (request, response) => json(response, result(request, { id: 's', refreshBefore: null })),
          unsubscribe: (request, response) =>
            json(response, code === undefined ? result(request, {}) : error(request, code, 'unknown')),
        },
      });
      await using client = await connect(server.url);
      const { hooks } = seeing({ store });
      const subscription = await hooks.subscribe(client, 'tick', { a: 1 }, { url });
      await subscription.unsubscribe();
      expect(server.requests('unsubscribe')[0]?.body?.params).toMatchObject({
        name: 'tick',
        arguments: { a: 1 },
        delivery: { mode: 'webhook', url: sentTo(server).url },
      });
      expect(await deliver(hooks, server, occurrence('1'), { subscription: 's' })).toBe(401);
      expect(await soon('the end', subscription.ended)).toBeUndefined();
    }
  });

  test('rejects what the server refuses, and leaves nothing in the store', async () => {
    const values = new Map<string, string>();
    const store = memoryTokenStore();
    const watched: EventStore = {
      get: (key) => store.get(key),
      delete: (key) => store.delete(key).then(() => void values.delete(key)),
      async set(key, value, options) {
        values.set(key, value);
        return store.set(key, value, options);
      },
    };
    await using server = await webhookServer({
      refuse: () => ({ code: -32015, message: 'challenge_failed' }),
    });
    await using client = await connect(server.url);
    const { hooks } = seeing({ store: watched });
    await expect(hooks.subscribe(client, 'tick', {}, { url })).rejects.toMatchObject({ number: -32015 });
    expect(values.size).toBe(0);
    for (const bad of ['nowhere', 'ftp://a.example/', 'https://u:p@a.example/', 'https://a.example/#x'])
      await expect(hooks.subscribe(client, 'tick', {}, { url: bad })).rejects.toMatchObject({
        code: 'invalid_params',
      });
    await using bare = await eventServer({ capabilities: {} });
    await using other = await connect(bare.url);
    await expect(hooks.subscribe(other, 'tick', {}, { url })).rejects.toMatchObject({
      code: 'method_not_found',
    });
    expect(bare.requests('subscribe')).toEqual([]);
  });

  test('ends when the server refuses a refresh for good', async () => {
    await using server = await webhookServer({
      grantMs: 1500,
      refuse: (n) => (n > 1 ? { code: -32024 } : undefined),
    });
    await using client = await connect(server.url);
    const { hooks, ends } = seeing();
    const subscription = await hooks.subscribe(client, 'tick', {}, { url });
    expect(await soon('the end', subscription.ended)).toMatchObject({ number: -32024 });
    await until('the program was told', () => ends.length === 1);
    expect(await deliver(hooks, server, occurrence('1'))).toBe(401);
  });

  test('subscribes again when the server ended it because the type has changed', async () => {
    await using server = await webhookServer();
    await using client = await connect(server.url);
    const { hooks, ends } = seeing();
    const subscription: WebhookSubscription = await hooks.subscribe(client, 'tick', {}, { url });
    const changed = {
      code: -32026,
      message: 'changed',
      data: { feature: 'payloadSchema', reason: 'schema_changed' },
    };
    expect(await deliver(hooks, server, { type: 'terminated', error: changed })).toBe(204);
    await until('it was subscribed again', () => server.requests('subscribe').length === 2);
    expect(server.requests('subscribe')[1]?.body?.params.cursor).toBe('c1');
    await until('events are accepted', async () => (await deliver(hooks, server, occurrence('1'))) === 204);
    expect(ends).toEqual([]);
    await subscription.close();
  });

  test('uses the secret that the program has named, and the newest of several', async () => {
    const { OTHER_SECRET, SECRET } = await import('../../../../support/events/sender.js');
    const store = memoryTokenStore();
    await using server = await webhookServer();
    await using client = await connect(server.url);
    const before = seeing({ store, secret: SECRET });
    await (await before.hooks.subscribe(client, 'tick', {}, { url })).close();
    expect(sentTo(server).secret).toBe(SECRET);
    const after = seeing({ store, secret: [OTHER_SECRET, SECRET] });
    await using subscription = await after.hooks.subscribe(client, 'tick', {}, { url });
    expect(sentTo(server).secret).toBe(OTHER_SECRET);
    expect(await deliver(after.hooks, server, occurrence('1'), { secrets: [SECRET] })).toBe(204);
    await expect(subscription.rotate()).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
