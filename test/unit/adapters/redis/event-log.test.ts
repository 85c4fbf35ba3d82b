import { redis } from 'fullmcp/redis';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { RedisOptions } from '../../../../src/redis.js';
import type { EventLog, LoggedEvent } from '../../../../src/state/event-log.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../../support/engines/redis.js';
import { soon, until } from '../../../support/until.js';

describeWithRedis('The event log on Redis', () => {
  let server: RedisServer;
  let streams = 0;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  const open = (options: Partial<RedisOptions> = {}): EventLog => {
    const cluster = redis({ url: server.url, ...options });
    onTestFinished(() => cluster.close());
    return cluster.eventLog;
  };
  const newStream = (): string => `session-${++streams}.get`;
  const never = new AbortController().signal;

  async function read(log: EventLog, after: string): Promise<{ gap: boolean; data: string[] } | undefined> {
    const followed = await log.follow(after, never);
    if (followed === undefined) return undefined;
    const data: string[] = [];
    for await (const event of followed.events) data.push(event.data);
    return { gap: followed.gap, data };
  }

  it('A stream keeps the newest events up to its limit, and a reader who missed some is told of the gap', async () => {
    const log = open({ events: { maxEventsPerStream: 5 } });
    const stream = newStream();
    const ids: string[] = [];
    for (let n = 0; n < 10; n++) ids.push(await log.append(stream, `${n}`, { last: n === 9 }));
    expect(await read(log, ids[9] as string)).toEqual({ gap: false, data: [] });
    expect(await read(log, ids[6] as string)).toEqual({ gap: false, data: ['7', '8', '9'] });
    // Event 4 is gone, but none of those that followed it.
    expect(await read(log, ids[4] as string)).toEqual({ gap: false, data: ['5', '6', '7', '8', '9'] });
    expect(await read(log, ids[3] as string)).toEqual({ gap: true, data: ['5', '6', '7', '8', '9'] });
  });

  it('A stream keeps the newest events up to its size, and always the last one', async () => {
    const log = open({ events: { maxBytesPerStream: 1000 } });
    const stream = newStream();
    const first = await log.append(stream, 'first');
    for (let n = 0; n < 20; n++) await log.append(stream, `${n}`.padEnd(300));
    const large = await log.append(stream, 'x'.repeat(5000));
    const end = await log.append(stream, 'end', { last: true });
    expect(await read(log, first)).toEqual({ gap: true, data: ['end'] });
    expect(await read(log, large)).toEqual({ gap: false, data: ['end'] });
    expect(await read(log, end)).toEqual({ gap: false, data: [] });
  });

  it('An event beyond the limit is a RangeError', async () => {
    const log = open({ events: { maxEventBytes: 1000 } });
    await expect(log.append(newStream(), 'é'.repeat(501))).rejects.toThrow(RangeError);
    await log.append(newStream(), 'é'.repeat(500));
  });

  it('A stream without new events is forgotten', async () => {
    const log = open({ events: { maxAgeMs: 100 } });
    const id = await log.append(newStream(), 'a');
    await until('the stream is gone', async () => (await log.follow(id, AbortSignal.abort())) === undefined);
  });

  it('A reader who is slower than the limit fails, and does not skip events in silence', async () => {
    const log = open({ events: { maxEventsPerStream: 5 } });
    const stream = newStream();
    const followed = await log.follow(await log.append(stream, 'a'), never);
    const events = followed?.events[Symbol.asyncIterator]() as AsyncIterator<LoggedEvent>;
    await log.append(stream, 'b');
    expect((await events.next()).value).toMatchObject({ data: 'b' });
    for (let n = 0; n < 10; n++) await log.append(stream, `${n}`);
    await expect(events.next()).rejects.toThrow('were dropped before they were read');
  });

  it('Readers of a stream that is dropped end, in this process and in others', async () => {
    const [log, other] = [open(), open()];
    const stream = newStream();
    const id = await log.append(stream, 'a');
    const followed = await Promise.all([log.follow(id, never), other.follow(id, never)]);
    const readers = followed.map(async (one) => {
      for await (const _ of one?.events ?? []);
    });
    await log.append(stream, 'b');
    await log.drop(stream);
    await soon('the end of both', Promise.all(readers));
  });

  it('A long stream with large events is read in parts, all of it', async () => {
    const log = open({ events: { maxBytesPerStream: 100_000_000 } });
    const stream = newStream();
    const first = await log.append(stream, 'first');
    const texts = Array.from({ length: 500 }, (_, n) => `${n}${'x'.repeat(n % 100 === 0 ? 900_000 : 10)}`);
    for (const [at, text] of texts.entries())
      await log.append(stream, text, { last: at === texts.length - 1 });
    expect(await read(log, first)).toEqual({ gap: false, data: texts });
  });

  it('Data with half a character and with NUL comes back as it was', async () => {
    const log = open();
    const stream = newStream();
    const first = await log.append(stream, 'first');
    await log.append(stream, 'a\ud800\0');
    await log.append(stream, '"\\ud800"', { last: true });
    expect(await read(log, first)).toEqual({ gap: false, data: ['a\ud800\0', '"\\ud800"'] });
  });

  it('A thousand readers share one connection, and end their subscriptions', async () => {
    const [log, other] = [open(), open()];
    const stream = newStream();
    const ids = await Promise.all(Array.from({ length: 1000 }, (_, n) => log.append(`${stream}.${n}`, 'a')));
    const reading = ids.map((id) => read(log, id));
    await until('all have subscribed', async () => {
      const channels = (await server.command('PUBSUB', 'CHANNELS', `fullmcp:stream:${stream}.*`)) as string[];
      return channels.length === 1000;
    });
    const clients = String(await server.command('CLIENT', 'LIST', 'TYPE', 'pubsub'));
    expect(clients.trim().split('\n')).toHaveLength(1);
    await Promise.all(ids.map((_, n) => other.append(`${stream}.${n}`, `${n}`, { last: true })));
    expect(await Promise.all(reading)).toEqual(ids.map((_, n) => ({ gap: false, data: [`${n}`] })));
    await until('no channel is left', async () => {
      const channels = (await server.command('PUBSUB', 'CHANNELS', `fullmcp:stream:${stream}.*`)) as string[];
      return channels.length === 0;
    });
  });
});
