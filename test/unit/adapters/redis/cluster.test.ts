import { createCluster } from '@redis/client';
import { type RedisOptions, redis } from 'fullmcp/redis';
import { busContract, eventLogContract, storeContract } from 'fullmcp/testing';
import { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Lease, Store } from '../../../../src/state/store.js';
import { describeWithRedis, type RedisServer, startRedisCluster } from '../../../support/engines/redis.js';
import { until } from '../../../support/until.js';

const password = 'p@ss:w/rd';

const clients: Readonly<Record<string, (url: string) => RedisOptions>> = {
  'a cluster client of @redis/client': (url) => ({
    client: createCluster({ rootNodes: [{ url }], defaults: { password } }),
  }),
  'a cluster client of ioredis': (url) => ({
    client: new Cluster([url], { lazyConnect: true, redisOptions: { password } }),
  }),
  'the URL of a node': (url) => ({ url }),
};

describeWithRedis('Redis as a cluster of three nodes', () => {
  let nodes: readonly RedisServer[] = [];
  beforeAll(async () => {
    nodes = await startRedisCluster({ password });
  }, 60_000);
  afterAll(() => Promise.all(nodes.map((node) => node.stop())));

  for (const [name, make] of Object.entries(clients)) {
    // Each connects over another node.
    let next = 0;
    const open = () => redis(make((nodes[next++ % nodes.length] as RedisServer).url));
    describe(`with ${name}`, () => {
      const store = () => open().store as Store;
      const bus = () => open().bus;
      const eventLog = () => open().eventLog;
      const interrupt = async () => {
        await Promise.all(nodes.map((node) => node.command('CLIENT', 'KILL', 'TYPE', 'pubsub')));
        await Promise.all(
          nodes.map((node) => node.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')),
        );
      };
      const cases = [
        ...storeContract({ open: store, openAnother: store }),
        ...busContract({ open: bus, openAnother: bus, interrupt }),
        ...eventLogContract({ open: eventLog, openAnother: eventLog }),
      ];
      for (const { name: sentence, run } of cases) it(sentence, run);

      it('Work is spread over the nodes and claimed from all of them', async () => {
        await Promise.all(nodes.map((node) => node.command('FLUSHALL')));
        const cluster = open();
        onTestFinished(() => cluster.close());
        await cluster.start();
        const { store } = cluster as { readonly store: Store };
        const keys = Array.from({ length: 200 }, (_, n) => `g${n}`);
        await Promise.all(keys.map((key) => store.write([{ do: 'enqueue', queue: 'q', key }])));
        for (const node of nodes) expect((await node.command('KEYS', '*')) as string[]).not.toHaveLength(0);
        expect(await store.size('q')).toBe(200);
        const leases: Lease[] = [];
        await until('everything is claimed', async () => {
          leases.push(...(await store.claim('q', { owner: 'a', limit: 7, ms: 60_000 })));
          return leases.length >= 200;
        });
        expect(leases.map(({ key }) => key).sort()).toEqual([...keys].sort());
        expect(await store.renew(leases, 60_000)).toEqual(leases);
      });

      it('A node that dies is an error in time, and the store works when the node is back', async () => {
        const cluster = redis({ ...make((nodes[0] as RedisServer).url), timeoutMs: 2000 });
        onTestFinished(() => cluster.close());
        const { store } = cluster as { readonly store: Store };
        const groups = Array.from({ length: 30 }, (_, n) => `g${n}`);
        const writeAll = () =>
          Promise.allSettled(groups.map((group) => store.write([{ do: 'count', key: `c:${group}`, by: 1 }])));
        await writeAll();
        await nodes[2]?.command('CONFIG', 'SET', 'appendfsync', 'always');
        await writeAll();
        await nodes[2]?.kill();
        const failed = (await writeAll()).filter(({ status }) => status === 'rejected');
        expect(failed.length).toBeGreaterThan(0);
        for (const one of failed) expect(one).toMatchObject({ reason: { name: 'RedisError' } });
        await nodes[2]?.start();
        await until('every group can be written', async () => {
          const results = await writeAll();
          return results.every(({ status }) => status === 'fulfilled');
        });
      });
    });
  }
});
