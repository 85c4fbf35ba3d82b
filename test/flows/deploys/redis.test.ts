import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/engines/redis.js';
import { RELEASES, Rollout } from './rollout.js';

describeWithRedis('a server on Redis', () => {
  let server: RedisServer | undefined;
  let rollout: Rollout | undefined;

  beforeAll(async () => {
    server = await startRedis();
  });

  afterAll(async () => {
    rollout?.close();
    await server?.stop();
  });

  test(`loses no call and no task, and ends no task in the wrong version, in ${RELEASES} rolling deploys`, {
    timeout: 120_000 + RELEASES * 20_000,
  }, async () => {
    rollout = new Rollout({ MCP_CLUSTER_URL: server?.url ?? '' });
    await rollout.run();
    rollout.check();
    expect.hasAssertions();
  });
});
