import { createServer, event, inProcess, tool } from 'fullmcp';
import { type WebhookReceiver, webhookReceiver } from 'fullmcp/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { operatedServer } from '../../../src/tooling/operator/operated-server.js';
import { operatorOf } from '../../../src/tooling/operator/operator.js';
import { secretOf } from '../../support/events/receiver.js';
import { until } from '../../support/until.js';
import { HOSTILE, UNSAFE } from '../check/support.js';
import { fullmcp } from '../support/run-cli.js';
import { served } from './support.js';

// A server that answers its operator, as the one of `fullmcp dev` does.

const payload = z.object({ id: z.string(), count: z.number().optional() });

interface Desk {
  readonly url: string;
  readonly server: ReturnType<typeof makeDesk>;
  readonly hooks: WebhookReceiver;
  /** The status with which the receiver replies to events. */
  readonly reply: { status: number };
  readonly subscribe: (path?: string) => Promise<string>;
}

function makeDesk(receiver: string) {
  return createServer({
    ...{ name: 'desk', version: '1.0.0', logger: () => undefined },
    events: { ticket_changed: event({ payload }), other: event({ payload }) },
    webhooks: { privateHosts: [receiver], allow: [receiver] },
  });
}

async function desk(): Promise<Desk> {
  const reply = { status: 204 };
  const hooks = await webhookReceiver({
    reply: ({ path }) => (path === '/quiet' ? undefined : reply.status),
  });
  onTestFinished(() => hooks.close());
  const server = makeDesk(hooks.url);
  const url = await served(operatedServer(server));
  const ask = inProcess(server, { caller: { subject: 'ada' } });
  async function subscribe(path = '/hook?token=secret-of-query'): Promise<string> {
    const delivery = { mode: 'webhook', url: `${hooks.url}${path}`, secret: secretOf(1) };
    const { id } = await ask('events/subscribe', { name: 'ticket_changed', delivery });
    return String(id);
  }
  return { url, server, hooks, reply, subscribe };
}

const emit = ({ server }: Desk, id: string) =>
  server.emit('ticket_changed', { id, count: 1 }, { eventId: id });

/** Waits until the server has given up this number of events. */
async function untilDead({ server }: Desk, count: number): Promise<void> {
  await until('the events were given up', async () => {
    for await (const { dead } of server.webhooks.deliveries()) if (dead.length === count) return true;
    return false;
  });
}

describe('fullmcp events send', () => {
  test('emits an event, whose data is read by its schema, once for each id', async () => {
    const { url } = await desk();
    const words = ['events', 'send', url, 'ticket_changed', 'id=7', '--id', 'T-7'];
    expect(await fullmcp(words)).toMatchObject({ exit: 0, stdout: 'T-7\n', stderr: '' });
    const again = await fullmcp(words);
    expect(again).toMatchObject({ exit: 0, stdout: 'T-7\n' });
    expect(again.stderr).toContain('emitted before');
    expect((await fullmcp([...words, '--json'])).json()).toEqual({ ok: true, eventId: 'T-7', isNew: false });
    const listened = await fullmcp(['events', 'listen', url, 'ticket_changed', '--count', '1', '--json'], {
      onStderr: (written) => {
        if (written.includes('Following')) void fullmcp(['events', 'send', url, 'ticket_changed', 'id=8']);
      },
    });
    expect(listened.json<{ event: object }>().event).toMatchObject({ data: { id: '8' } });
  });

  test('refuses data that does not fit before anything is sent, and what the server refuses', async () => {
    const { url } = await desk();
    const wrong = await fullmcp(['events', 'send', url, 'ticket_changed', 'id=7', 'count=many']);
    expect(wrong).toMatchObject({ exit: 2, stderr: expect.stringContaining('Nothing was sent') });
    const unknown = await fullmcp(['events', 'send', url, 'ticket_changd', 'id=7']);
    expect(unknown).toMatchObject({ exit: 2, stderr: expect.stringContaining('"ticket_changed"?') });
    const large = await fullmcp(['events', 'send', url, 'ticket_changed', `id=${'x'.repeat(300_000)}`]);
    expect(large).toMatchObject({ exit: 4, stderr: expect.stringMatching(/262.?144|bytes/) });
  });

  test('says which servers have an operator', async () => {
    const url = await served(
      createServer({ name: 'far', version: '1.0.0', events: { ticket_changed: event({ payload }) } }),
    );
    for (const words of [
      ['send', url, 'ticket_changed', 'id=1'],
      ['deliveries', url],
      ['redeliver', url, 'sub_1'],
    ])
      expect(await fullmcp(['events', ...words])).toMatchObject({
        ...{ exit: 1, stdout: '' },
        stderr: expect.stringContaining('the address of `fullmcp dev`'),
      });
  });

  test('leaves a server without events as it is', () => {
    const server = { dispatch: async () => ({ resultType: 'complete' }) };
    expect(operatedServer(server)).toBe(server);
  });
});

describe('fullmcp events deliveries', () => {
  test('prints subscriptions with the events that were given up, which redeliver sends again', async () => {
    const place = await desk();
    const { url, reply, subscribe, hooks } = place;
    expect(await fullmcp(['events', 'deliveries', url])).toMatchObject({
      ...{ exit: 0, stdout: '', stderr: 'No webhook is subscribed.\n' },
    });
    const id = await subscribe();
    await subscribe('/quiet');
    const printed = async (...words: readonly string[]) =>
      (await fullmcp(['events', 'deliveries', url, ...words])).stdout;
    expect(await printed()).toContain(
      `${id}  ticket_changed  ${hooks.url}/hook  ada  active  nothing delivered yet\n`,
    );
    expect(await printed('--failed')).toBe('');
    reply.status = 410;
    await emit(place, 't1');
    await emit(place, 't2');
    await untilDead(place, 2);
    expect(await printed(id)).toMatch(
      /^sub_\S+ {2}ticket_changed .* http_4xx\n {2}given up {2}t[12] {2}1 attempt {2}http_4xx {2}\S+Z\n/,
    );
    expect((await printed('--json')).trimEnd().split('\n')).toHaveLength(2);
    expect(JSON.parse(await printed(id, '--json'))).toMatchObject({
      ok: true,
      subscription: id,
      dead: [{ attempts: 1, reason: 'http_4xx' }, { attempts: 1 }],
      retrying: [],
    });
    expect(await printed()).not.toContain('secret-of-query');

    expect(await fullmcp(['events', 'redeliver', url, id, 't1'])).toMatchObject({
      ...{ exit: 0, stdout: '0 of 1 delivered\n' },
    });
    reply.status = 204;
    expect(await fullmcp(['events', 'redeliver', url, id, 't1'])).toMatchObject({
      ...{ exit: 0, stdout: '1 of 1 delivered\n' },
    });
    expect((await fullmcp(['events', 'redeliver', url, id, '--json'])).json()).toEqual({
      ...{ ok: true, sent: 1, delivered: 1 },
    });
    expect(await printed('--failed')).toBe('');
    expect(await printed(id)).toMatch(/last delivery \S+Z\n$/);
    const none = await fullmcp(['events', 'redeliver', url, id]);
    expect(none).toMatchObject({ exit: 1, stderr: expect.stringContaining('No event') });
    expect((await fullmcp(['events', 'redeliver', url, id, 't9'])).exit).toBe(1);
  });

  test('prints the events that are sent again soon', async () => {
    const place = await desk();
    const id = await place.subscribe();
    place.reply.status = 503;
    await emit(place, 't1');
    await until('an attempt has failed', async () => {
      const { stdout } = await fullmcp(['events', 'deliveries', place.url, '--failed']);
      return stdout.includes('retrying');
    });
    const { stdout } = await fullmcp(['events', 'deliveries', place.url, id]);
    expect(stdout).toMatch(/ {2}retrying {2}t1 {2}\d attempts? {2}again \S+Z\n/);
    place.reply.status = 204;
  });

  test('fails for a subscription that the server does not have', async () => {
    const { url } = await desk();
    for (const command of ['deliveries', 'redeliver'])
      expect(await fullmcp(['events', command, url, 'sub_unknown'])).toMatchObject({
        ...{ exit: 1, stderr: expect.stringContaining('There is no subscription "sub_unknown".') },
      });
  });

  test('says that a server has no webhooks', async () => {
    const server = createServer({ name: 'd', version: '1.0.0', events: { a: event({ payload }) } });
    const url = await served(operatedServer(server));
    expect(await fullmcp(['events', 'deliveries', url])).toMatchObject({
      ...{ exit: 4, stderr: expect.stringContaining('Give it the option "webhooks"') },
    });
  });

  test('reads many subscriptions page by page', async () => {
    const place = await desk();
    for (let at = 0; at < 99; at++) await place.subscribe(`/hook${at}`);
    const { stdout } = await fullmcp(['events', 'deliveries', place.url, '--json']);
    const ids = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).subscription);
    expect(new Set(ids).size).toBe(99);
  });
});

describe('a server that lies to its operator', () => {
  const answers: Record<string, object> = {
    'fullmcp/events/emit': { eventId: HOSTILE, isNew: 'no' },
    'fullmcp/webhooks/deliveries': {
      subscriptions: [
        null,
        'x',
        { subscription: HOSTILE, url: HOSTILE, subject: HOSTILE, status: HOSTILE, lastError: HOSTILE },
        { subscription: 7, dead: [{ eventId: HOSTILE, reason: HOSTILE, attempts: HOSTILE, at: HOSTILE }, 3] },
        { retrying: [{ eventId: HOSTILE, nextAttemptAt: HOSTILE }], dead: 'many' },
      ],
      cursor: '',
    },
  };

  test('controls no terminal', async () => {
    const server = createServer({
      ...{ name: 'liar', version: '1.0.0', events: { ticket_changed: event({ payload }) } },
      use: [
        async (call, next) => {
          const answer = answers[call.method];
          return answer === undefined ? next(call) : { resultType: 'complete', ...answer };
        },
      ],
      tools: { a: tool({ run: () => 'a' }) },
    });
    const url = await served(server);
    for (const words of [
      ['deliveries', url],
      ['deliveries', url, '--json'],
      ['send', url, 'ticket_changed', 'id=1'],
    ]) {
      const { exit, stdout, stderr } = await fullmcp(['events', ...words]);
      expect(exit).toBe(0);
      expect(stdout).not.toBe('');
      for (const unsafe of UNSAFE) expect(stdout + stderr).not.toContain(unsafe);
    }
  });

  test('does not keep a list going forever', async () => {
    let asked = 0;
    const { deliveries } = operatorOf({
      request: async () => ({ resultType: 'complete', subscriptions: [], cursor: String(++asked) }),
    });
    const found = [];
    for await (const each of deliveries()) found.push(each);
    expect({ found, asked }).toEqual({ found: [], asked: 10_000 });
  });
});
