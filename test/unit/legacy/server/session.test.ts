import { createServer, type Middleware, resource } from 'fullmcp';
import { expect, test } from 'vitest';
import { serve } from '../../../../src/node.js';
import { openSession } from '../../../support/http/sessions.js';
import { until } from '../../../support/until.js';

test('a resource that changes while the client subscribes to another one is reported once, even if middleware takes its time', async () => {
  let begun = 0;
  let release: () => void = () => undefined;
  let waiting: Promise<void> | undefined;
  const slow: Middleware = async (call, next) => {
    if (call.method === 'subscriptions/listen') {
      begun++;
      await waiting;
    }
    return next(call);
  };
  const server = createServer({
    name: 'test',
    version: '1',
    changes: true,
    use: [slow],
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
    waiting = new Promise((resolve) => {
      release = resolve;
    });
    const before = begun;
    await session.request('resources/subscribe', { uri: 'a://2' });
    await session.request('resources/subscribe', { uri: 'a://3' });
    await until('the new subscriptions wait', () => begun === before + 2);
    server.changed.resource('a://1');
    release();
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
