import { createServer, type Middleware, resource } from 'fullmcp';
import { expect, test } from 'vitest';
import { serve } from '../../../../src/node.js';
import { openSession } from '../../../support/http/sessions.js';
import { until } from '../../../support/until.js';

test('a resource that changes while the client subscribes to another one is reported once, even if middleware takes its time', async () => {
  const { use, listening, hold } = slowListening();
  const server = createServer({
    name: 'test',
    version: '1',
    changes: true,
    use,
    resources: { 'a://1': resource({ read: () => '' }), 'a://2': resource({ read: () => '' }) },
  });
  const serving = await serve(server, { port: 0, signals: false });
  try {
    const session = await openSession(serving.url, '2025-06-18');
    const events = await session.get();
    const updated: string[] = [];
    const reading = (async () => {
      for (let event = await events.next(); event !== undefined; event = await events.next())
        updated.push(JSON.parse(event.data).params.uri);
    })();
    await session.request('resources/subscribe', { uri: 'a://1' });
    const release = hold();
    const before = listening();
    const subscribing = ['a://2', 'a://3'].map((uri) => session.request('resources/subscribe', { uri }, uri));
    await until('the new subscriptions wait', () => listening() === before + 2);
    server.changed.resource('a://1');
    release();
    await Promise.all(subscribing);
    await until('the new subscription reports changes', () => {
      server.changed.resource('a://3');
      return updated.includes('a://3');
    });
    expect(updated.filter((uri) => uri === 'a://1')).toEqual(['a://1']);
    await session.end();
    await reading;
  } finally {
    await serving.close();
  }
});

test('a client has the response to a subscription only when changes are reported', async () => {
  const { use, listening, hold } = slowListening();
  const resources = { 'a://1': resource({ read: () => '' }) };
  const server = createServer({ name: 'test', version: '1', changes: true, use, resources });
  const serving = await serve(server, { port: 0, signals: false });
  try {
    const session = await openSession(serving.url, '2025-06-18');
    const events = await session.get();
    await until('the session listens', () => listening() === 1);
    const release = hold();
    const order: string[] = [];
    const subscribing = session.request('resources/subscribe', { uri: 'a://1' }).then(() => {
      order.push('subscribed');
      server.changed.resource('a://1');
    });
    await until('the new subscription waits', () => listening() === 2);
    await session.request('ping', {}, 'ping');
    order.push('released');
    release();
    await subscribing;
    expect(order).toEqual(['released', 'subscribed']);
    expect(JSON.parse(String((await events.next())?.data))).toMatchObject({ params: { uri: 'a://1' } });
    events.drop();
  } finally {
    await serving.close();
  }
});

test('a client that reconnects is told that everything may have changed, even if it subscribes before the server listens', async () => {
  const { use, listening, hold } = slowListening();
  const server = createServer({
    name: 'test',
    version: '1',
    changes: true,
    use,
    resources: { 'a://1': resource({ read: () => '' }) },
  });
  const serving = await serve(server, { port: 0, signals: false });
  try {
    const session = await openSession(serving.url, '2025-11-25');
    const first = await session.get();
    const { id } = (await first.next()) ?? {};
    first.drop();
    const before = listening();
    const release = hold();
    const events = await session.resume(String(id));
    const subscribing = session.request('resources/subscribe', { uri: 'a://1' });
    await until('both subscriptions wait', () => listening() === before + 2);
    release();
    await subscribing;
    const reported: string[] = [];
    while (reported.length < 4) {
      const event = await events.next();
      if (event?.data !== '') reported.push(JSON.parse(String(event?.data)).method);
    }
    expect(reported).toEqual([
      'notifications/tools/list_changed',
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
      'notifications/resources/updated',
    ]);
    events.drop();
  } finally {
    await serving.close();
  }
});

/** Middleware that lets subscriptions wait. */
function slowListening() {
  let count = 0;
  let waiting: Promise<void> | undefined;
  const slow: Middleware = async (call, next) => {
    if (call.method === 'subscriptions/listen') {
      count++;
      await waiting;
    }
    return next(call);
  };
  return {
    use: [slow],
    /** The number of subscriptions that have begun. */
    listening: (): number => count,
    /** Lets subscriptions wait from now on. Returns the function that releases them. */
    hold(): () => void {
      let release: () => void = () => undefined;
      waiting = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
  };
}
