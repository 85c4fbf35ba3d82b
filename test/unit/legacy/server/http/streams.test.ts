import { createServer, resource, type Server, tool } from 'fullmcp';
import { memoryEventLog } from 'fullmcp/http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Serving, serve } from '../../../../../src/node.js';
import { type Attacked, attackedServer } from '../../../../support/http/attacked-server.js';
import type { Events } from '../../../../support/http/http.js';
import { openSession, type SessionClient } from '../../../../support/http/sessions.js';
import { until } from '../../../../support/until.js';

let attacked: Attacked;
let serving: Serving;
let url: string;

beforeEach(async () => {
  attacked = attackedServer();
  serving = await serve(attacked.server, { port: 0, signals: false, retryMs: 25 });
  url = serving.url;
});

afterEach(() => serving.close());

const message = (
  data: string | undefined,
): { method?: string; params?: never; id?: unknown } & Record<string, never> => JSON.parse(String(data));

/** The next event that carries a message: not the one that only has an id to resume from. */
async function nextMessage(events: Events): Promise<ReturnType<typeof message>> {
  for (;;) {
    const event = await events.next();
    if (event === undefined) throw new Error('The stream has ended');
    if (event.data !== '') return message(event.data);
  }
}

function callGated(session: SessionClient, to: number, more: object = {}): Promise<Events> {
  return session.stream('tools/call', {
    name: 'gated',
    arguments: { to, ...more },
    _meta: { progressToken: 'p' },
  });
}

describe('a stream that breaks off', () => {
  test.each(['2025-11-25', '2025-06-18', '2025-03-26'])(
    'is replayed with every event once and in order (%s)',
    async (revision) => {
      const session = await openSession(url, revision);
      const texts: string[] = [];
      const ids: string[] = [];
      const take = async (events: Events, count: number): Promise<void> => {
        while (count > 0) {
          const event = await events.next();
          expect(event?.id).toBeDefined();
          ids.push(String(event?.id));
          if (event?.data === '') continue;
          texts.push(String(event?.data));
          count -= 1;
        }
      };
      attacked.open();
      attacked.open();
      let events = await callGated(session, 6);
      await take(events, 2);
      events.drop();
      // Two more events happen while nobody is connected.
      attacked.open();
      attacked.open();
      events = await session.resume(String(ids.at(-1)));
      expect(events.status).toBe(200);
      await take(events, 2);
      events.drop();
      attacked.open();
      attacked.open();
      await until('the call has ended', () => attacked.running() === 0);
      events = await session.resume(String(ids.at(-1)));
      await take(events, 3);
      expect(await events.rest()).toEqual([]);
      const messages = texts.map((data) => message(data) as Record<string, unknown>);
      expect(messages.slice(0, 6).map((m) => (m['params'] as { progress: number }).progress)).toEqual([
        1, 2, 3, 4, 5, 6,
      ]);
      expect(messages[6]).toMatchObject({ id: 1, result: { content: [{ text: 'through' }] } });
      expect(new Set(ids).size).toBe(ids.length);
    },
  );

  test('can be resumed from any of its events', async () => {
    const session = await openSession(url);
    const params = { name: 'count', arguments: { to: 5 }, _meta: { progressToken: 'p' } };
    const all = await (await session.stream('tools/call', params)).rest();
    expect(all[0]).toMatchObject({ data: '', retry: 25 });
    for (let at = 0; at < all.length; at++) {
      const replayed = await (await session.resume(String(all[at]?.id))).rest();
      expect(replayed.map(({ data }) => data)).toEqual(all.slice(at + 1).map(({ data }) => data));
    }
  });

  test('continues on a second connection, and ends the first', async () => {
    const session = await openSession(url);
    attacked.open();
    const first = await callGated(session, 2);
    await first.next();
    const event = await first.next();
    expect(event?.data).toContain('"progress":1');
    const second = await session.resume(String(event?.id));
    expect(await first.rest()).toEqual([]);
    attacked.open();
    expect((await nextMessage(second)).method).toBe('notifications/progress');
    expect(await nextMessage(second)).toMatchObject({ id: 1 });
  });

  test('gets 404 in another session, and so does an event that never existed', async () => {
    const [one, two] = [await openSession(url), await openSession(url)];
    const params = { name: 'count', arguments: { to: 1 }, _meta: { progressToken: 'p' } };
    const [first] = await (await one.stream('tools/call', params)).rest();
    expect((await two.resume(String(first?.id))).status).toBe(404);
    const standing = await one.get();
    const primed = await standing.next();
    expect((await two.resume(String(primed?.id))).status).toBe(404);
    standing.drop();
    for (const id of ['nonsense', '-', '__proto__', `${String(first?.id).slice(0, 14)}-0`])
      expect((await one.resume(id)).status, id).toBe(404);
    expect((await one.resume(String(first?.id))).status).toBe(200);
  });

  test('can be resumed while its call runs, even if the log has lost its events', async () => {
    const brief = await serve(attacked.server, {
      port: 0,
      signals: false,
      eventLog: memoryEventLog({ maxBytes: 5000 }),
    });
    const session = await openSession(brief.url);
    attacked.open();
    const events = await callGated(session, 3);
    await events.next();
    const event = await events.next();
    events.drop();
    const noise = { name: 'count', arguments: { to: 100 }, _meta: { progressToken: 'n' } };
    await (await session.stream('tools/call', noise, 'noise')).rest();
    const back = await session.resume(String(event?.id));
    expect(back.status).toBe(200);
    attacked.open();
    attacked.open();
    expect((await nextMessage(back)).method).toBe('notifications/progress');
    expect((await nextMessage(back)).method).toBe('notifications/progress');
    const last = await nextMessage(back);
    expect(last).toMatchObject({ id: 1 });
    await brief.close();
  });
});

describe('polling with ctx.release()', () => {
  test('closes the connection at once with a retry hint, and keeps the response for the next connection', async () => {
    const session = await openSession(url);
    const events = await callGated(session, 1, { release: true });
    const all = await events.rest();
    expect(all).toHaveLength(1);
    expect(all[0]).toMatchObject({ data: '', retry: 25 });
    expect(attacked.running()).toBe(1);
    attacked.open();
    const back = await session.resume(String(all[0]?.id));
    expect((await nextMessage(back)).method).toBe('notifications/progress');
    expect(await nextMessage(back)).toMatchObject({ id: 1, result: { content: [{ text: 'through' }] } });
    expect(await back.rest()).toEqual([]);
    expect(attacked.aborted('gated')).toBe(0);
  });

  test.each(['2025-06-18', '2025-03-26'])('does nothing in %s', async (revision) => {
    const session = await openSession(url, revision);
    attacked.open();
    const events = await callGated(session, 1, { release: true });
    expect((await nextMessage(events)).method).toBe('notifications/progress');
    expect(await nextMessage(events)).toMatchObject({ id: 1 });
  });
});

describe('the stream of a session', () => {
  function changing(): Server {
    return createServer({
      name: 'changing',
      version: '1',
      changes: true,
      resources: {
        'config://app': resource({ read: () => 'x' }),
        'config://other': resource({ read: () => 'y' }),
      },
      tools: { echo: tool({ run: () => 'echo' }) },
    });
  }

  test('announces changes of subscribed resources, until they are unsubscribed', async () => {
    const server = changing();
    const other = await serve(server, { port: 0, signals: false });
    const session = await openSession(other.url);
    const standing = await session.get();
    expect((await standing.next())?.data).toBe('');
    const uri = 'config://app';
    expect((await session.request('resources/subscribe', { uri })).text).toContain('"result":{}');
    server.changed.resource('config://other');
    server.changed.resource(uri);
    expect(await nextMessage(standing)).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri },
    });
    expect((await session.request('resources/unsubscribe', { uri })).text).toContain('"result":{}');
    server.changed.resource(uri);
    server.changed.tools();
    expect(await nextMessage(standing)).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
    });
    standing.drop();
    await other.close();
  });

  test('serves a subscription that was made before the stream existed', async () => {
    const server = changing();
    const other = await serve(server, { port: 0, signals: false });
    const session = await openSession(other.url);
    await session.request('resources/subscribe', { uri: 'config://app' });
    const standing = await session.get();
    await standing.next();
    server.changed.resource('config://app');
    expect((await nextMessage(standing)).method).toBe('notifications/resources/updated');
    standing.drop();
    await other.close();
  });

  test('replaces an older stream of the session, which ends', async () => {
    const server = changing();
    const other = await serve(server, { port: 0, signals: false });
    const session = await openSession(other.url);
    const older = await session.get();
    await older.next();
    const newer = await session.get();
    await newer.next();
    expect(await older.rest()).toEqual([]);
    server.changed.prompts();
    expect((await nextMessage(newer)).method).toBe('notifications/prompts/list_changed');
    newer.drop();
    await other.close();
  });

  test("carries nothing of another session's subscriptions", async () => {
    const server = changing();
    const other = await serve(server, { port: 0, signals: false });
    const [one, two] = [await openSession(other.url), await openSession(other.url)];
    const [first, second] = [await one.get(), await two.get()];
    await one.request('resources/subscribe', { uri: 'config://app' });
    await two.request('resources/subscribe', { uri: 'config://other' });
    server.changed.resource('config://app');
    server.changed.resource('config://other');
    expect((await nextMessage(first)).params).toEqual({ uri: 'config://app' });
    expect((await nextMessage(second)).params).toEqual({ uri: 'config://other' });
    server.changed.tools();
    expect((await nextMessage(first)).method).toBe('notifications/tools/list_changed');
    expect((await nextMessage(second)).method).toBe('notifications/tools/list_changed');
    first.drop();
    second.drop();
    await other.close();
  });

  test('is resumed after its last event id, and announces every kind of change if it was away', async () => {
    const server = changing();
    const secret = 'a secret that outlives the process it is in';
    const other = await serve(server, { port: 0, signals: false, secret });
    const session = await openSession(other.url);
    const standing = await session.get();
    const primed = await standing.next();
    server.changed.tools();
    const event = await standing.next();
    standing.drop();
    const again = await session.resume(String(primed?.id));
    expect((await nextMessage(again)).method).toBe('notifications/tools/list_changed');
    again.drop();
    const fresh = await session.resume(String(event?.id));
    expect(fresh.status).toBe(200);
    await fresh.next();
    // Nobody listened while there was no stream, so every possible change is announced once.
    const announced = [await nextMessage(fresh), await nextMessage(fresh), await nextMessage(fresh)];
    expect(announced.map(({ method }) => method)).toEqual([
      'notifications/tools/list_changed',
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
    ]);
    server.changed.prompts();
    expect((await nextMessage(fresh)).method).toBe('notifications/prompts/list_changed');
    fresh.drop();
    await other.close();
  });
});

test('a stream that reaches its maximum age ends, and later connections deliver its remaining events', async () => {
  const brief = await serve(attacked.server, { port: 0, signals: false, maxAgeMs: 50, keepAliveMs: 20 });
  for (const revision of ['2025-11-25', '2025-03-26']) {
    const session = await openSession(brief.url, revision);
    attacked.open();
    const events = await callGated(session, 2);
    const first = await events.rest();
    expect(first.at(-1)?.data).toContain('"progress":1');
    attacked.open();
    let all: { data: string; id: string | undefined }[] = first;
    // It may take several connections, each of them equally short.
    for (let at = 0; at < 50 && !all.some(({ data }) => data.includes('through')); at++)
      all = all.concat(await (await session.resume(String(all.at(-1)?.id))).rest());
    expect(all.at(-1)?.data).toContain('through');
  }
  await brief.close();
});
