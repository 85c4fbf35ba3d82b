import process from 'node:process';
import { type PostgresOptions, postgres } from 'fullmcp/postgres';
import { busContract, eventLogContract, fenceContract, storeContract } from 'fullmcp/testing';
import { describe, expect, test } from 'vitest';
import { describeWithPostgres, freshSchema, type PostgresServer } from '../../../support/engines/postgres.js';

const modes: readonly PostgresOptions[] = [{}, { listen: false, pollMs: 20 }];

describeWithPostgres('The cluster on Postgres', (server) => {
  for (const mode of modes) {
    describe(mode.listen === false ? 'without LISTEN' : 'with LISTEN', () => {
      const schema = freshSchema();
      const open = () => postgres({ url: server().url, schema, ...mode });

      const openStore = () => closing(open(), 'store');
      for (const { name, run } of storeContract({ open: openStore, openAnother: openStore })) test(name, run);

      const openBus = () => closing(open(), 'bus');
      // A bus that polls misses nothing when a connection ends.
      const interrupt = () => (mode.listen === false ? server().restart() : endConnections(server()));
      for (const { name, run } of busContract({ open: openBus, openAnother: openBus, interrupt }))
        test(name, run);

      const openLog = () => closing(open(), 'eventLog');
      for (const { name, run } of eventLogContract({ open: openLog, openAnother: openLog })) test(name, run);
    });
  }

  describe('in two processes', () => {
    const schema = freshSchema();
    const module = new URL('fixtures/open-store.mjs', import.meta.url).href;
    // The URL is known only when the server runs.
    const cases = () =>
      fenceContract({ module, env: { ...process.env, TEST_URL: server().url, TEST_SCHEMA: schema } });
    for (const [at, { name }] of fenceContract({ module }).entries()) test(name, () => cases()[at]?.run());
  });

  test('has suites that run', () => {
    expect(storeContract({ open: () => postgres().store }).length).toBeGreaterThan(20);
  });
});

/** The part of a cluster, which closes the whole cluster. */
function closing<Part extends 'store' | 'bus' | 'eventLog'>(
  cluster: ReturnType<typeof postgres>,
  part: Part,
): ReturnType<typeof postgres>[Part] {
  return { ...cluster[part], close: () => cluster.close() };
}

async function endConnections(server: PostgresServer): Promise<void> {
  await server.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fullmcp'",
  );
}
