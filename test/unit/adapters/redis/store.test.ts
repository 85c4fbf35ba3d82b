import { redis } from 'fullmcp/redis';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { Keyspace } from '../../../../src/adapters/redis/keys.js';
import type { Lease, Store, StoreChange, Written } from '../../../../src/state/store.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../../support/engines/redis.js';
import { until } from '../../../support/until.js';

describeWithRedis('The store on Redis', () => {
  let single: RedisServer;
  let clustered: RedisServer;
  beforeAll(async () => {
    single = await startRedis({ settings: { appendfsync: 'always' } });
    clustered = await startRedis({ cluster: true });
  });
  afterAll(() => Promise.all([single.stop(), clustered.stop()]));
  beforeEach(() => Promise.all([single.command('FLUSHALL'), clustered.command('FLUSHALL')]));

  const open = (server = single): Store => {
    const cluster = redis({ url: server.url });
    onTestFinished(() => cluster.close());
    return cluster.store as Store;
  };
  const keyspace = new Keyspace('fullmcp', 16);

  it('An answer is never lost between a process that waits and one that answers', async () => {
    const [holder, outsider] = [open(), open()];
    const queue = 'task:s';
    let [released, refused] = [0, 0];
    for (let round = 0; round < 300; round++) {
      const key = `g:${round}`;
      const written = await holder.write([{ do: 'enqueue', queue, key, hold: { owner: 'a', ms: 60_000 } }]);
      const guard = (written as { readonly lease: Lease }).lease;
      const inbox = `inbox:${key}`;
      const wait = (): Promise<Written> =>
        holder.write(
          [
            { do: 'expect', list: inbox, size: 0 },
            { do: 'release', inMs: 3_600_000 },
          ],
          { guard },
        );
      const answer = (): Promise<Written> =>
        outsider.write([
          { do: 'append', list: inbox, name: 'answer', value: { round } },
          { do: 'enqueue', queue, key },
        ]);
      // Both are under way at the same time; the one that was sent first is mostly, not always, the first to arrive.
      const isAnswerFirst = round % 2 === 0;
      const sent = isAnswerFirst ? [answer(), wait()] : [wait(), answer()];
      const [one, two] = (await Promise.all(sent)) as [Written, Written];
      const [waiting, answered] = isAnswerFirst ? [two, one] : [one, two];
      expect(answered).toEqual({ ok: true });
      if (waiting.ok) {
        released++;
        // The answer came later, so the work must be due.
        expect(await outsider.claim(queue, { owner: 'b', limit: 10, ms: 60_000 })).toMatchObject([{ key }]);
      } else {
        refused++;
        expect(waiting.refusedBy).toBe(0);
        expect(await holder.items(inbox)).toMatchObject([{ value: { round } }]);
      }
    }
    // Both orders happened, or the test shows nothing.
    expect(Math.min(released, refused)).toBeGreaterThan(0);
  });

  for (const isCluster of [false, true])
    it(`Ten thousand waiting keys neither hide nor slow the few that are due${isCluster ? ', in a cluster' : ''}`, async () => {
      const store = open(isCluster ? clustered : single);
      const queue = 'task:s';
      const keys = Array.from({ length: 10_000 }, (_, n) => `g${n % 100}:${n}`);
      const enqueueAll = (inMs: number): Promise<unknown> =>
        Promise.all(
          Array.from({ length: 100 }, (_, group) =>
            store.write(
              keys
                .filter((key) => key.startsWith(`g${group}:`))
                .map((key): StoreChange => ({ do: 'enqueue', queue, key, inMs })),
            ),
          ),
        );
      await enqueueAll(3_600_000);
      expect(await store.size(queue)).toBe(10_000);
      expect(await store.claim(queue, { owner: 'a', limit: 100, ms: 60_000 })).toEqual([]);
      const due = keys.filter((_, n) => n % 1000 === 7);
      await Promise.all(due.map((key) => store.write([{ do: 'enqueue', queue, key }])));
      const leases: Lease[] = [];
      await until('all that is due is claimed', async () => {
        leases.push(...(await store.claim(queue, { owner: 'a', limit: 4, ms: 60_000 })));
        return leases.length >= due.length;
      });
      expect(leases.map(({ key }) => key).sort()).toEqual([...due].sort());
      await enqueueAll(0);
      for (;;) {
        const more = await store.claim(queue, { owner: 'a', limit: 5000, ms: 60_000 });
        if (more.length === 0) break;
        leases.push(...more);
      }
      expect(new Set(leases.map(({ key }) => key)).size).toBe(10_000);
      expect(await store.renew(leases, 60_000)).toEqual(leases);
    }, 60_000);

  for (const isCluster of [false, true])
    it(`Hostile names and values come back as they were written${isCluster ? ', in a cluster' : ''}`, async () => {
      const server = isCluster ? clustered : single;
      const store = open(server);
      const hostile = [
        '{p1}',
        '}{',
        '*?[a-z]\\',
        ' ',
        "'; redis.call('FLUSHALL') --",
        '%s%d',
        'é漢😀\u{10ffff}',
        '__proto__',
        '0',
        '-',
        '+',
        '(',
        '[',
      ];
      const value = { text: `\0\u0001\n${hostile.join('')}\ud800`, '\0': [null, 1e300, -0.5] };
      for (const name of hostile) {
        const rest = `${name}:${name}`;
        await store.write([
          { do: 'put', key: `a:${rest}`, value, if: 'absent' },
          { do: 'append', list: `l:${rest}`, name, value },
          { do: 'enqueue', queue: name, key: rest },
        ]);
        expect((await store.get(`a:${rest}`))?.value).toEqual(value);
        expect(await store.items(`l:${rest}`)).toMatchObject([{ name, value }]);
        const [lease] = await store.claim(name, { owner: `a 1 2\n${name}`, limit: 9, ms: 60_000 });
        expect(lease).toMatchObject({ queue: name, key: rest, attempt: 1 });
        expect(await store.renew([lease as Lease], 60_000)).toEqual([lease]);
        expect((await store.page(`a:${name}:`)).map(({ key }) => key)).toEqual([`a:${rest}`]);
      }
      expect(await store.page('a:', { limit: 1000 })).toHaveLength(hostile.length);
      for (const version of ['absent', '', '=', '0', 'nil'])
        expect(await store.write([{ do: 'put', key: 'a:{p1}:{p1}', value, if: { version } }])).toEqual({
          ok: false,
          refusedBy: 0,
        });
      // Every key is in the slot of its partition.
      const found = (await server.command('KEYS', '*')) as string[];
      expect(found.filter((key) => !/^fullmcp:(\{p\d+\}:|partitions$)/.test(key))).toEqual([]);
    });

  it('Odd keys are not found, odd numbers are refused, and neither does harm', async () => {
    const store = open();
    for (const key of ['', 'nogroup', ':g', 'a:g\0', 'a:g\ud800', 'a:'.padEnd(600, 'x')]) {
      expect(await store.get(key)).toBeUndefined();
      expect(await store.items(key)).toEqual([]);
    }
    for (const change of [
      { do: 'count', key: 'c:g', by: Number.NaN },
      { do: 'put', key: 'c:g', value: {}, ttlMs: Number.NaN },
      { do: 'enqueue', queue: 'q', key: 'g', inMs: Number.NaN },
      { do: 'put', key: 'c:g', value: { text: 'x'.repeat(17 * 1024 * 1024) } },
    ] as const)
      await expect(store.write([{ do: 'put', key: 'a:g', value: {} }, change])).rejects.toBeInstanceOf(
        RangeError,
      );
    expect(await store.get('a:g')).toBeUndefined();
    await store.write([
      { do: 'put', key: 'a:g', value: {}, ttlMs: Number.POSITIVE_INFINITY },
      { do: 'put', key: 'b:g', value: {}, ttlMs: -5 },
      { do: 'enqueue', queue: 'q', key: 'g', inMs: Number.POSITIVE_INFINITY },
    ]);
    expect((await store.get('a:g'))?.expiresInMs).toBeGreaterThan(1e14);
    await until('the entry is gone', async () => (await store.get('b:g')) === undefined);
    expect(await store.claim('q', { owner: 'a', limit: 1, ms: 1 })).toEqual([]);
  });

  it('A write is refused as a whole when the memory of Redis is full, and deleting makes room', async () => {
    const store = open();
    await store.write([
      { do: 'put', key: 'big:g', value: { text: 'x'.repeat(1_000_000) } },
      { do: 'enqueue', queue: 'q', key: 'g' },
    ]);
    const [guard] = (await store.claim('q', { owner: 'a', limit: 1, ms: 60_000 })) as [Lease];
    const before = await dump(single);
    await single.command('CONFIG', 'SET', 'maxmemory', '1mb');
    try {
      const change: StoreChange[] = [
        { do: 'expect', list: 'journal:g', size: 0 },
        { do: 'append', list: 'journal:g', name: 'step', value: {} },
        { do: 'put', key: 'head:g', value: {} },
        { do: 'count', key: 'c:g', by: 1 },
        { do: 'release', inMs: 0 },
      ];
      await expect(store.write(change, { guard })).rejects.toMatchObject({
        code: 'refused',
        reply: 'OOM',
        message: expect.stringContaining('The memory of Redis is full: raise its maxmemory.'),
      });
      expect(await dump(single)).toEqual(before);
      expect(await store.write([{ do: 'delete', key: 'big:g' }])).toEqual({ ok: true });
      expect(await store.get('big:g')).toBeUndefined();
      await single.command('CONFIG', 'SET', 'maxmemory', '0');
      expect(await store.write(change, { guard })).toEqual({ ok: true });
    } finally {
      await single.command('CONFIG', 'SET', 'maxmemory', '0');
    }
  });

  it('Versions, tokens and positions do not repeat, even if the counter was lost or the clock went back', async () => {
    const store = open();
    const { counter } = keyspace.of('g');
    const numbers: number[] = [];
    const write = async (): Promise<void> => {
      await store.write([
        { do: 'put', key: 'a:g', value: {} },
        { do: 'append', list: 'l:g', name: `${numbers.length}`, value: {} },
        { do: 'enqueue', queue: 'q', key: 'g' },
      ]);
      const [lease] = await store.claim('q', { owner: 'a', limit: 1, ms: 60_000 });
      const [version, at] = [(await store.get('a:g'))?.version, (await store.items('l:g')).at(-1)?.at];
      numbers.push(Number(version), at as number, lease?.token as number);
      await store.write([
        { do: 'delete', key: 'a:g' },
        { do: 'dequeue', queue: 'q', key: 'g' },
      ]);
    };
    await write();
    await single.command('DEL', counter);
    await write();
    // As if the clock had been an hour ahead.
    await single.command('SET', counter, String((Date.now() + 3_600_000) * 1000));
    await write();
    await single.kill();
    await single.start();
    await write();
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    expect(numbers.every(Number.isSafeInteger)).toBe(true);
  });

  it('The names of expired entries do not pile up', async () => {
    const store = open();
    const { index, expiries } = keyspace.of('g');
    const sizes = async (): Promise<unknown[]> => [
      await single.command('ZCARD', index),
      await single.command('ZCARD', expiries),
    ];
    for (let n = 0; n < 200; n++)
      await store.write([{ do: 'put', key: `a:g:${n}`, value: {}, ttlMs: n < 100 ? 600_000 : 20 }]);
    await until('half of them have expired', async () => (await store.get('a:g:199')) === undefined);
    // Some were given more time, and one was replaced by an entry that does not expire.
    await store.write([{ do: 'put', key: 'a:g:5', value: {}, ttlMs: 900_000 }]);
    for (let n = 0; n < 60; n++) await store.write([{ do: 'put', key: 'b:g', value: {}, ttlMs: 600_000 }]);
    expect(await sizes()).toEqual([101, 101]);
    expect(await store.page('a:g:', { limit: 1000 })).toHaveLength(100);
  });

  it('A page goes on past many names of expired entries, and forgets them', async () => {
    const store = open();
    const { index, entry } = keyspace.of('g');
    await store.write(
      Array.from(
        { length: 101 },
        (_, n): StoreChange => ({ do: 'put', key: `a:g:${1000 + n}`, value: { n } }),
      ),
    );
    for (let n = 0; n < 100; n++) await single.command('DEL', entry(`a:g:${1000 + n}`));
    expect(await store.page('a:g:', { limit: 2 })).toMatchObject([{ value: { n: 100 } }]);
    expect(await single.command('ZCARD', index)).toBe(1);
  });
});

/** Everything that is in Redis. */
async function dump(server: RedisServer): Promise<unknown> {
  const keys = ((await server.command('KEYS', '*')) as string[]).sort();
  return Promise.all(
    keys.map(async (key) => {
      const type = String(await server.command('TYPE', key));
      const read: Readonly<Record<string, string[]>> = {
        string: ['GET', key],
        hash: ['HGETALL', key],
        zset: ['ZRANGE', key, '0', '-1', 'WITHSCORES'],
        set: ['SMEMBERS', key],
        stream: ['XRANGE', key, '-', '+'],
      };
      return [key, JSON.stringify(await server.command(...(read[type] as string[])))];
    }),
  );
}
