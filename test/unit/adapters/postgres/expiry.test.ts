import { type PostgresCluster, postgres } from 'fullmcp/postgres';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeWithPostgres, freshSchema } from '../../../support/engines/postgres.js';
import { until } from '../../../support/until.js';

describeWithPostgres('Expiry and queues on Postgres', (server) => {
  let schema: string;
  let cluster: PostgresCluster;
  beforeEach(async () => {
    schema = freshSchema();
    cluster = postgres({ url: server().url, schema });
    await cluster.start();
  });
  afterEach(() => cluster.close());

  const rows = async (table: string): Promise<number> => {
    const [row] = await server().query<{ n: string }>(`SELECT count(*) AS n FROM ${schema}.${table}`);
    return Number(row?.n);
  };
  const sweep = async (most: number, streamMs = 3_600_000): Promise<number> => {
    const [row] = await server().query<{ n: number }>(`SELECT ${schema}.sweep_1($1, $2, 60000) AS n`, [
      most,
      streamMs,
    ]);
    return row?.n ?? 0;
  };

  test('Entries and lists that have expired are never returned, and are removed a part at a time', async () => {
    const { store } = cluster;
    for (let n = 0; n < 30; n++)
      await store.write([
        { do: 'put', key: `a:g:${n}`, value: {}, ttlMs: n % 3 === 0 ? 600_000 : 1 },
        { do: 'append', list: `l:g:${n}`, name: 'x', value: {}, ttlMs: n % 3 === 0 ? 600_000 : 1 },
        { do: 'put', key: `b:g:${n}`, value: {} },
      ]);
    await until('20 entries have expired', async () => (await store.page('a:g:')).length === 10);
    expect([await rows('entry'), await rows('list'), await rows('item')]).toEqual([60, 30, 30]);
    expect(await sweep(15)).toBe(15);
    expect(await rows('entry')).toBe(45);
    let removed = 15;
    for (let n = await sweep(15); n > 0; n = await sweep(15)) {
      expect(n).toBeLessThanOrEqual(15);
      removed += n;
    }
    expect([await rows('entry'), await rows('list'), await rows('item')]).toEqual([40, 10, 10]);
    expect(removed).toBe(20 + 20 + 20);
  });

  test('A list with more items than one sweep removes goes in parts, and can be used again in between', async () => {
    const { store } = cluster;
    const append = (name: string, ttlMs?: number) =>
      store.write([{ do: 'append', list: 'l:g', name, value: {}, ...(ttlMs !== undefined && { ttlMs }) }]);
    for (let n = 0; n < 50; n++) await append(`${n}`);
    await append('last', 1);
    await until('the list has expired', async () => (await store.items('l:g')).length === 0);
    await sweep(20);
    expect(await rows('item')).toBe(31);
    expect(await append('0')).toEqual({ ok: true });
    expect((await store.items('l:g')).map(({ name }) => name)).toEqual(['0']);
    expect(await rows('item')).toBe(1);
    expect(await sweep(20)).toBe(0);
  });

  test('The sweep leaves rows alone that others have locked, and what was written again', async () => {
    const { store } = cluster;
    await store.write([{ do: 'put', key: 'a:g', value: {}, ttlMs: 1 }]);
    await until('the entry has expired', async () => (await store.get('a:g')) === undefined);
    await Promise.all([
      store.write([{ do: 'put', key: 'a:g', value: { n: 2 }, if: 'absent' }]),
      sweep(10),
      sweep(10),
    ]);
    expect((await store.get('a:g'))?.value).toEqual({ n: 2 });
    expect(await sweep(10)).toBe(0);
  });

  test('The search for entries and lists that have expired uses an index', async () => {
    for (const table of ['entry', 'list'])
      expect(
        await plan(
          `SELECT * FROM ${schema}.${table} WHERE expires <= statement_timestamp() ORDER BY expires LIMIT 10`,
        ),
      ).toContain(`${table}_expires`);
  });

  const plan = async (text: string, values?: unknown[]): Promise<string> => {
    // Rows are too few for the planner to care, in a table of a test.
    const lines = await server().query<Record<string, string>>(`EXPLAIN ${text}`, values);
    return lines.map((line) => line['QUERY PLAN']).join('\n');
  };

  test('A claim among 10,000 keys that are not due reads the index, and finds the three that are', async () => {
    const { store } = cluster;
    for (let at = 0; at < 10; at++)
      await store.write(
        Array.from(
          { length: 1000 },
          (_, n) => ({ do: 'enqueue', queue: 'q', key: `g:${at}-${n}`, inMs: 600_000 }) as const,
        ),
      );
    const due = [1, 2, 3].map((n) => ({ do: 'enqueue', queue: 'q', key: `g:due-${n}` }) as const);
    await store.write(due);
    const claim = `SELECT queue, key, due FROM ${schema}.work WHERE queue = 'q' AND due <= statement_timestamp()
      ORDER BY due LIMIT 100 FOR UPDATE SKIP LOCKED`;
    const [analyzed] = await server().query<{ 'QUERY PLAN': unknown[] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${claim}`,
    );
    const text = JSON.stringify(analyzed?.['QUERY PLAN']);
    expect(text).toContain('"Index Name":"work_due"');
    expect(text).not.toContain('Seq Scan');
    // The rows that are not due are not even looked at.
    expect(text).not.toMatch(/"Rows Removed by [^"]+":[1-9]/);
    const leases = await store.claim('q', { owner: 'a', limit: 100, ms: 60_000 });
    expect(leases.map(({ key }) => key).sort()).toEqual(due.map(({ key }) => key));
    expect(await store.claim('q', { owner: 'a', limit: 100, ms: 60_000 })).toEqual([]);
    expect(await store.size('q')).toBe(10_003);
    const renewed = await store.renew(leases, 60_000);
    expect(renewed).toEqual(leases);
  }, 60_000);

  test('A page of a few keys does not read all keys that come after them', async () => {
    const { store } = cluster;
    for (const kind of ['a', 'b', 'c'])
      for (let at = 0; at < 2; at++)
        await store.write(
          Array.from(
            { length: 1000 },
            (_, n) => ({ do: 'put', key: `${kind}:g:${at}-${n}`, value: {} }) as const,
          ),
        );
    await server().query(`ANALYZE ${schema}.entry`);
    const reads = async (): Promise<number> => {
      const [row] = await server().query<{ n: string }>(
        `SELECT coalesce(idx_tup_read, 0) + coalesce(seq_tup_read, 0) AS n FROM pg_stat_all_tables t
          LEFT JOIN pg_stat_all_indexes i USING (relid) WHERE t.schemaname = $1 AND t.relname = 'entry' AND i.indexrelname = 'entry_pkey'`,
        [schema],
      );
      return Number(row?.n);
    };
    // The worst case: a plan that was made without knowing the values.
    const options = '-c plan_cache_mode=force_generic_plan';
    const pool = new pg.Pool({ connectionString: server().url, options });
    const generic = postgres({ pool, schema });
    for (let n = 0; n < 12; n++) expect(await generic.store.page('a:g:1-99')).toHaveLength(11);
    await generic.close();
    await pool.end();
    await until('the statistics have arrived', async () => (await reads()) > 0);
    expect(await reads()).toBeLessThan(1000);
  }, 60_000);

  test('Tokens, versions and positions grow across a crash of the server', async () => {
    const { store } = cluster;
    const numbers = async (n: number): Promise<number[]> => {
      await store.write([
        { do: 'put', key: 'a:g', value: { n } },
        { do: 'append', list: 'l:g', name: `${n}`, value: {} },
        { do: 'enqueue', queue: 'q', key: `g:${n}` },
      ]);
      const [lease] = await store.claim('q', { owner: 'a', limit: 1, ms: 60_000 });
      const items = await store.items('l:g');
      const written = [Number((await store.get('a:g'))?.version), items.at(-1)?.at ?? 0, lease?.token ?? 0];
      await store.write([
        { do: 'delete', key: 'a:g' },
        { do: 'drop', list: 'l:g' },
        { do: 'dequeue', queue: 'q', key: `g:${n}` },
      ]);
      return written;
    };
    const before = await numbers(1);
    await server().kill();
    await server().start();
    const after = await numbers(2);
    expect(Math.min(...after)).toBeGreaterThan(Math.max(...before));
  }, 30_000);
});
