import { redis } from 'fullmcp/redis';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { Store } from '../../../../src/state/store.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../../support/engines/redis.js';
import { proxyContract } from '../../../support/oauth/proxy-contract.js';

describeWithRedis('oauthProxy with the store on Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ cluster: true });
  });
  afterAll(() => server.stop());

  proxyContract(async () => {
    await server.command('FLUSHALL');
    const cluster = redis({ url: server.url });
    onTestFinished(() => cluster.close());
    await cluster.start();
    return cluster.store as Store;
  });
});
