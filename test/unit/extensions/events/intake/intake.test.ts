import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, event, inProcess, type JsonObject, memoryStore, type Store } from 'fullmcp';
import { eventFrom, type IncomingWebhook, type WebhookIntake } from 'fullmcp/events';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { until } from '../../../../support/until.js';

// Webhooks of third parties as events, from the request to the poll of a client.

const SECRET = 'a secret of at least sixteen';
const STANDARD = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});

type Headers = Readonly<Record<string, string | undefined>>;
type Sender = 'stripe' | 'github' | 'standard';

const hmac = (secret: string | Buffer, text: string) => createHmac('sha256', secret).update(text);
const seconds = (offset = 0): number => Math.floor(Date.now() / 1000) + offset;

/** The headers that a sender adds to a body. */
const signing: Readonly<Record<Sender, (body: string, given?: Partial<Signed>) => Headers>> = {
  stripe: (body, { secret = SECRET, at = seconds() } = {}) => ({
    'stripe-signature': `t=${at},v0=00,v1=${hmac(secret, `${at}.${body}`).digest('hex')}`,
  }),
  github: (body, { secret = SECRET, id = 'delivery-1' } = {}) => ({
    'x-hub-signature-256': `sha256=${hmac(secret, body).digest('hex')}`,
    'x-github-delivery': id,
    'x-github-event': 'issues',
  }),
  standard: (body, { secret = STANDARD, at = seconds(), id = 'msg_1' } = {}) => ({
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${hmac(Buffer.from(secret.slice(6), 'base64'), `${id}.${at}.${body}`).digest('base64')}`,
  }),
};

interface Signed {
  readonly secret: string;
  readonly at: number;
  readonly id: string;
}

function post(body: string | Uint8Array<ArrayBuffer>, headers: Headers): Request {
  const present = Object.entries({ 'content-type': 'application/json', ...headers }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return new Request('https://desk.example/hook', { method: 'POST', headers: present, body });
}

function desk(store: Store = memoryStore()) {
  const server = createServer({
    name: 'desk',
    version: '1',
    store,
    logger: () => undefined,
    events: {
      issue_changed: event({ payload: z.object({ id: z.string() }) }),
      other: event({ payload: z.object({ id: z.string() }) }),
    },
  });
  closing.push(() => server.close());
  return server;
}

interface Seen {
  readonly hook: WebhookIntake;
  readonly webhooks: IncomingWebhook[];
  readonly problems: string[];
  /** The events that came since the beginning. */
  readonly told: () => Promise<readonly JsonObject[]>;
}

async function seeing(sender: Sender, more: object = {}, server = desk()): Promise<Seen> {
  const webhooks: IncomingWebhook[] = [];
  const problems: string[] = [];
  const hook = eventFrom(server, {
    sender,
    secret: sender === 'standard' ? STANDARD : SECRET,
    onProblem: ({ message, cause }) => void problems.push(`${message} ${String(cause)}`),
    event(webhook) {
      webhooks.push(webhook);
      return { name: 'issue_changed', data: { id: String(webhook.body['id']) } };
    },
    ...more,
  });
  const ask = inProcess(server);
  const { cursor } = await ask('events/poll', { name: 'issue_changed' });
  const told = async () =>
    (await ask('events/poll', { name: 'issue_changed', cursor }))['events'] as readonly JsonObject[];
  return { hook, webhooks, problems, told };
}

const BODY = JSON.stringify({ id: 'evt_stripe', type: 'charge.failed', action: 'opened' });
const ids: Readonly<Record<Sender, string>> = {
  stripe: 'evt_stripe',
  github: 'delivery-1',
  standard: 'msg_1',
};

describe.each(['stripe', 'github', 'standard'] as const)('A webhook of the sender %s', (sender) => {
  const sign = signing[sender];

  test('is one event with the id of the sender, however often it is sent', async () => {
    const { hook, webhooks, told } = await seeing(sender);
    for (let times = 0; times < 3; times++) expect((await hook(post(BODY, sign(BODY)))).status).toBe(204);
    expect(
      (await Promise.all([1, 2].map(() => hook(post(BODY, sign(BODY)))))).map(({ status }) => status),
    ).toEqual([204, 204]);
    expect(await told()).toMatchObject([{ eventId: ids[sender], data: { id: 'evt_stripe' } }]);
    expect(await told()).toHaveLength(1);
    expect(webhooks[0]).toMatchObject({
      id: ids[sender],
      type: sender === 'github' ? 'issues' : 'charge.failed',
      body: { action: 'opened' },
    });
  });

  test('is refused if it is not genuine, with a sentence that has no secret', async () => {
    const { hook, webhooks, told } = await seeing(sender);
    const header = Object.keys(sign(BODY)).find((name) => name.includes('signature')) as string;
    const good = sign(BODY)[header] as string;
    const otherSecret =
      sender === 'standard' ? `whsec_${Buffer.alloc(32, 8).toString('base64')}` : `${SECRET}!`;
    const wrong: readonly [string | Uint8Array<ArrayBuffer>, Headers, number][] = [
      [BODY, { ...sign(BODY), [header]: undefined }, 401],
      [BODY, sign(BODY, { secret: otherSecret }), 401],
      [BODY.replace('opened', 'closed'), sign(BODY), 401],
      [`${BODY} `, sign(BODY), 401],
      [Uint8Array.from([...new TextEncoder().encode(BODY), 0xff]), sign(BODY), 401],
      [
        BODY,
        {
          ...sign(BODY),
          [header]: `${good.slice(0, -6)}${good.at(-6) === '0' ? '1' : '0'}${good.slice(-5)}`,
        },
        401,
      ],
      [BODY, { ...sign(BODY), [header]: 'x' }, sender === 'standard' ? 401 : 400],
      [BODY, { ...sign(BODY), [header]: 'v1='.repeat(200) }, sender === 'standard' ? 401 : 400],
      [BODY, { ...sign(BODY), [header]: `${good}${' '.repeat(5000)}x` }, sender === 'standard' ? 400 : 401],
    ];
    for (const [body, headers, status] of wrong) {
      const reply = await hook(post(body, headers));
      const text = await reply.text();
      expect([reply.status, text]).toEqual([status, expect.stringMatching(/^\{"error":"The .+\."\}$/)]);
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(STANDARD);
    }
    expect(webhooks).toEqual([]);
    expect(await told()).toEqual([]);
  });

  test('must be signed now, if the sender signs the time', async () => {
    const { hook } = await seeing(sender);
    for (const offset of [-301, 301]) {
      const reply = await hook(post(BODY, sign(BODY, { at: seconds(offset) })));
      expect(reply.status).toBe(sender === 'github' ? 204 : 400);
      if (sender !== 'github') expect(await reply.text()).toMatch(/Set both clocks/);
    }
    for (const offset of [-290, 290])
      expect((await hook(post(BODY, sign(BODY, { at: seconds(offset) })))).status).toBe(204);
  });

  test('may be signed with either secret while one is replaced', async () => {
    const other =
      sender === 'standard' ? `whsec_${Buffer.alloc(24, 9).toString('base64')}` : 'another long secret';
    const { hook } = await seeing(sender, { secret: [other, sender === 'standard' ? STANDARD : SECRET] });
    expect((await hook(post(BODY, sign(BODY)))).status).toBe(204);
    expect((await hook(post(BODY, sign(BODY, { secret: other })))).status).toBe(204);
  });
});

test('The signature is that of the example in the documentation of GitHub', async () => {
  const secret = "It's a Secret to Everybody";
  const { hook } = await seeing('github', { secret });
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
  const reply = await hook(post('Hello, World!', { 'x-hub-signature-256': signature }));
  // It is genuine, and not JSON.
  expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('JSON object')]);
});

test('A webhook without an id of its sender has the digest of its body, and another header may have the signature', async () => {
  const { hook, told } = await seeing('stripe', { header: 'X-Acme-Signature' });
  for (const body of ['{"n":1}', '{"n":1}', '{"n":2}', `{"id":"${'x'.repeat(2000)}"}`]) {
    const { 'stripe-signature': signature } = signing.stripe(body);
    expect((await hook(post(body, { 'x-acme-signature': signature }))).status).toBe(204);
  }
  const found = (await told()).map(({ eventId }) => String(eventId));
  expect(found).toHaveLength(3);
  for (const id of found) expect(id).toMatch(/^body_[\w-]{43}$/);
});

test('Other requests are refused before anything is made of them', async () => {
  const { hook, webhooks } = await seeing('github', { maxBytes: 100 });
  const status = async (request: Request): Promise<number> => (await hook(request)).status;
  const large = JSON.stringify({ text: 'x'.repeat(100) });
  expect(await status(new Request('https://desk.example/hook'))).toBe(405);
  expect(await status(post(large, signing.github(large)))).toBe(413);
  expect(
    await status(
      post(BODY, { ...signing.github(BODY), 'content-type': 'application/x-www-form-urlencoded' }),
    ),
  ).toBe(415);
  for (const body of ['[1]', '"x"', '{', '', '{"a":'.repeat(10)])
    expect(await status(post(body, signing.github(body)))).toBe(400);
  expect(webhooks).toEqual([]);
});

test('A webhook may be no event or several, each with an id of its own', async () => {
  const server = desk();
  const { hook, problems, told } = await seeing(
    'github',
    {
      event: ({ body }: IncomingWebhook) =>
        body['n'] === undefined
          ? undefined
          : Array.from({ length: body['n'] as number }, (_, at) => ({
              name: 'issue_changed',
              data: { id: String(at) },
              ...(at === 1 && { eventId: 'own', timestamp: '2026-11-18T12:00:00Z' }),
            })),
    },
    server,
  );
  const send = async (body: object, id: string): Promise<number> => {
    const text = JSON.stringify(body);
    return (await hook(post(text, signing.github(text, { id })))).status;
  };
  expect(await send({}, 'a')).toBe(204);
  expect(await send({ n: 3 }, 'b')).toBe(204);
  expect(await told()).toMatchObject([
    { eventId: 'b' },
    { eventId: 'own', timestamp: '2026-11-18T12:00:00.000Z' },
    { eventId: 'b-2' },
  ]);
  expect(await send({ n: 101 }, 'c')).toBe(503);
  expect(problems.join()).toMatch(/The webhook c is not kept.*returned 101 events, and may return 100/);
  expect(await told()).toHaveLength(3);
});

test('A webhook that cannot be kept is repeated by its sender, and the program is told why', async () => {
  const results: unknown[] = [
    'text',
    { name: 'issue_changed' },
    { name: 'nothing', data: {} },
    { name: 'issue_changed', data: { id: 7 } },
  ];
  const { hook, problems, told } = await seeing('github', {
    event: () => {
      const next = results.shift();
      if (next === undefined) throw new Error('The program failed');
      return next;
    },
  });
  for (let times = 0; times < 5; times++)
    expect((await hook(post(BODY, signing.github(BODY)))).status).toBe(503);
  expect(problems.map((each) => each.replace(/^.*Error: /, ''))).toEqual([
    expect.stringMatching(/must return \{ name, data \}/),
    expect.stringMatching(/must return \{ name, data \}/),
    expect.stringMatching(/no events of the type "nothing"/),
    expect.stringMatching(/does not fit its payload/),
    'The program failed',
  ]);
  expect(problems.join()).not.toContain(SECRET);
  expect(await told()).toEqual([]);
});

test('A store that fails for a moment is tried again while the sender waits', async () => {
  const memory = memoryStore();
  let failures = 0;
  const store: Store = {
    get: (key) => memory.get(key),
    page: (prefix, options) => memory.page(prefix, options),
    items: (list, options) => memory.items(list, options),
    write(changes, options) {
      const isEvent = changes.some((change) => change.do === 'append' && change.list.startsWith('event-log'));
      if (isEvent && failures++ < 2) return Promise.reject(new Error('The store is gone'));
      return memory.write(changes, options);
    },
    claim: (queue, options) => memory.claim(queue, options),
    renew: (leases, ms) => memory.renew(leases, ms),
    size: (queue) => memory.size(queue),
    close: () => memory.close(),
  };
  const { hook, told } = await seeing('github', {}, desk(store));
  expect((await hook(post(BODY, signing.github(BODY)))).status).toBe(204);
  expect(failures).toBe(3);
  expect(await told()).toHaveLength(1);
});

test('A program that takes too long makes the sender repeat the webhook, and the event is told once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let finish: ((value: unknown) => void) | undefined;
  const { hook, told } = await seeing('github', {
    event: () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
  });
  const reply = hook(post(BODY, signing.github(BODY)));
  while (finish === undefined) await new Promise(setImmediate);
  vi.advanceTimersByTime(8000);
  expect((await reply).status).toBe(503);
  finish({ name: 'issue_changed', data: { id: '1' } });
  vi.useRealTimers();
  await until('the event is kept', async () => (await told()).length === 1);
});

test('On Node, the handler takes req and res, and says that a body was parsed before', async () => {
  const { hook, problems, told } = await seeing('github');
  let parsed = false;
  const http = createHttpServer((req, res) => {
    if (parsed) Object.assign(req, { body: { parsed: true } });
    hook.node(req, res);
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  closing.push(() => http.close());
  const send = async (): Promise<number | undefined> => {
    const { port } = http.address() as AddressInfo;
    const headers = { 'content-type': 'application/json', ...signing.github(BODY) } as Record<string, string>;
    const request = httpRequest({ port, host: '127.0.0.1', method: 'POST', headers, agent: false });
    request.end(BODY);
    const [response] = await once(request, 'response');
    response.resume();
    return response.statusCode;
  };
  expect(await send()).toBe(204);
  expect(await told()).toHaveLength(1);
  parsed = true;
  expect(await send()).toBe(500);
  expect(problems.join()).toMatch(/before the body parser/);
});

test('Options that are wrong are named', () => {
  const server = desk();
  const make = (options: object) => () => eventFrom(server, { event: () => undefined, ...options } as never);
  expect(make({ sender: 'github', secret: 'short' })).toThrow(
    /"secret" must be a string of at least 16 characters/,
  );
  expect(make({ sender: 'github', secret: [] })).toThrow(/"secret" must be/);
  expect(make({ sender: 'standard', secret: SECRET })).toThrow(/"whsec_" and the base64/);
  expect(make({ sender: 'slack', secret: SECRET })).toThrow(/"stripe", "github" or "standard"/);
  expect(make({ sender: 'github' })).toThrow(/"secret"/);
  expect(make({ sender: 'github', secret: SECRET, maxBytes: 1e9 })).toThrow(/26214400/);
  expect(make({ sender: 'github', secret: SECRET, event: 1 })).toThrow(/"event" must be a function/);
});
