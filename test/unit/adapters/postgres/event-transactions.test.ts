import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Context, createServer, event, inProcess, memoryStore, tool } from 'fullmcp';
import { postgres } from 'fullmcp/postgres';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { refund, shopOf } from '../../../../examples/events/transaction.js';
import { describeWithPostgres, freshSchema } from '../../../support/engines/postgres.js';
import { able, waitForStatus } from '../../../support/tasks.js';
import { until } from '../../../support/until.js';

// Events that are emitted in transactions: they are told if and only if the transaction is committed.

const fixture = fileURLToPath(new URL('./fixtures/transaction-emitter.mjs', import.meta.url));
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Run = (ctx: Context<unknown, unknown>) => Promise<unknown>;

interface Sold {
  readonly id: string;
  readonly part: string;
  readonly n: number;
}

test('A server without a database says that it cannot emit in a transaction', async () => {
  const server = createServer({
    name: 'shop',
    version: '1',
    store: memoryStore(),
    events: { sold: event({ payload: z.object({ id: z.string() }) }) },
  });
  closing.push(() => server.close());
  const transaction = { query: () => Promise.reject(new Error('never')) };
  await expect(server.emit('sold', { id: 'a' }, { transaction })).rejects.toThrow(
    /cannot emit in a transaction.*cluster: postgres/,
  );
});

describeWithPostgres('Events in transactions', (server) => {
  let schema: string;

  beforeEach(async () => {
    schema = freshSchema();
    await server().query('DROP TABLE IF EXISTS sale; CREATE TABLE sale (id text PRIMARY KEY)');
  });

  function shop(run: Run = async () => 'nothing') {
    const logged: string[] = [];
    const made = createServer({
      name: 'shop',
      version: '1.0.0',
      secret: 'x'.repeat(32),
      logger: (_, message) => void logged.push(message),
      cluster: postgres({ url: server().url, schema }),
      tasks: { leaseMs: 1000 },
      events: { sold: event({ payload: z.object({ id: z.string() }).loose() }) },
      tools: { work: tool({ task: 'optional', run: (_, ctx) => run(ctx) }) },
    });
    closing.push(() => made.close());
    return { made, logged, ask: inProcess(made, able) };
  }

  async function connection(): Promise<pg.Client> {
    const client = new pg.Client(server().url);
    await client.connect();
    closing.push(() => client.end());
    return client;
  }

  /** Polls everything that came since the first call. */
  async function poller(
    { ask }: Pick<ReturnType<typeof shop>, 'ask'>,
    name = 'sold',
  ): Promise<() => Promise<readonly Sold[]>> {
    let { cursor } = await ask('events/poll', { name });
    const told: Sold[] = [];
    return async () => {
      for (;;) {
        const page = await ask('events/poll', { name, cursor });
        cursor = page['cursor'];
        told.push(...(page['events'] as { data: Sold }[]).map(({ data }) => data));
        if (page['hasMore'] !== true) return told;
      }
    };
  }

  const ids = (told: readonly Sold[]): readonly string[] => told.map(({ id }) => id);
  const sales = async (): Promise<readonly string[]> =>
    (await server().query<{ id: string }>('SELECT id FROM sale ORDER BY id')).map(({ id }) => id);
  const waiting = async (): Promise<number> =>
    (await server().query(`SELECT key FROM ${schema}.entry WHERE key LIKE 'event-outbox:%'`)).length;

  test('of a mounted server are told by it and by the server that it is mounted in, or by neither', async () => {
    const events = { sold: event({ payload: z.object({ id: z.string() }) }) };
    const inner = createServer({ name: 'shop', version: '1.0.0', logger: () => undefined, events });
    const outer = createServer({
      ...{ name: 'town', version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined },
      cluster: postgres({ url: server().url, schema }),
      mount: { shop: inner },
    });
    closing.push(() => outer.close());
    const told = [
      await poller({ ask: inProcess(outer) }, 'shop_sold'),
      await poller({ ask: inProcess(inner) }),
    ];
    const client = await connection();
    for (const [id, end] of [
      ['a', 'ROLLBACK'],
      ['b', 'COMMIT'],
    ] as const) {
      await client.query('BEGIN');
      await inner.emit('sold', { id }, { eventId: id, transaction: client });
      await client.query(end);
    }
    for (const poll of told) {
      await until('the event is told', async () => (await poll()).length > 0);
      expect(ids(await poll())).toEqual(['b']);
    }
  });

  test('are told in their order when the transaction is committed, and not before', async () => {
    const one = shop();
    const poll = await poller(one);
    const client = await connection();
    await client.query('BEGIN');
    await client.query(`INSERT INTO sale VALUES ('a')`);
    for (const id of ['a1', 'a2', 'a3'])
      expect(await one.made.emit('sold', { id }, { eventId: id, transaction: client })).toEqual({
        eventId: id,
        isNew: true,
      });
    const other = await connection();
    await other.query('BEGIN');
    await one.made.emit('sold', { id: 'other' }, { transaction: other });
    await other.query('COMMIT');
    await until('the other transaction is told', async () => (await poll()).length > 0);
    expect(ids(await poll())).toEqual(['other']);
    await client.query('COMMIT');
    await until('the events are told', async () => (await poll()).length === 4);
    expect(ids(await poll())).toEqual(['other', 'a1', 'a2', 'a3']);
    expect(await waiting()).toBe(0);
  });

  test('are never told when the transaction is rolled back, and an id is told once', async () => {
    const one = shop();
    const poll = await poller(one);
    const client = await connection();
    await client.query('BEGIN');
    await one.made.emit('sold', { id: 'undone' }, { eventId: 'x', transaction: client });
    await client.query('ROLLBACK');
    for (let times = 0; times < 2; times++) {
      await client.query('BEGIN');
      const { isNew } = await one.made.emit('sold', { id: 'done' }, { eventId: 'x', transaction: client });
      expect(isNew).toBe(times === 0);
      await client.query('COMMIT');
      await until('the transaction is over', async () => (await waiting()) === 0);
    }
    expect(ids(await poll())).toEqual(['done']);
  });

  test('of one connection keep the order of its transactions, although another one commits in between', async () => {
    const one = shop();
    const poll = await poller(one);
    const [first, second] = [await connection(), await connection()];
    await second.query('BEGIN');
    await one.made.emit('sold', { id: 'late' }, { transaction: second });
    for (let n = 0; n < 150; n++) {
      await first.query('BEGIN');
      await one.made.emit('sold', { id: `n${n}` }, { transaction: first });
      await first.query('COMMIT');
    }
    await second.query('COMMIT');
    await until('all are told', async () => (await poll()).length === 151);
    expect(ids(await poll()).filter((id) => id !== 'late')).toEqual(
      Array.from({ length: 150 }, (_, n) => `n${n}`),
    );
  });

  test('belong to the transaction of a step that uses it', async () => {
    let attempts = 0;
    const one = shop(async (ctx) => {
      await ctx.step('sell', async ({ transaction, emit }) => {
        await transaction.query(`INSERT INTO sale VALUES ('step')`);
        await emit('sold', { id: 'from step' });
        // The connection breaks once, after the event was written.
        if (++attempts === 1) {
          const { rows } = await transaction.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
          await server().query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
        }
        await transaction.query('SELECT 1');
      });
      await ctx
        .step('fail', async ({ transaction, emit }) => {
          await emit('sold', { id: 'never' });
          await transaction.query(`INSERT INTO sale VALUES ('never')`);
          throw new Error('no');
        })
        .catch(() => undefined);
      await ctx.step('tell', ({ emit }) => emit('sold', { id: 'without a transaction' }));
      return 'sold';
    });
    const poll = await poller(one);
    const { taskId } = await one.ask('tools/call', { name: 'work' });
    await waitForStatus(one.ask, taskId, 'completed');
    expect(attempts).toBe(2);
    await until('the events are told', async () => (await poll()).length >= 2);
    expect([...ids(await poll())].sort()).toEqual(['from step', 'without a transaction']);
    expect(await sales()).toEqual(['step']);
  });

  test('of the example are told with the rows that it writes', async () => {
    await server().query('DROP TABLE IF EXISTS purchase; CREATE TABLE purchase (item text PRIMARY KEY)');
    const made = shopOf(server().url);
    closing.push(() => made.close());
    const ask = inProcess(made, able);
    const { cursor } = await ask('events/poll', { name: 'purchased' });
    const { taskId } = await ask('tools/call', { name: 'buy', arguments: { item: 'pen' } });
    await waitForStatus(ask, taskId, 'completed');
    await refund(made, await connection(), 'pen');
    const news = async () => (await ask('events/poll', { name: 'purchased', cursor }))['events'] as object[];
    await until('both events are told', async () => (await news()).length === 2);
    expect(await news()).toMatchObject([
      { data: { item: 'pen', isPaid: true } },
      { eventId: 'refund-pen', data: { item: 'pen', isPaid: false } },
    ]);
    expect(await server().query('SELECT item FROM purchase')).toEqual([]);
  });

  test('are told by another process if theirs is killed after the commit', async () => {
    const one = shop();
    const poll = await poller(one);
    const child = fork(fixture, [server().url, schema, 'killed', 'once'], { execArgv: [] });
    await once(child, 'exit');
    expect((await sales()).length).toBe(1);
    expect(await poll()).toEqual([]);
    expect(await waiting()).toBe(2);
    await one.made.start();
    await until('the events are told', async () => (await poll()).length === 2);
    expect((await poll()).map(({ part }) => part)).toEqual(['a', 'b']);
    expect(await waiting()).toBe(0);
  });

  test('are those of the rows, once and in order, however often processes are killed', async () => {
    const one = shop();
    const poll = await poller(one);
    await one.made.start();
    const running = new Map<string, ChildProcess>();
    const start = (name: string): void =>
      void running.set(name, fork(fixture, [server().url, schema, name], { execArgv: [] }));
    for (const name of ['p', 'q']) start(name);
    closing.push(async () => {
      for (const child of running.values()) child.kill('SIGKILL');
    });
    for (let kills = 0; kills < 8; kills++) {
      const name = kills % 2 === 0 ? 'p' : 'q';
      const child = running.get(name) as ChildProcess;
      const enough = 2 + Math.floor(Math.random() * 30);
      await new Promise<void>((resolve) => {
        child.on('message', (n: number) => n >= enough && resolve());
      });
      child.kill('SIGKILL');
      await once(child, 'exit');
      if (kills < 6) start(name);
    }
    await until('nothing waits', async () => (await waiting()) === 0, 60_000);
    const told = await poll();
    const rows = await sales();
    expect(rows.length).toBeGreaterThan(10);
    expect(new Set(ids(told))).toEqual(new Set(rows));
    expect(told.length).toBe(2 * rows.length);
    const processOf = ({ id }: Sold): string => id.slice(0, id.lastIndexOf('-'));
    for (const each of new Set(told.map(processOf))) {
      const events = told.filter((one) => processOf(one) === each);
      const places = events.map(({ n, part }) => 2 * n + (part === 'a' ? 0 : 1));
      expect(places).toEqual([...places].sort((a, b) => a - b));
    }
  }, 120_000);
});
