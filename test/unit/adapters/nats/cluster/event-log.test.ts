import { nats } from 'fullmcp/nats';
import { eventLogContract } from 'fullmcp/testing';
import { afterEach, expect, test } from 'vitest';
import type { StreamSettings } from '../../../../../src/adapters/nats/connection/nats-types.js';
import type { Cluster } from '../../../../../src/state/cluster.js';
import type { EventLog, LoggedEvent } from '../../../../../src/state/event-log.js';
import { describeWithNats, useNats } from '../../../../support/engines/nats.js';
import { soon, until } from '../../../../support/until.js';

describeWithNats('the event log on NATS', () => {
  const nat = useNats();
  const clusters: Cluster[] = [];
  afterEach(async () => {
    await Promise.all(clusters.splice(0).map((cluster) => cluster.close()));
  });

  async function open(options: Parameters<typeof nats>[0] = {}): Promise<EventLog> {
    const cluster = nats({ url: nat.engine.url, ...options });
    clusters.push(cluster);
    await cluster.start();
    return cluster.eventLog;
  }

  for (const { name, run } of eventLogContract({ open, openAnother: open })) test(name, run);

  /** Follows a stream in the background. */
  async function follow(log: EventLog, after: string) {
    const controller = new AbortController();
    const followed = await log.follow(after, controller.signal);
    const events: LoggedEvent[] = [];
    const reading = (async () => {
      for await (const event of followed?.events ?? []) events.push(event);
    })();
    reading.catch(() => undefined);
    return { gap: followed?.gap, events, reading, stop: () => controller.abort() };
  }

  test('Three hundred followers of as many streams need no consumer in JetStream', async () => {
    const [log, other] = [await open({ prefix: 'many' }), await open({ prefix: 'many' })];
    const streams = Array.from({ length: 300 }, (_, n) => `s${n}.p`);
    const firsts = await Promise.all(streams.map((stream) => log.append(stream, 'begin')));
    const followers = await Promise.all(firsts.map((id) => follow(other, id)));
    await Promise.all(streams.map((stream) => log.append(stream, `end of ${stream}`, { last: true })));
    await Promise.all(followers.map(({ reading }) => soon('the end', reading)));
    for (const [at, { events }] of followers.entries())
      expect(events.map(({ data }) => data)).toEqual([`end of ${streams[at]}`]);
    const { loadJetStream } = await import('../../../../../src/adapters/nats/connection/load.js');
    const { connectRaw } = await import('../../../../support/engines/nats-raw.js');
    const raw = await connectRaw(nat.engine.url);
    const jsm = await (await loadJetStream()).jetstreamManager(raw, { timeout: 5000, checkAPI: false });
    const info = (await jsm.streams.info('many-events')) as unknown as { state: { consumer_count: number } };
    expect(info.state.consumer_count).toBe(0);
    await raw.close();
  });

  test('A follower hears events that are appended after kill -9 and a restart of the server', async () => {
    const [log, other] = [await open(), await open()];
    const first = await log.append('killed', 'begin');
    const follower = await follow(other, first);
    for (let n = 1; n <= 5; n++) {
      await log.append('killed', `before ${n}`);
      const restarting = nat.engine.restart();
      await log.append('killed', `during ${n}`);
      await restarting;
      await log.append('killed', `after ${n}`);
      await soon(
        'all events',
        Promise.race([
          follower.reading,
          until('the follower has all events', () => follower.events.length === 3 * n),
        ]),
      );
    }
    expect(follower.events.map(({ data }) => data)).toEqual(
      [1, 2, 3, 4, 5].flatMap((n) => [`before ${n}`, `during ${n}`, `after ${n}`]),
    );
    follower.stop();
    await follower.reading;
  });

  test('An event whose confirmation was lost is stored once, however often it is sent', async () => {
    const log = await open();
    const first = await log.append('once', 'begin');
    const follower = await follow(log, first);
    const sent: Promise<string>[] = [];
    for (let n = 0; n < 200; n++) sent.push(log.append('once', `${n}`));
    await nat.engine.restart();
    const ids = await Promise.all(sent);
    await log.append('once', 'end', { last: true });
    await soon('the end', follower.reading);
    expect(follower.events.map(({ id }) => id).sort()).toEqual([...ids, follower.events.at(-1)?.id].sort());
    expect(new Set(follower.events.map(({ data }) => data)).size).toBe(201);
  });

  test('Appending and following are rejected in bounded time while the server is gone', async () => {
    const log = await open({ timeoutMs: 500 });
    const first = await log.append('gone', 'begin');
    await nat.engine.kill();
    try {
      await expect(log.append('gone', 'x')).rejects.toThrow(/^The event was not stored: .*NATS at 127/);
      await expect(log.follow(first, new AbortController().signal)).rejects.toThrow(
        /^The stream cannot be followed: /,
      );
      await expect(log.drop('gone')).rejects.toThrow(/^The stream was not dropped: /);
    } finally {
      await nat.engine.start();
    }
    await until('the log works again', () =>
      log.append('gone', 'y').then(
        () => true,
        () => false,
      ),
    );
  });

  test('An event larger than a message of NATS is stored in parts and arrives whole', async () => {
    const [log, other] = [await open(), await open()];
    const first = await log.append('large', 'begin');
    const follower = await follow(other, first);
    const large = 'é漢😀'.repeat(400_000);
    const id = await log.append('large', large);
    await log.append('large', 'end', { last: true });
    await soon('the end', follower.reading);
    expect(follower.events.map(({ data }) => data.length)).toEqual([large.length, 3]);
    expect(follower.events[0]?.data === large).toBe(true);
    const again = await follow(log, first);
    await again.reading;
    expect(again.events.map((event) => event.id)).toEqual([id, follower.events[1]?.id]);
    await log.drop('large');
    expect((await follow(log, first)).gap).toBeUndefined();
  });

  test('An event that would fill a quarter of the log is a RangeError', async () => {
    const log = await open({ prefix: 'tiny', events: { maxBytes: 1024 * 1024 } });
    await expect(log.append('s', 'x'.repeat(300_000))).rejects.toThrow(
      'An event of 300000 bytes is too large for the event log, which takes 262144 (a quarter of maxBytes).',
    );
  });

  test('A stream that has more events than it may keep reports a gap for its first ids, and none for its last', async () => {
    const log = await open({ prefix: 'few', events: { maxEventsPerStream: 5 } });
    const ids: string[] = [];
    for (let n = 0; n < 10; n++) ids.push(await log.append('s', `${n}`));
    expect((await follow(log, ids[2] as string)).gap).toBe(true);
    const late = await follow(log, ids[6] as string);
    expect(late.gap).toBe(false);
    await until('the rest was read', () => late.events.length === 3);
    expect(late.events.map(({ data }) => data)).toEqual(['7', '8', '9']);
  });

  test('A slow reader learns that events were dropped before it read them', async () => {
    const log = await open({ prefix: 'slow', events: { maxEventsPerStream: 100 } });
    const first = await log.append('s', 'begin');
    const followed = await log.follow(first, new AbortController().signal);
    const iterator = followed?.events[Symbol.asyncIterator]();
    await log.append('s', '0');
    expect((await iterator?.next())?.value?.data).toBe('0');
    // The reader holds on to at most 64 events.
    for (let n = 1; n <= 300; n++) await log.append('s', `${n}`);
    const read = async (): Promise<string[]> => {
      const data: string[] = [];
      for (;;) data.push((await iterator?.next())?.value?.data ?? '');
    };
    await expect(soon('an error', read())).rejects.toThrow(
      'Events of the stream s were dropped before they were read',
    );
  });

  test('A slow reader gets all events in order if none was dropped', async () => {
    const log = await open();
    const first = await log.append('patient', 'begin');
    const followed = await log.follow(first, new AbortController().signal);
    const iterator = followed?.events[Symbol.asyncIterator]();
    for (let n = 0; n < 300; n++) await log.append('patient', `${n}`);
    for (let n = 0; n < 300; n++) expect((await iterator?.next())?.value?.data).toBe(`${n}`);
    await iterator?.return?.();
  });

  test('A log in memory that lost its events fails its followers and reports a gap', async () => {
    const log = await open({ prefix: 'memory', events: { storage: 'memory' } });
    const first = await log.append('s', 'begin');
    for (let n = 0; n < 5; n++) await log.append('s', `${n}`);
    const follower = await follow(log, first);
    await until('all was read', () => follower.events.length === 5);
    await nat.engine.restart();
    await expect(soon('an error', follower.reading)).rejects.toThrow('NATS has lost events of the log');
    // The stream is made again with the next event.
    const second = await log.append('s', 'again');
    expect(second).not.toBe(first);
    const followed = await follow(log, follower.events[0]?.id as string);
    expect(followed.gap).toBe(true);
    await until('the new event was read', () => followed.events.length === 1);
    expect(followed.events[0]?.data).toBe('again');
  });

  test('A follower ends when its stream is dropped elsewhere', async () => {
    const [log, other] = [await open(), await open()];
    const follower = await follow(other, await log.append('dropped', 'begin'));
    await log.drop('dropped');
    await soon('the end', follower.reading);
    expect(follower.events).toEqual([]);
  });

  test('Hostile names of streams are kept apart', async () => {
    const log = await open();
    const names = ['s', 's-0', 's-0-0', '-', 's.', 'S', '*', '>', 's.*', '__proto__', '=', 'x'.repeat(500)];
    const ids = await Promise.all(names.map((name) => log.append(name, `first of ${name}`)));
    for (const name of names) await log.append(name, `second of ${name}`, { last: true });
    for (const [at, name] of names.entries()) {
      const { events, reading, gap } = await follow(log, ids[at] as string);
      await soon('the end', reading);
      expect([gap, ...events.map(({ data }) => data)]).toEqual([false, `second of ${name}`]);
    }
    await expect(log.append('a\nb', 'x')).rejects.toThrow(RangeError);
    expect(await log.follow('a\nb-1_aaaaaaaaaaaa', new AbortController().signal)).toBeUndefined();
  });

  test('An event that NATS stored but did not announce is found by looking again', async () => {
    const log = await open({ prefix: 'silent' });
    const first = await log.append('s', 'begin');
    const follower = await follow(log, first);
    const { loadJetStream } = await import('../../../../../src/adapters/nats/connection/load.js');
    const { connectRaw } = await import('../../../../support/engines/nats-raw.js');
    const raw = await connectRaw(nat.engine.url);
    const jsm = await (await loadJetStream()).jetstreamManager(raw, { timeout: 5000, checkAPI: false });
    const info = (await jsm.streams.info('silent-events')) as unknown as { config: StreamSettings };
    const { republish: _republish, ...config } = info.config;
    await jsm.streams.update('silent-events', config);
    await log.append('s', 'unannounced');
    await until('the event was found', () => follower.events.length === 1);
    follower.stop();
    await raw.close();
  });

  test('Garbage on the subject of new events is skipped', async () => {
    const log = await open();
    const first = await log.append('noise', 'begin');
    const follower = await follow(log, first);
    const { connectRaw } = await import('../../../../support/engines/nats-raw.js');
    const raw = await connectRaw(nat.engine.url);
    for (let n = 0; n < 10; n++) raw.publish('fullmcp.live.noise', 'garbage');
    await raw.flush();
    await log.append('noise', 'end', { last: true });
    await soon('the end', follower.reading);
    expect(follower.events.map(({ data }) => data)).toEqual(['end']);
    await raw.close();
  });
});
