import { afterAll, expect, test } from 'vitest';
import { describeWithPostgres } from '../../support/engines/postgres.js';
import { RELEASES, Rollout } from './rollout.js';

describeWithPostgres('a server on Postgres', (server) => {
  let rollout: Rollout | undefined;

  afterAll(() => rollout?.close());

  test(`loses no call and no task, and ends no task in the wrong version, in ${RELEASES} rolling deploys`, {
    timeout: 120_000 + RELEASES * 20_000,
  }, async () => {
    rollout = new Rollout({ MCP_CLUSTER_URL: server().url });
    await rollout.run();
    rollout.check();
    expect.hasAssertions();
  });
});
