import { redis } from 'fullmcp/redis';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../../../src/state/store.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../../support/engines/redis.js';
import { mortalStore } from '../../../support/tasks.js';
import { until } from '../../../support/until.js';
import { type Recorder, recorder, startProcess } from '../../server/watch/processes.js';

describeWithRedis('The watches of resources on Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ cluster: true });
  });
  afterAll(() => server.stop());

  function start(name: string, record: Recorder, leaseMs = 2000) {
    const cluster = redis({ url: server.url, prefix: String(record.id) });
    const { store, kill } = mortalStore(cluster.store as Store);
    const process = startProcess(name, record, { store, bus: cluster.bus, leaseMs });
    onTestFinished(() => cluster.close());
    return { ...process, store, kill };
  }

  it('start once for all processes, move when their process ends or dies, and leave nothing behind', async () => {
    const record = recorder();
    const uris = Array.from({ length: 50 }, (_, at) => `x://${at}`);
    const [a, b, c] = ['A', 'B', 'C'].map((name) => start(name, record)) as [Started, Started, Started];
    for (const uri of uris) a.subscribe(uri);
    await until('A watches', () => record.events.length === uris.length);
    for (const process of [b, c]) for (const uri of uris) process.subscribe(uri);
    await until('B and C are recorded', async () => (await a.store.page('watcher:')).length === 100);
    const isIn = (count: number, names: string) => () =>
      [...record.watching].filter(([, at]) => at.size === 1 && names.includes([...at][0] ?? '')).length ===
      count;
    await a.close();
    await until('B and C watch', isIn(uris.length, 'BC'));
    expect(record.most).toBe(1);
    const [dying, survivor] = isIn(0, 'B')() ? [c, b] : [b, c];
    const names = survivor === b ? ['C', 'B'] : ['B', 'C'];
    dying.kill();
    for (const at of record.watching.values()) at.delete(names[0] ?? '');
    expect(isIn(uris.length, names[1] ?? '')()).toBe(false);
    await until('the survivor watches everything', isIn(uris.length, names[1] ?? ''));
    await survivor.close();
    const { store } = start('D', record);
    expect(await store.page('watch:')).toEqual([]);
  });
});

type Started = ReturnType<typeof startProcess> & { readonly store: Store; readonly kill: () => void };
