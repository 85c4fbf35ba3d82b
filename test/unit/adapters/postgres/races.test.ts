import { type PostgresCluster, postgres } from 'fullmcp/postgres';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { writeArguments } from '../../../../src/adapters/postgres/changes-json.js';
import type { Lease, StoreChange, Written } from '../../../../src/state/store.js';
import { describeWithPostgres, freshSchema } from '../../../support/engines/postgres.js';
import { until } from '../../../support/until.js';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

describeWithPostgres('Writes to Postgres at the same time', (server) => {
  function cluster(schema: string): PostgresCluster {
    const made = postgres({ url: server().url, schema });
    open.push(made);
    return made;
  }

  /** A connection on which the test decides when a write is committed. */
  async function slowWriter(schema: string) {
    const client = new pg.Client({ connectionString: server().url });
    await client.connect();
    open.push({ close: () => client.end() });
    return {
      async write(changes: readonly StoreChange[], guard?: Lease): Promise<number | null> {
        await client.query('BEGIN');
        const values = writeArguments(changes, { guard, maxValueBytes: 1000, lockTimeoutMs: 10_000 });
        const text = `SELECT refused FROM ${schema}.write_1($1::jsonb, $2::text[], $3, $4, $5, $6, $7)`;
        return (await client.query<{ refused: number | null }>(text, values)).rows[0]?.refused ?? null;
      },
      commit: () => client.query('COMMIT'),
    };
  }

  const waiters = async (): Promise<number> => {
    const [row] = await server().query<{ n: string }>(
      "SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'fullmcp' AND wait_event_type = 'Lock'",
    );
    return Number(row?.n);
  };

  async function held(store: PostgresCluster['store'], queue: string, key: string): Promise<Lease> {
    const written = await store.write([{ do: 'enqueue', queue, key, hold: { owner: 'test', ms: 600_000 } }]);
    return (written as Extract<Written, { ok: true }>).lease as Lease;
  }

  test('News that come while the holder releases its key wait for the release, and make the key due', async () => {
    const schema = freshSchema();
    const { store } = cluster(schema);
    const lease = await held(store, 'q', 'g:1');
    const holder = await slowWriter(schema);
    const release: StoreChange[] = [
      { do: 'expect', list: 'inbox:g:1', size: 0 },
      { do: 'release', inMs: 600_000 },
    ];
    expect(await holder.write(release, lease)).toBe(null);
    const news = store.write([
      { do: 'append', list: 'inbox:g:1', name: 'answer', value: {} },
      { do: 'enqueue', queue: 'q', key: 'g:1' },
    ]);
    await until('the news wait for the release', async () => (await waiters()) === 1);
    await holder.commit();
    expect(await news).toEqual({ ok: true });
    expect(await store.claim('q', { owner: 'b', limit: 1, ms: 1000 })).toMatchObject([{ key: 'g:1' }]);
  });

  test('A holder that releases its key while news are written sees the news, and keeps the key', async () => {
    const schema = freshSchema();
    const { store } = cluster(schema);
    const lease = await held(store, 'q', 'g:1');
    const outsider = await slowWriter(schema);
    const news: StoreChange[] = [
      { do: 'append', list: 'inbox:g:1', name: 'answer', value: {} },
      { do: 'enqueue', queue: 'q', key: 'g:1' },
    ];
    expect(await outsider.write(news)).toBe(null);
    const release = store.write(
      [
        { do: 'release', inMs: 600_000 },
        { do: 'expect', list: 'inbox:g:1', size: 0 },
      ],
      { guard: lease },
    );
    await until('the release waits for the news', async () => (await waiters()) === 1);
    await outsider.commit();
    expect(await release).toEqual({ ok: false, refusedBy: 1 });
    expect(await store.renew([lease], 600_000)).toEqual([lease]);
  });

  test('An enqueue alone locks the row of a key that is held, so that a release cannot pass it', async () => {
    const schema = freshSchema();
    const { store } = cluster(schema);
    const lease = await held(store, 'q', 'g:1');
    const outsider = await slowWriter(schema);
    await outsider.write([{ do: 'enqueue', queue: 'q', key: 'g:1' }]);
    const release = store.write([{ do: 'release', inMs: 600_000 }], { guard: lease });
    await until('the release waits', async () => (await waiters()) === 1);
    await outsider.commit();
    expect(await release).toEqual({ ok: true });
  });

  test('In 400 rounds of two processes, no wake-up is lost', async () => {
    const schema = freshSchema();
    const [a, b] = [cluster(schema).store, cluster(schema).store];
    const results = { released: 0, refused: 0 };
    for (let round = 0; round < 400; round++) {
      const key = `g:${round}`;
      const lease = await held(a, 'q', key);
      const turns = (n: number) => new Promise<void>((resolve) => setTimeout(resolve, n));
      const release = async () => {
        await turns(round % 3);
        return a.write(
          [
            { do: 'expect', list: `inbox:${key}`, size: 0 },
            { do: 'release', inMs: 600_000 },
          ],
          {
            guard: lease,
          },
        );
      };
      const tell = async () => {
        await turns((round >> 2) % 3);
        return b.write([
          { do: 'append', list: `inbox:${key}`, name: 'answer', value: {} },
          { do: 'enqueue', queue: 'q', key },
        ]);
      };
      const [released, told] = await Promise.all([release(), tell()]);
      expect(told).toEqual({ ok: true });
      const due = await b.claim('q', { owner: 'b', limit: 10, ms: 600_000 });
      if (released.ok) {
        results.released++;
        expect(due.map((each) => each.key)).toEqual([key]);
      } else {
        results.refused++;
        expect(due).toEqual([]);
        expect(await a.items(`inbox:${key}`)).toHaveLength(1);
      }
    }
    // Both orders happened, or the test showed nothing.
    expect(Math.min(results.released, results.refused)).toBeGreaterThan(10);
  }, 120_000);

  test('A key cannot be claimed while a write of its holder is not committed, though the lease has ended', async () => {
    const schema = freshSchema();
    const { store } = cluster(schema);
    await store.write([{ do: 'enqueue', queue: 'q', key: 'g:1' }]);
    const [lease] = await store.claim('q', { owner: 'a', limit: 1, ms: 1 });
    const holder = await slowWriter(schema);
    expect(await holder.write([{ do: 'append', list: 'journal:g:1', name: 's', value: {} }], lease)).toBe(
      null,
    );
    expect(await store.claim('q', { owner: 'b', limit: 1, ms: 600_000 })).toEqual([]);
    await holder.commit();
    expect(await store.claim('q', { owner: 'b', limit: 1, ms: 600_000 })).toMatchObject([{ attempt: 2 }]);
    expect(await store.items('journal:g:1')).toHaveLength(1);
  });

  test('Writes that name the same places in any order never fail because of each other', async () => {
    const schema = freshSchema();
    const stores = [cluster(schema).store, cluster(schema).store];
    const keys = ['a', 'b', 'c', 'd', 'e'];
    const rounds = Array.from({ length: 200 }, (_, n) => {
      const order = [...keys].sort(() => Math.random() - 0.5).slice(0, 4);
      const changes = order.flatMap((key, at): StoreChange[] => [
        { do: 'count', key: `${key}:g`, by: 1 },
        at % 2
          ? { do: 'append', list: `l${key}:g`, name: `${n}`, value: {} }
          : { do: 'enqueue', queue: key, key: 'g:x' },
      ]);
      return (stores[n % 2] as PostgresCluster['store']).write(changes);
    });
    expect((await Promise.all(rounds)).every(({ ok }) => ok)).toBe(true);
    const counts = await Promise.all(keys.map((key) => stores[0]?.get(`${key}:g`)));
    const sum = counts.reduce((total, entry) => total + Number(entry?.value['count']), 0);
    expect(sum).toBe(200 * 4);
  }, 60_000);

  test('Two processes that renew, claim and write the same keys never give one key to both', async () => {
    const schema = freshSchema();
    const stores = [cluster(schema).store, cluster(schema).store];
    const seed = stores[0] as PostgresCluster['store'];
    for (let n = 0; n < 10; n++) await seed.write([{ do: 'enqueue', queue: 'q', key: `g:${n}` }]);
    const steps: string[] = [];
    await Promise.all(
      Array.from({ length: 8 }, async (_, worker) => {
        const store = stores[worker % 2] as PostgresCluster['store'];
        for (let n = 0; n < 25; n++) {
          const leases = await store.claim('q', { owner: `${worker}`, limit: 3, ms: 5 });
          await store.renew(leases, 5);
          for (const guard of leases) {
            const [, id] = guard.key.split(':');
            const name = `${guard.token}`;
            const step: StoreChange = {
              do: 'append',
              list: `journal:g:${id}`,
              name,
              value: { token: guard.token },
            };
            const changes: StoreChange[] = n % 2 ? [step] : [step, { do: 'release', inMs: 0 }];
            const { ok } = await store.write(changes, { guard });
            if (ok) steps.push(`${id} ${name}`);
          }
        }
      }),
    );
    expect(steps.length).toBeGreaterThan(50);
    for (let n = 0; n < 10; n++) {
      const tokens = (await seed.items(`journal:g:${n}`)).map(({ value }) => Number(value['token']));
      // A write of an older lease after one of a newer lease would be a stale write.
      expect(tokens).toEqual([...tokens].sort((a, b) => a - b));
    }
  }, 60_000);
});
