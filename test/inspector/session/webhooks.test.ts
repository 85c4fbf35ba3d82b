import { createServer, event } from 'fullmcp';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { servedFor } from '../../../src/cli/target/caller.js';
import { WebhookInbox } from '../../../src/inspector/session/webhooks/webhook-inbox.js';
import { toAuth } from '../../../src/protocol/caller.js';
import { secretOf } from '../../support/events/receiver.js';
import { until } from '../../support/until.js';
import { type Rig, rig } from './rig.js';

// The receiver of the inspector: what a server sends to it, what strangers send to it, and how it replies.

async function inbox(): Promise<WebhookInbox> {
  const made = new WebhookInbox();
  onTestFinished(() => made.close());
  return made;
}

/** Connects to a server that sends webhooks to these receivers. */
async function connected(privateHosts: readonly string[], caller: string | undefined, own: Rig = opened()) {
  const server = createServer({
    ...{ name: 'desk', version: '1.0.0', logger: () => undefined },
    events: { ticket_changed: event({ payload: z.object({ id: z.string() }) }) },
    webhooks: { privateHosts },
  });
  onTestFinished(() => server.close());
  const auth = caller === undefined ? undefined : toAuth({ subject: caller }, 'caller');
  const connection = await own.connect({ target: auth === undefined ? server : servedFor(server, auth) });
  return { own, server, connection };
}

function opened(): Rig {
  const own = rig();
  onTestFinished(() => own[Symbol.asyncDispose]());
  return own;
}

const requests = ({ inspector }: Rig) =>
  inspector.snapshot().told.map(({ eventId, request }) => ({
    id: eventId,
    kind: request?.kind,
    attempt: request?.attempt,
    isSigned: request?.isSigned,
    reply: request?.reply,
  }));

test('shows the question of the server and each event, and replies as it is told', async () => {
  const own = opened();
  const refusing = await connected([], 'ada', own);
  const name = 'ticket_changed';
  // The server has to allow the address, which is known when the receiver listens.
  const { origin } = await own.run('receiveWebhooks', { connection: refusing.connection, name, args: {} });
  const { server, connection } = await connected([origin], 'ada', own);
  const input = { connection, name };
  const { story } = await own.run('receiveWebhooks', { ...input, args: {} });
  expect(await own.ended(story)).toMatchObject({ state: 'ok' });
  const view = () => own.connection(connection)?.receiving[0];
  await own.until('the server has accepted', () => view()?.subscription !== undefined);
  expect(view()).toMatchObject({ name: 'ticket_changed', reply: 'accept' });
  expect(view()?.url.startsWith(`${origin}/`)).toBe(true);
  await own.run('webhookReply', { ...input, reply: 'fail' });
  await server.emit('ticket_changed', { id: '1' }, { eventId: 'e1' });
  await until('an attempt was made', () => requests(own).length === 2);
  await own.run('webhookReply', { ...input, reply: 'accept' });
  await until('it was sent again', () => requests(own).length === 3);
  const [question, first, second] = requests(own);
  expect(question).toMatchObject({ kind: 'verification', isSigned: true, reply: 'accept' });
  expect(first).toEqual({ id: 'e1', kind: 'event', attempt: 1, isSigned: true, reply: 'fail' });
  expect(second).toEqual({ id: 'e1', kind: 'event', attempt: 2, isSigned: true, reply: 'accept' });
  // The secret is nowhere on the page.
  const page = JSON.stringify(own.inspector.snapshot());
  expect(page).not.toMatch(/whsec_[\w+/]/);
  await own.run('stopWebhooks', input);
  await until('the server has no webhook', async () => {
    for await (const { status } of server.webhooks.deliveries()) if (status === 'active') return false;
    return true;
  });
  expect(own.connection(connection)?.receiving).toEqual([]);
});

test('says why a server refuses: nobody is logged in, or the address is not allowed', async () => {
  for (const [caller, code] of [
    [undefined, 'forbidden'],
    ['ada', 'invalid_params'],
  ] as const) {
    const { own, connection } = await connected([], caller);
    const { story } = await own.run('receiveWebhooks', { connection, name: 'ticket_changed', args: {} });
    expect(await own.ended(story)).toMatchObject({ state: 'error', error: { code } });
    await own.until('nothing is received', () => own.connection(connection)?.receiving.length === 0);
  }
});

test('refuses what is not for a subscription, and bodies without an end', async () => {
  const hooks = await inbox();
  const seen: boolean[] = [];
  const address = await hooks.open(secretOf(1), ({ isSigned }) => void seen.push(isSigned));
  const post = async (url: string, body: string, method = 'POST') =>
    (await fetch(url, { method, ...(method === 'POST' && { body }) })).status;
  expect(await post(new URL('/other', address.url).href, '{}')).toBe(410);
  expect(await post(address.url, '', 'GET')).toBe(410);
  expect(await post(address.url, 'x'.repeat(600_000)).catch(() => 413)).toBe(413);
  expect(seen).toEqual([]);
  // A stranger that knows the address is shown, and marked.
  expect(await post(address.url, 'not JSON')).toBe(204);
  expect(seen).toEqual([false]);
  address.close();
  expect(await post(address.url, '{}')).toBe(410);
});

test('keeps to what was asked of it', async () => {
  const { own, connection } = await connected([], 'ada');
  await expect(
    own.raw('webhookReply', { connection, name: 'ticket_changed', reply: 'accept' }),
  ).rejects.toThrow(/not received/);
  await expect(own.raw('webhookReply', { connection, name: 'x', reply: 'burn' })).rejects.toThrow(
    /accept, fail, gone, slow/,
  );
  expect(await own.run('stopWebhooks', { connection, name: 'ticket_changed' })).toEqual({});
});

test('takes another port if its own is taken', async () => {
  const first = await inbox();
  const second = await inbox();
  expect(await second.origin()).not.toBe(await first.origin());
});
