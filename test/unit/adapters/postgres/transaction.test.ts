import { type PgClient, type PostgresCluster, type PostgresOptions, postgres } from 'fullmcp/postgres';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Lease, Written } from '../../../../src/state/store.js';
import { describeWithPostgres, freshSchema } from '../../../support/engines/postgres.js';
import { until } from '../../../support/until.js';

describeWithPostgres('A transaction of a step on Postgres', (server) => {
  let schema: string;
  let cluster: PostgresCluster;
  const clusters: PostgresCluster[] = [];

  const open = (options: PostgresOptions = {}): PostgresCluster => {
    const made = postgres({ url: server().url, schema, ...options });
    clusters.push(made);
    return made;
  };
  beforeEach(async () => {
    schema = freshSchema();
    cluster = open();
    await cluster.start();
    await server().query(
      'DROP TABLE IF EXISTS invoice; CREATE TABLE invoice (id text PRIMARY KEY, step text)',
    );
  });
  afterEach(async () => {
    await Promise.all(clusters.splice(0).map((each) => each.close()));
  });

  const invoices = () => server().query<{ id: string }>('SELECT id FROM invoice ORDER BY id');
  const insert = (id: string) => async (client: PgClient) => {
    await client.query('INSERT INTO invoice (id) VALUES ($1)', [id]);
    return { id };
  };
  const stepOf = (guard: Lease, name: string) => (value: { id: string }) => ({
    changes: [{ do: 'append', list: 'journal:g:1', name, value } as const],
    guard,
  });
  async function claim(ms = 600_000): Promise<Lease> {
    const [lease] = await cluster.store.claim('q', { owner: 'test', limit: 1, ms });
    return lease as Lease;
  }
  async function held(): Promise<Lease> {
    const enqueue = { do: 'enqueue', queue: 'q', key: 'g:1', hold: { owner: 'a', ms: 600_000 } } as const;
    const written = await cluster.store.write([enqueue]);
    return (written as Extract<Written, { ok: true }>).lease as Lease;
  }

  test('The writes of a step and its journal are committed together', async () => {
    const lease = await held();
    const done = await cluster.store.transaction(insert('i1'), stepOf(lease, 'one'));
    expect(done).toEqual({ ok: true, result: { id: 'i1' } });
    expect(await invoices()).toEqual([{ id: 'i1' }]);
    expect(await cluster.store.items('journal:g:1')).toMatchObject([{ name: 'one', value: { id: 'i1' } }]);
  });

  test('Nothing that a step wrote is visible before it is recorded', async () => {
    const lease = await held();
    const seen: unknown[] = [];
    await cluster.store.transaction(
      async (client) => {
        await insert('i1')(client);
        seen.push(await invoices());
        return { id: 'i1' };
      },
      stepOf(lease, 'one'),
    );
    expect(seen).toEqual([[]]);
  });

  test('The writes of a holder that lost its lease are rolled back', async () => {
    await cluster.store.write([{ do: 'enqueue', queue: 'q', key: 'g:1' }]);
    const stale = await claim(1);
    let next: Lease | undefined;
    const done = await cluster.store.transaction(
      async (client) => {
        await insert('stale')(client);
        // Another process takes the key while the step runs.
        await until('the key was claimed again', async () => {
          next = await claim();
          return next !== undefined;
        });
        return { id: 'stale' };
      },
      stepOf(stale, 'one'),
    );
    expect(done).toEqual({ ok: false, refusedBy: 'guard' });
    expect(await invoices()).toEqual([]);
    const again = await cluster.store.transaction(insert('fresh'), stepOf(next as Lease, 'one'));
    expect(again.ok).toBe(true);
    expect(await invoices()).toEqual([{ id: 'fresh' }]);
  });

  test('A step that was already recorded is not made a second time', async () => {
    const lease = await held();
    await cluster.store.transaction(insert('i1'), stepOf(lease, 'one'));
    const again = await cluster.store.transaction(insert('i2'), stepOf(lease, 'one'));
    expect(again).toEqual({ ok: false, refusedBy: 0 });
    expect(await invoices()).toEqual([{ id: 'i1' }]);
  });

  test("A step's own error is thrown as it is, and everything is rolled back", async () => {
    const lease = await held();
    const reason = new Error('the user has no money');
    const failing = cluster.store.transaction(
      async (client) => {
        await insert('i1')(client);
        throw reason;
      },
      stepOf(lease, 'one'),
    );
    await expect(failing).rejects.toBe(reason);
    const broken = cluster.store.transaction(
      async (client) => {
        await insert('i2')(client);
        await client.query('SELECT 1 / 0');
        return { id: 'i2' };
      },
      stepOf(lease, 'one'),
    );
    await expect(broken).rejects.toThrow('division by zero');
    const swallowed = cluster.store.transaction(
      async (client) => {
        await insert('i3')(client);
        await client.query('SELECT 1 / 0').catch(() => undefined);
        return { id: 'i3' };
      },
      stepOf(lease, 'one'),
    );
    await expect(swallowed).rejects.toThrow('current transaction is aborted');
    expect(await invoices()).toEqual([]);
    expect(await cluster.store.items('journal:g:1')).toEqual([]);
    // The connections are as good as new.
    for (let n = 0; n < 20; n++)
      expect((await cluster.store.transaction(insert(`n${n}`), stepOf(lease, `n${n}`))).ok).toBe(true);
  });

  test('A change that can never be made rolls the step back', async () => {
    const lease = await held();
    const work = cluster.store.transaction(insert('i1'), () => ({
      changes: [{ do: 'put', key: 'no group', value: {} }],
      guard: lease,
    }));
    await expect(work).rejects.toThrow(RangeError);
    expect(await invoices()).toEqual([]);
  });

  test('A step that ends the transaction itself is told so, and is not recorded', async () => {
    const lease = await held();
    const ends = [
      'COMMIT',
      'ROLLBACK',
      'end',
      ' abort',
      'COMMIT; BEGIN',
      'SELECT 1; COMMIT',
      '/* hidden */ ROLLBACK',
    ];
    for (const end of ends) {
      const work = cluster.store.transaction(
        async (client) => {
          await client.query(end);
          return { id: end };
        },
        stepOf(lease, end),
      );
      await expect(work).rejects.toThrow(/Do not use \w+( or ROLLBACK)? in a step/);
    }
    expect(await cluster.store.items('journal:g:1')).toEqual([]);
  });

  test('A step cannot leave settings on its connection', async () => {
    const lease = await held();
    for (const setting of ["SET search_path = ''", '-- why\n set session statement_timeout = 0']) {
      const work = cluster.store.transaction(
        async (client) => {
          await client.query(setting);
          return { id: setting };
        },
        stepOf(lease, setting.slice(0, 5)),
      );
      await expect(work).rejects.toThrow('Use SET LOCAL in a step');
    }
    const local = async (client: PgClient) => {
      await client.query("SET LOCAL search_path = ''");
      await client.query('SET CONSTRAINTS ALL IMMEDIATE');
      return { id: 'local' };
    };
    expect((await cluster.store.transaction(local, stepOf(lease, 'local'))).ok).toBe(true);
  });

  test('A constraint that is checked at the commit rolls the step back', async () => {
    const lease = await held();
    await server().query('ALTER TABLE invoice ADD UNIQUE (step) DEFERRABLE INITIALLY DEFERRED');
    const twice = cluster.store.transaction(
      async (client) => {
        await client.query("INSERT INTO invoice (id, step) VALUES ('a', 'same'), ('b', 'same')");
        return { id: 'a' };
      },
      stepOf(lease, 'one'),
    );
    await expect(twice).rejects.toThrow('duplicate key');
    expect(await invoices()).toEqual([]);
    expect(await cluster.store.items('journal:g:1')).toEqual([]);
  });

  test('Statements that a step starts at the same time each have the whole time limit', async () => {
    const lease = await held();
    const hasty = open({ timeoutMs: 4_000 });
    const done = await hasty.store.transaction(
      async (client) => {
        // Together they take longer than the limit, and each of them leaves a busy machine several seconds.
        await Promise.all(Array.from({ length: 9 }, () => client.query('SELECT pg_sleep(0.5)')));
        return insert('i1')(client);
      },
      stepOf(lease, 'one'),
    );
    expect(done.ok).toBe(true);
    await expect(
      hasty.store.transaction(
        async (client) => {
          await client.query('SELECT pg_sleep(60)');
          return { id: 'i2' };
        },
        stepOf(lease, 'two'),
      ),
    ).rejects.toThrow('statement timeout');
  });

  test('A step can undo a part of its transaction with a savepoint', async () => {
    const lease = await held();
    const done = await cluster.store.transaction(
      async (client) => {
        await insert('kept')(client);
        await client.query('SAVEPOINT part');
        await insert('undone')(client);
        await client.query('ROLLBACK TO SAVEPOINT part');
        return { id: 'kept' };
      },
      stepOf(lease, 'one'),
    );
    expect(done.ok).toBe(true);
    expect(await invoices()).toEqual([{ id: 'kept' }]);
  });

  test('A step cannot choose another isolation level, in which it would not see what others wrote', async () => {
    const lease = await held();
    const work = cluster.store.transaction(
      async (client) => {
        await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
        await insert('i1')(client);
        return { id: 'i1' };
      },
      stepOf(lease, 'one'),
    );
    await expect(work).rejects.toThrow('ISOLATION LEVEL must be called before any query');
    expect(await invoices()).toEqual([]);
  });

  test('The server ends a transaction whose process is silent for longer than the lease', async () => {
    const lease = await held();
    await server().query("INSERT INTO invoice (id) VALUES ('locked')");
    let freed = false;
    const work = cluster.store.transaction(
      async (client) => {
        await client.query("UPDATE invoice SET step = 'a' WHERE id = 'locked'");
        await server().query("UPDATE invoice SET step = 'b' WHERE id = 'locked'");
        freed = true;
        return { id: 'late' };
      },
      stepOf(lease, 'one'),
      { leaseMs: 300 },
    );
    await expect(work).rejects.toThrow(/Postgres at 127\.0\.0\.1/);
    expect(freed).toBe(true);
    expect(await server().query('SELECT step FROM invoice')).toEqual([{ step: 'b' }]);
    expect(await cluster.store.items('journal:g:1')).toEqual([]);
    expect(await cluster.store.renew([lease], 1000)).toEqual([lease]);
  });

  test('Many open transactions leave connections for renewals', async () => {
    const lease = await held();
    const small = open({ poolSize: 4 });
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let entered = 0;
    const working = Array.from({ length: 10 }, (_, n) =>
      small.store.transaction(
        async (client) => {
          entered++;
          await released;
          return insert(`m${n}`)(client);
        },
        stepOf(lease, `m${n}`),
      ),
    );
    await until('two transactions are open', () => entered === 2);
    expect(await small.store.renew([lease], 600_000)).toEqual([lease]);
    expect(entered).toBe(2);
    release();
    expect((await Promise.all(working)).every(({ ok }) => ok)).toBe(true);
    expect(await invoices()).toHaveLength(10);
  });
});
