import { type PostgresCluster, type PostgresOptions, postgres } from 'fullmcp/postgres';
import { afterEach, expect, test } from 'vitest';
import type { EventLog } from '../../../../src/state/event-log.js';
import { describeWithPostgres, freshSchema } from '../../../support/engines/postgres.js';
import { soon, until } from '../../../support/until.js';

const clusters: PostgresCluster[] = [];
afterEach(async () => {
  await Promise.all(clusters.splice(0).map((each) => each.close()));
});

const never = new AbortController().signal;

describeWithPostgres('The event log on Postgres', (server) => {
  function open(options: PostgresOptions = {}): PostgresCluster {
    const cluster = postgres({ url: server().url, schema: freshSchema(), ...options });
    clusters.push(cluster);
    return cluster;
  }

  /** Reads a stream in the background. */
  async function reading(log: EventLog, after: string) {
    const followed = await log.follow(after, never);
    if (followed === undefined) throw new Error('The stream is unknown');
    const data: string[] = [];
    const ended = (async () => {
      for await (const event of followed.events) data.push(event.data);
    })();
    return { gap: followed.gap, data, ended };
  }

  test('A stream that is full loses its oldest events, and a reader of those is told', async () => {
    const { eventLog } = open({ events: { maxEventsPerStream: 16 } });
    const ids: string[] = [];
    for (let n = 0; n < 60; n++) ids.push(await eventLog.append('s', `${n}`));
    ids.push(await eventLog.append('s', 'end', { last: true }));
    const early = await reading(eventLog, ids[5] as string);
    await early.ended;
    expect(early.gap).toBe(true);
    expect(early.data.length).toBeGreaterThanOrEqual(16);
    expect(early.data.length).toBeLessThanOrEqual(18);
    expect(early.data.at(-1)).toBe('end');
    const late = await reading(eventLog, ids[50] as string);
    await late.ended;
    expect([late.gap, late.data]).toEqual([
      false,
      ['51', '52', '53', '54', '55', '56', '57', '58', '59', 'end'],
    ]);
  });

  test('A reader that is too slow for the limit fails, instead of leaving events out', async () => {
    const { eventLog } = open({ events: { maxEventsPerStream: 8 } });
    const first = await eventLog.append('s', 'begin');
    const followed = await eventLog.follow(first, never);
    const events = followed?.events[Symbol.asyncIterator]() as AsyncIterator<{ data: string }>;
    await eventLog.append('s', '0');
    expect((await events.next()).value).toMatchObject({ data: '0' });
    for (let n = 1; n < 40; n++) await eventLog.append('s', `${n}`);
    await expect(events.next()).rejects.toThrow('were dropped before they were read');
  });

  test('An id that the log does not have yet, as after a crash that lost events, is followed by a gap', async () => {
    const { eventLog } = open();
    await eventLog.append('s', '0');
    const reader = await reading(eventLog, 's-zzzzzzz');
    expect(reader.gap).toBe(true);
    await eventLog.append('s', '1', { last: true });
    await soon('the event', reader.ended);
    expect(reader.data).toEqual(['1']);
  });

  test('An event beyond the limit is a RangeError', async () => {
    const { eventLog } = open({ events: { maxEventBytes: 1000 } });
    await expect(eventLog.append('s', 'é'.repeat(501))).rejects.toThrow(RangeError);
    await eventLog.append('s', 'é'.repeat(500));
  });

  test('The start warns that the size of a stream cannot be limited', async () => {
    expect(await open({ events: { maxBytesPerStream: 5000 } }).start()).toContainEqual(
      expect.stringMatching(/^Postgres cannot limit the size of a stream/),
    );
  });

  test('A reader finds events whose signal was lost', async () => {
    const schema = freshSchema();
    const { eventLog } = open({ schema });
    const first = await eventLog.append('s', 'begin');
    const reader = await reading(eventLog, first);
    // As if the process that appended had died before it sent the signal.
    await server().query(`SELECT ${schema}.append_1('s', 'silent', false, false, 1000, 1000)`);
    await until('the event was read', () => reader.data.length === 1);
    await eventLog.append('s', 'end', { last: true });
    await soon('the end', reader.ended);
    expect(reader.data).toEqual(['silent', 'end']);
  });

  test('A reader ends when its stream is dropped by another process, or closed here', async () => {
    const schema = freshSchema();
    const [a, b] = [open({ schema }), open({ schema })];
    const [one, two] = [await a.eventLog.append('one', 'x'), await a.eventLog.append('two', 'x')];
    const [first, second] = [await reading(a.eventLog, one), await reading(a.eventLog, two)];
    await b.eventLog.drop('one');
    await soon('the end', first.ended);
    const failing = expect(second.ended).rejects.toThrow('The event log is closed');
    await a.eventLog.close();
    await soon('the end', failing);
  });

  test('A signal that aborts before, during and after a read ends the reader', async () => {
    const { eventLog } = open();
    const first = await eventLog.append('s', 'begin');
    for (let n = 0; n < 20; n++) {
      const controller = new AbortController();
      if (n === 0) controller.abort();
      const followed = await eventLog.follow(first, controller.signal);
      const ended = (async () => {
        for await (const _ of followed?.events ?? []) break;
      })();
      setTimeout(() => controller.abort(), n % 5);
      await soon('the end', ended);
    }
  });

  test('Streams without a new event are removed after their time, with their events', async () => {
    const schema = freshSchema();
    const { eventLog } = open({ schema });
    const old = await eventLog.append('old', 'x');
    await eventLog.append('new', 'x');
    await server().query(
      `UPDATE ${schema}.stream SET touched = touched - interval '2 hours' WHERE name = 'old'`,
    );
    const sweep = `SELECT ${schema}.sweep_1(100, 3600000, 60000)`;
    await server().query(sweep);
    expect(await eventLog.follow(old, never)).toBe(undefined);
    expect(await server().query(`SELECT name FROM ${schema}.stream`)).toEqual([{ name: 'new' }]);
    expect(await server().query(`SELECT data FROM ${schema}.event`)).toHaveLength(1);
    await eventLog.append('old', 'y');
    const again = await reading(eventLog, old);
    expect(again.gap).toBe(true);
    await eventLog.drop('old');
    await soon('the end', again.ended);
  });

  test('Two hundred readers in two processes each read every event of their stream, once and in order', async () => {
    const schema = freshSchema();
    const logs = [open({ schema }).eventLog, open({ schema, listen: false, pollMs: 20 }).eventLog];
    const streams = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const name = `s${n}.p`;
        const first = await (logs[n % 2] as EventLog).append(name, 'begin');
        return { name, readers: await Promise.all(logs.map((log) => reading(log, first))) };
      }),
    );
    const expected = ['0', '1', '2', '3', 'end'];
    await Promise.all(
      streams.map(async ({ name }, n) => {
        for (const [at, data] of expected.entries())
          await (logs[(n + at) % 2] as EventLog).append(name, data, { last: data === 'end' });
      }),
    );
    for (const { name, readers } of streams)
      for (const { data, ended, gap } of readers) {
        await soon(`the end of ${name}`, ended);
        expect([gap, data]).toEqual([false, expected]);
      }
  }, 60_000);
});
