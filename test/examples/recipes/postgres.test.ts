import { connect } from 'fullmcp/client';
import { afterEach, expect, it, vi } from 'vitest';
import { theatre } from '../../../examples/recipes/exactly-once.js';
import { describeWithPostgres } from '../../support/engines/postgres.js';
import { until } from '../../support/until.js';

// Runs the recipes that need Postgres.

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describeWithPostgres('the recipes with Postgres', (server) => {
  it('end the query of a call that is cancelled', async () => {
    vi.stubEnv('DATABASE_URL', server().url);
    const { default: reports } = await import('../../../examples/recipes/cancel.js');
    closing.push(() => reports.close());
    await using client = await connect(reports);
    expect((await client.callTool('count_pairs', { of: 10 })).data).toEqual({ count: '100' });
    const running = async () =>
      (
        await server().query(
          "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%generate_series%' AND pid <> pg_backend_pid()",
        )
      ).length;
    const stop = new AbortController();
    const call = client.callTool('count_pairs', { of: 1_000_000 }, { signal: stop.signal });
    call.catch(() => {});
    await until('the query runs', async () => (await running()) === 1);
    stop.abort();
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    await until('the query has ended', async () => (await running()) === 0);
    expect((await client.callTool('count_pairs', { of: 3 })).data).toEqual({ count: '9' });
  });

  it('book seats once, or not at all', async () => {
    await server().query('CREATE TABLE shows (name text PRIMARY KEY, free int)');
    await server().query('CREATE TABLE bookings (show text, seats int)');
    await server().query("INSERT INTO shows VALUES ('Hamlet', 5)");
    const shows = theatre(server().url);
    closing.push(() => shows.close());
    await using client = await connect(shows);
    expect((await client.callTool('book', { show: 'Hamlet', seats: 3 })).text).toBe(
      'Booked 3 seats of Hamlet',
    );
    expect(await client.callTool('book', { show: 'Hamlet', seats: 3 })).toMatchObject({
      isError: true,
      text: 'There are not 3 free seats.',
    });
    expect(await server().query('SELECT free FROM shows')).toEqual([{ free: 2 }]);
    expect(await server().query('SELECT seats FROM bookings')).toEqual([{ seats: 3 }]);
  });
});
