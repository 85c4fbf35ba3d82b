import process from 'node:process';
import { createClient, createCluster } from '@redis/client';
import { redis } from 'fullmcp/redis';
import { busContract, eventLogContract, fenceContract, storeContract } from 'fullmcp/testing';
import { Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { RedisOptions } from '../../../../src/redis.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../../support/engines/redis.js';

const module = new URL('./fixtures/open-store.mjs', import.meta.url).href;

type Make = (server: RedisServer) => RedisOptions;

const clients: Readonly<Record<string, { readonly isCluster: boolean; readonly make: Make }>> = {
  'a URL': { isCluster: false, make: ({ url }) => ({ url }) },
  '@redis/client': { isCluster: false, make: ({ url }) => ({ client: createClient({ url }) }) },
  ioredis: { isCluster: false, make: ({ url }) => ({ client: new Redis(url, { lazyConnect: true }) }) },
  'a URL of a cluster of one node': { isCluster: true, make: ({ url }) => ({ url }) },
  'a cluster client of @redis/client': {
    isCluster: true,
    make: ({ url }) => ({ client: createCluster({ rootNodes: [{ url }] }) }),
  },
  'a cluster client of ioredis': {
    isCluster: true,
    make: ({ url }) => ({ client: new Cluster([url], { lazyConnect: true }) }),
  },
};

describeWithRedis('Redis keeps the contracts of a store, a bus and an event log', () => {
  const servers: RedisServer[] = [];
  beforeAll(async () => {
    servers.push(await startRedis(), await startRedis({ cluster: true }));
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  for (const [at, { name }] of fenceContract({ module }).entries())
    it(name, () => {
      const env = { ...process.env, TEST_URL: servers[0]?.url };
      return fenceContract({ module, env })[at]?.run();
    });

  for (const [name, { isCluster, make }] of Object.entries(clients)) {
    const serverOf = (): RedisServer => servers[isCluster ? 1 : 0] as RedisServer;
    const open = () => redis(make(serverOf()));
    describe(`with ${name}`, () => {
      const store = () => open().store as NonNullable<ReturnType<typeof open>['store']>;
      for (const { name: sentence, run } of storeContract({ open: store, openAnother: store }))
        it(sentence, run);
      const bus = () => open().bus;
      // Kills the connections of subscribers and of others: all but the one that sends this.
      const interrupt = async () => {
        await serverOf().command('CLIENT', 'KILL', 'TYPE', 'pubsub');
        await serverOf().command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      };
      for (const { name: sentence, run } of busContract({ open: bus, openAnother: bus, interrupt }))
        it(sentence, run);
      const eventLog = () => open().eventLog;
      for (const { name: sentence, run } of eventLogContract({ open: eventLog, openAnother: eventLog }))
        it(sentence, run);
    });
  }
});
