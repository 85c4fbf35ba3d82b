import {
  type Context,
  createServer,
  inProcess,
  memoryStore,
  type ServerOptions,
  type StepTransaction,
  tool,
} from 'fullmcp';
import { type PostgresCluster, type PostgresOptions, postgres } from 'fullmcp/postgres';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bank as bankOf } from '../../../../examples/tasks/transfer.js';
import { describeWithPostgres, freshSchema } from '../../../support/engines/postgres.js';
import { signal } from '../../../support/signal.js';
import { able, readStoredTask, waitForStatus } from '../../../support/tasks.js';
import { until } from '../../../support/until.js';
import { CommitProxy } from './commit-proxy.js';

type Run = (ctx: Context<unknown, unknown>) => Promise<unknown>;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Started {
  readonly call: ReturnType<typeof inProcess>;
  readonly logged: string[];
  readonly close: () => Promise<void>;
  /** Runs the tool as a task, and returns the task when it has this status. */
  readonly task: (status?: string) => Promise<Record<string, unknown>>;
}

function start(run: Run, options: Partial<ServerOptions<undefined, undefined>>, timeoutMs?: number): Started {
  const logged: string[] = [];
  const server = createServer({
    name: 'test',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: (_, message) => void logged.push(message),
    ...options,
    tools: { work: tool({ task: 'optional', ...(timeoutMs && { timeoutMs }), run: (_, ctx) => run(ctx) }) },
  });
  closing.push(() => server.close());
  const call = inProcess(server, able);
  return {
    call,
    logged,
    close: () => server.close(),
    async task(status = 'completed') {
      const { taskId } = await call('tools/call', { name: 'work' });
      return { ...(await waitForStatus(call, taskId, status)) };
    },
  };
}

const textOf = (task: Record<string, unknown>): string =>
  (task['result'] as { content: { text: string }[] }).content[0]?.text ?? '';

describe('A step without a database', () => {
  const uses: Run = (ctx) => ctx.step('pay', ({ transaction }) => transaction.query('SELECT 1'));

  test('says which store has transactions', async () => {
    const task = await start(uses, { store: memoryStore() }).task('failed');
    expect(task['error']).toMatchObject({
      message: expect.stringMatching(
        /step "pay" has no transaction.*does not keep its tasks in Postgres.*cluster: postgres/,
      ),
    });
  });

  test('says that an ordinary call has none', async () => {
    const server = createServer({
      name: 'test',
      version: '1.0.0',
      secret: 'x'.repeat(32),
      tools: { work: tool({ run: (_, ctx) => uses(ctx) }) },
    });
    closing.push(() => server.close());
    await expect(inProcess(server)('tools/call', { name: 'work' })).rejects.toThrow(
      /step "pay" has no transaction, because this call is not a task.*task: 'required'/,
    );
  });

  test('costs nothing, and works, if it does not use the transaction', async () => {
    const run: Run = (ctx) => ctx.step('one', ({ transaction }) => typeof transaction.query);
    expect(textOf(await start(run, { store: memoryStore() }).task())).toBe('function');
  });
});

describeWithPostgres('A step with a transaction on Postgres', (server) => {
  let schema: string;
  let cluster: PostgresCluster;

  const open = (options: PostgresOptions = {}): PostgresCluster =>
    postgres({ url: server().url, schema, ...options });
  const begin = (
    run: Run,
    options: Partial<ServerOptions<undefined, undefined>> = {},
    timeoutMs?: number,
  ): Started => start(run, { cluster, ...options }, timeoutMs);

  beforeEach(async () => {
    schema = freshSchema();
    cluster = open();
    await server().query(
      'DROP TABLE IF EXISTS invoice; CREATE TABLE invoice (id serial PRIMARY KEY, name text UNIQUE)',
    );
  });

  const invoices = async (): Promise<string[]> =>
    (await server().query<{ name: string }>('SELECT name FROM invoice ORDER BY id')).map(({ name }) => name);
  const insert = (transaction: StepTransaction, name: string) =>
    transaction.query<{ id: number }>('INSERT INTO invoice (name) VALUES ($1) RETURNING id', [name]);

  test('is committed with its record, and its result is the same in later runs', async () => {
    const seen: string[][] = [];
    const { task } = begin(async (ctx) => {
      const id = await ctx.step('pay', async ({ transaction }) => {
        const { rows, rowCount } = await insert(transaction, 'one');
        seen.push(await invoices());
        return { id: rows[0]?.id, rowCount };
      });
      seen.push(await invoices());
      return JSON.stringify(id);
    });
    const done = await task();
    expect(JSON.parse(textOf(done))).toEqual({ id: 1, rowCount: 1 });
    expect(seen).toEqual([[], ['one']]);
  });

  test('does not run again in the next process once it is committed', async () => {
    const gate = signal();
    let runs = 0;
    const run: Run = async (ctx) => {
      await ctx.step('pay', ({ transaction }) => {
        runs++;
        return insert(transaction, 'one').then(() => 'paid');
      });
      await gate.promise;
      return 'done';
    };
    const first = begin(run);
    const { taskId } = await first.call('tools/call', { name: 'work' });
    await until('the step is committed', async () => (await invoices()).length === 1);
    await until(
      'the step is recorded',
      async () => (await readStoredTask(cluster.store, taskId))?.steps.length === 1,
    );
    await first.close();
    gate.give();
    cluster = open();
    const second = begin(run);
    await waitForStatus(second.call, taskId, 'completed');
    expect(runs).toBe(1);
    expect(await invoices()).toEqual(['one']);
  });

  test('that throws is rolled back, and the handler can go on', async () => {
    const done = await begin(async (ctx) => {
      const failed = await ctx
        .step('pay', async ({ transaction }) => {
          await insert(transaction, 'one');
          throw new Error('no money');
        })
        .catch((error: Error) => error.message);
      await ctx.step('note', ({ transaction }) => insert(transaction, 'two').then(() => null));
      return failed;
    }).task();
    expect(textOf(done)).toBe('no money');
    expect(await invoices()).toEqual(['two']);
  });

  test('that returns something that is not JSON is rolled back', async () => {
    const done = await begin((ctx) =>
      ctx
        .step('pay', async ({ transaction }) => {
          await insert(transaction, 'one');
          return new Map() as unknown as string;
        })
        .catch((error: Error) => error.message),
    ).task();
    expect(textOf(done)).toContain('The result of the step "pay" cannot be kept');
    expect(await invoices()).toEqual([]);
  });

  test('whose result is too large for the task is rolled back, and the handler can go on', async () => {
    const done = await begin(
      async (ctx) => {
        const failed = await ctx
          .step('pay', async ({ transaction }) => {
            await insert(transaction, 'one');
            return 'x'.repeat(20_000);
          })
          .catch((error: Error) => error.message);
        await ctx.step('less', ({ transaction }) => insert(transaction, 'two').then(() => 'less'));
        return failed;
      },
      { tasks: { maxTaskBytes: 10_000 } },
    ).task();
    expect(textOf(done)).toMatch(/cannot be saved.*maxTaskBytes/);
    expect(await invoices()).toEqual(['two']);
  });

  test('that does not use its transaction begins none', async () => {
    const statements: string[] = [];
    const pool = new pg.Pool({ connectionString: server().url, max: 5 });
    closing.push(() => pool.end());
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...args: unknown[]) => unknown;
      (client as { query: unknown }).query = (...args: unknown[]) => {
        const [first] = args as [string | { text: string }];
        statements.push(typeof first === 'string' ? first : first.text);
        return query(...args);
      };
    });
    cluster = postgres({ pool, schema });
    await begin((ctx) => ctx.step('plain', ({ transaction }) => `${typeof transaction}`)).task();
    const begun = () => statements.filter((text) => text.startsWith('BEGIN ISOLATION'));
    expect(begun()).toEqual([]);
    await begin((ctx) => ctx.step('pay', ({ transaction }) => insert(transaction, 'x').then(() => 1))).task();
    expect(begun()).toHaveLength(1);
  });

  test('cannot be used after the step has ended', async () => {
    let kept: StepTransaction | undefined;
    const done = await begin(async (ctx) => {
      await ctx.step('pay', async ({ transaction }) => {
        kept = transaction;
        await insert(transaction, 'one');
      });
      return kept?.query('SELECT 1').then(
        () => 'it ran',
        (error: Error) => error.message,
      );
    }).task();
    expect(textOf(done)).toMatch(/The step has ended, so this statement was not run/);
    await expect(kept?.client<pg.PoolClient>().query('SELECT 1')).rejects.toThrow('The step has ended');
  });

  test('waits for statements that nobody awaits', async () => {
    await begin((ctx) =>
      ctx.step('pay', ({ transaction }) => {
        void insert(transaction, 'one');
        void insert(transaction, 'two');
        return 'paid';
      }),
    ).task();
    expect(await invoices()).toEqual(['one', 'two']);
  });

  test('is lent to libraries that take a connection or a pool of pg', async () => {
    await begin((ctx) =>
      ctx.step('pay', async ({ transaction }) => {
        const client = transaction.client<pg.PoolClient>();
        await client.query({ text: 'INSERT INTO invoice (name) VALUES ($1)' }, ['like Drizzle']);
        const pool = transaction.client<pg.Pool>();
        const connection = await pool.connect();
        await connection.query('INSERT INTO invoice (name) VALUES ($1)', ['like Kysely']);
        connection.release();
        await pool.end();
        const { rows } = await client.query({
          text: 'SELECT name FROM invoice ORDER BY id',
          rowMode: 'array',
        });
        return rows as unknown as string;
      }),
    ).task();
    expect(await invoices()).toEqual(['like Drizzle', 'like Kysely']);
  });

  test('is not recorded by another write while its transaction is open', async () => {
    const gate = signal();
    const opened = signal();
    const { call } = begin(async (ctx) => {
      const paying = ctx.step('pay', async ({ transaction }) => {
        await insert(transaction, 'one');
        opened.give();
        await gate.promise;
        return 'paid';
      });
      await opened.promise;
      await ctx.step('plain', () => 'plain');
      await ctx.step('other', ({ transaction }) => insert(transaction, 'two').then(() => 'other'));
      await ctx.progress(1, 2, 'half');
      return paying;
    });
    const { taskId } = await call('tools/call', { name: 'work' });
    await until('the other steps are recorded', async () => (await stepsOf(taskId)).length === 2);
    expect(await stepsOf(taskId)).toEqual(['plain', 'other']);
    expect(await invoices()).toEqual(['two']);
    gate.give();
    await waitForStatus(call, taskId, 'completed');
    expect(await invoices()).toEqual(['one', 'two']);
  });

  const stepsOf = async (taskId: unknown): Promise<string[]> =>
    (await readStoredTask(cluster.store, taskId))?.steps.map(([key]) => key) ?? [];
  const locks = async (): Promise<number> => {
    const [row] = await server().query<{ n: string }>(
      "SELECT count(*) AS n FROM pg_locks WHERE relation = 'invoice'::regclass AND pid <> pg_backend_pid()",
    );
    return Number(row?.n);
  };

  test('is rolled back when the task is cancelled, and its statement fails at once', async () => {
    const opened = signal();
    const errors: string[] = [];
    const { call } = begin((ctx) =>
      ctx.step('pay', async ({ transaction }) => {
        await insert(transaction, 'one');
        opened.give();
        await transaction.query('SELECT pg_sleep(60)').catch((error: Error) => errors.push(error.message));
      }),
    );
    const { taskId } = await call('tools/call', { name: 'work' });
    await opened.promise;
    await call('tasks/cancel', { taskId });
    await until('the statement failed', () => errors.length > 0);
    expect(errors).toEqual(['The client cancelled the task']);
    await until('the transaction has ended', async () => (await locks()) === 0);
    expect(await invoices()).toEqual([]);
  });

  test('is rolled back when the tool takes longer than its time limit', async () => {
    const { task } = begin(
      (ctx) =>
        ctx.step('pay', async ({ transaction }) => {
          await insert(transaction, 'one');
          await new Promise(() => undefined);
        }),
      {},
      300,
    );
    expect(textOf(await task())).toMatch(/300 ms/);
    await until('the transaction has ended', async () => (await locks()) === 0);
    expect(await invoices()).toEqual([]);
  });

  test('is finished and recorded during an orderly shutdown', async () => {
    const opened = signal();
    const gate = signal();
    const { call, close } = begin((ctx) =>
      ctx.step('pay', async ({ transaction }) => {
        await insert(transaction, 'one');
        opened.give();
        await gate.promise;
        return 'paid';
      }),
    );
    const { taskId } = await call('tools/call', { name: 'work' });
    await opened.promise;
    const closed = close();
    gate.give();
    await closed;
    expect(await invoices()).toEqual(['one']);
    cluster = open();
    closing.push(() => cluster.close());
    expect(await stepsOf(taskId)).toEqual(['pay']);
  });

  test('runs again if its connection is lost before the commit, with one effect', async () => {
    let runs = 0;
    const { task, logged } = begin((ctx) =>
      ctx.step('pay', async ({ transaction }) => {
        runs++;
        await insert(transaction, 'one');
        if (runs > 1) return runs;
        const { rows } = await transaction.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        await server().query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
        return runs;
      }),
    );
    expect(textOf(await task())).toBe('2');
    expect(await invoices()).toEqual(['one']);
    expect(logged.filter((line) => line.includes('The step runs again'))).toHaveLength(1);
  });

  test('runs again after a deadlock', async () => {
    await server().query("INSERT INTO invoice (name) VALUES ('a'), ('b')");
    const runs: string[] = [];
    const both = signal();
    const locked = new Set<string>();
    const run: Run = async (ctx) => {
      const update = (first: string, second: string) =>
        ctx.step(first, async ({ transaction }) => {
          runs.push(first);
          await transaction.query('UPDATE invoice SET name = name WHERE name = $1', [first]);
          if (locked.add(first).size === 2) both.give();
          await both.promise;
          await transaction.query('UPDATE invoice SET name = name WHERE name = $1', [second]);
          return first;
        });
      return (await Promise.all([update('a', 'b'), update('b', 'a')])).join();
    };
    expect(textOf(await begin(run).task())).toBe('a,b');
    expect(runs.length).toBe(3);
  });

  test('that is idle for longer than the lease fails, and says why', async () => {
    let runs = 0;
    const { task } = begin(
      (ctx) =>
        ctx
          .step('pay', async ({ transaction }) => {
            runs++;
            await insert(transaction, 'one');
            await until('the server has ended the transaction', async () => (await locks()) === 0);
            return transaction.query('SELECT 1').then(() => 'paid');
          })
          .catch((error: Error) => error.message),
      { tasks: { leaseMs: 300 } },
    );
    expect(textOf(await task())).toMatch(
      /idle-in-transaction timeout.*Do slow work before the first statement/,
    );
    expect(runs).toBe(5);
    expect(await invoices()).toEqual([]);
  }, 30_000);

  test('waits while the database is away, and then runs', async () => {
    let runs = 0;
    const opened = signal();
    const away = signal();
    const { call } = begin(async (ctx) => {
      opened.give();
      await away.promise;
      return ctx.step('pay', async ({ transaction }) => {
        await insert(transaction, 'one');
        return ++runs;
      });
    });
    const { taskId } = await call('tools/call', { name: 'work' });
    await opened.promise;
    await server().stop();
    away.give();
    await server().start();
    expect(textOf(await waitForStatus(call, taskId, 'completed'))).toBe('1');
    expect(await invoices()).toEqual(['one']);
  }, 60_000);

  test.each([
    ['its reply is lost', 1],
    ['it is never sent', 2],
    ['it is delayed', 1],
    ['it comes too late', 2],
  ] as const)(
    'whose commit is cut off (%s) has one effect and is recorded once',
    async (fate, expected) => {
      const proxy = new CommitProxy(server().port);
      const port = await proxy.listen();
      closing.push(() => proxy.close());
      cluster = open({ url: `postgres://postgres@127.0.0.1:${port}/postgres` });
      let runs = 0;
      const { call } = begin(
        async (ctx) => {
          await ctx.step('before', () => 'before');
          const paid = await ctx.step('pay', async ({ transaction }) => {
            if (++runs === 1) proxy.breakNext(fate);
            await insert(transaction, 'one');
            return 'paid';
          });
          await ctx.step('after', ({ transaction }) => insert(transaction, 'two').then(() => 'after'));
          return paid;
        },
        { tasks: { leaseMs: 1000 } },
      );
      const { taskId } = await call('tools/call', { name: 'work' });
      const done = await waitForStatus(call, taskId, 'completed');
      proxy.deliverLate();
      expect(textOf(done)).toBe('paid');
      expect(proxy.broken).toBe(1);
      expect(runs).toBe(expected);
      expect(await invoices()).toEqual(['one', 'two']);
    },
    30_000,
  );

  test('moves money once, in the example of the documentation', async () => {
    await server().query(
      "CREATE TABLE account (name text, cents integer); INSERT INTO account VALUES ('ada', 100), ('alan', 0)",
    );
    const bank = bankOf(server().url);
    closing.push(() => bank.close());
    const call = inProcess(bank, able);
    for (const status of ['60 cents are in the account of alan', 'ada does not have 60 cents']) {
      const args = { from: 'ada', to: 'alan', cents: 60 };
      const { taskId } = await call('tools/call', { name: 'transfer', arguments: args });
      expect(textOf(await waitForStatus(call, taskId, 'completed'))).toBe(status);
    }
    expect(await server().query('SELECT * FROM account ORDER BY name')).toEqual([
      { name: 'ada', cents: 40 },
      { name: 'alan', cents: 60 },
    ]);
  });

  test('takes turns with the others if there are more transactions than connections', async () => {
    cluster = open({ poolSize: 10 });
    let openNow = 0;
    let most = 0;
    const { call } = begin((ctx) =>
      ctx.step('pay', async ({ transaction, idempotencyKey }) => {
        await insert(transaction, idempotencyKey);
        most = Math.max(most, ++openNow);
        await transaction.query('SELECT pg_sleep(0.01)');
        openNow--;
      }),
    );
    const created = await Promise.all(
      Array.from({ length: 100 }, () => call('tools/call', { name: 'work' })),
    );
    for (const { taskId } of created) await waitForStatus(call, taskId, 'completed');
    expect(most).toBe(5);
    expect(await invoices()).toHaveLength(100);
  }, 60_000);
});
