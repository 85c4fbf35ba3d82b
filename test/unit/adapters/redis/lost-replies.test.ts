import { createClient, createCluster } from '@redis/client';
import { type RedisOptions, redis } from 'fullmcp/redis';
import { Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Store } from '../../../../src/state/store.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../../support/engines/redis.js';
import { until } from '../../../support/until.js';
import { TcpProxy } from './tcp-proxy.js';

const clients: Readonly<Record<string, (url: string) => RedisOptions>> = {
  '@redis/client': (url) => ({ client: createClient({ url }) }),
  ioredis: (url) => ({ client: new Redis(url, { lazyConnect: true }) }),
};
// The clients find the node by the address that it announces; the map leads them through the proxy.
const clusterClients: Readonly<Record<string, (url: string, port: number) => RedisOptions>> = {
  'a cluster client of @redis/client': (url, port) => {
    const proxy = { host: '127.0.0.1', port: Number(new URL(url).port) };
    return {
      client: createCluster({ rootNodes: [{ url }], nodeAddressMap: { [`127.0.0.1:${port}`]: proxy } }),
    };
  },
  'a cluster client of ioredis': (url, port) => {
    const proxy = { host: '127.0.0.1', port: Number(new URL(url).port) };
    return { client: new Cluster([url], { lazyConnect: true, natMap: { [`127.0.0.1:${port}`]: proxy } }) };
  },
};

describeWithRedis('A command whose reply was lost is not sent again', () => {
  const servers: RedisServer[] = [];
  let [proxy, clusterProxy]: TcpProxy[] = [];
  let [url, clusterUrl] = ['', ''];
  beforeAll(async () => {
    const [single, cluster] = [await startRedis(), await startRedis({ cluster: true })];
    servers.push(single, cluster);
    proxy = new TcpProxy(single.port);
    clusterProxy = new TcpProxy(cluster.port);
    [url, clusterUrl] = await Promise.all([proxy.listen(), clusterProxy.listen()]);
  });
  afterAll(async () => {
    await Promise.all([proxy?.close(), clusterProxy?.close()]);
    await Promise.all(servers.map((server) => server.stop()));
  });
  beforeEach(() => Promise.all(servers.map((server) => server.command('FLUSHALL'))));

  async function attack(options: RedisOptions, through: TcpProxy | undefined): Promise<void> {
    const cluster = redis(options);
    const store = cluster.store as Store;
    const count = (): Promise<unknown> => store.write([{ do: 'count', key: 'visits:g', by: 1 }]);
    await count();
    through?.loseReplyTo('visits:g');
    await expect(count()).rejects.toMatchObject({ name: 'RedisError', code: 'lost' });
    await until('the store works again', async () => (await store.get('other:g')) === undefined);
    expect((await store.get('visits:g'))?.value).toEqual({ count: 2 });
    await count();
    expect((await store.get('visits:g'))?.value).toEqual({ count: 3 });
    await cluster.close();
  }

  for (const [name, make] of Object.entries(clients))
    it(`A write is made once with ${name}`, () => attack(make(url), proxy));
  for (const [name, make] of Object.entries(clusterClients))
    it(`A write is made once with ${name}`, () =>
      attack(make(clusterUrl, servers[1]?.port as number), clusterProxy));

  it('A client of ioredis with its own settings sends it again, so the test can fail', async () => {
    const client = new Redis(url, { retryStrategy: () => 10 });
    await client.incr('control');
    proxy?.loseReplyTo('control');
    expect(await client.incr('control')).toBe(3);
    client.disconnect();
  });
});
