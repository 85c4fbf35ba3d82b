import { type PostgresCluster, type PostgresOptions, postgres } from 'fullmcp/postgres';
import { afterEach, expect, test } from 'vitest';
import type { StoreChange } from '../../../../src/state/store.js';
import { describeWithPostgres, freshSchema } from '../../../support/engines/postgres.js';
import { until } from '../../../support/until.js';

const clusters: PostgresCluster[] = [];
afterEach(async () => {
  await Promise.all(clusters.splice(0).map((each) => each.close()));
});

const hostile = [
  `'; DROP TABLE entry; --`,
  '$function$ $1 {"a":1} {a,b,"c"} NULL null',
  '\\x00 \\u0000 \\\\ \\',
  '"quoted" \'single\' `back`',
  'é漢😀\u2028\ufffd\uffff',
  '%_[a-z]*^$',
  '../../etc/passwd',
  ' leading and trailing ',
  '__proto__',
];

describeWithPostgres('Values in Postgres', (server) => {
  function open(options: PostgresOptions = {}): PostgresCluster {
    const cluster = postgres({ url: server().url, schema: freshSchema(), ...options });
    clusters.push(cluster);
    return cluster;
  }

  test('Every string that a key may have is kept as it is, in entries, lists, items, queues and owners', async () => {
    const { store } = open();
    for (const [n, text] of hostile.entries()) {
      const [key, list, work] = [`a:g${n}:${text}`, `l:g${n}:${text}`, `g${n}:${text}`];
      await store.write([
        { do: 'put', key, value: { [text]: text } },
        { do: 'append', list, name: text, value: { [text]: text } },
        { do: 'enqueue', queue: text, key: work },
      ]);
      expect((await store.get(key))?.value).toEqual({ [text]: text });
      expect((await store.page(key)).map((entry) => entry.key)).toEqual([key]);
      expect(await store.items(list)).toMatchObject([{ name: text, value: { [text]: text } }]);
      const [lease] = await store.claim(text, { owner: `${text}\0\ud800`, limit: 1, ms: 60_000 });
      expect(lease).toMatchObject({ queue: text, key: work });
      expect(await store.renew(lease ? [lease] : [], 60_000)).toEqual([lease]);
      expect(await store.size(text)).toBe(1);
      expect(await store.write([{ do: 'release', inMs: 0 }], lease ? { guard: lease } : {})).toEqual({
        ok: true,
      });
    }
    expect(await store.page('a:')).toHaveLength(hostile.length);
  });

  test('A string that a key cannot have finds nothing, and not another key', async () => {
    const { store, eventLog } = open();
    // The client would write this character in place of half a surrogate pair.
    await store.write([{ do: 'put', key: 'a:g:\ufffd', value: {} }]);
    await eventLog.append('s\ufffd', 'x');
    for (const bad of ['\ud800', '\0']) {
      expect(await store.get(`a:g:${bad}`)).toBe(undefined);
      expect(await store.page(`a:g:${bad}`)).toEqual([]);
      expect(await store.items(`a:g:${bad}`)).toEqual([]);
      expect(await store.claim(bad, { owner: 'a', limit: 1, ms: 1 })).toEqual([]);
      expect(await store.size(bad)).toBe(0);
      expect(await store.renew([{ queue: bad, key: bad, token: 1, attempt: 1 }], 1)).toEqual([]);
      expect(await eventLog.follow(`s${bad}-1`, new AbortController().signal)).toBe(undefined);
      await eventLog.drop(`s${bad}`);
      await expect(eventLog.append(`s${bad}`, 'x')).rejects.toThrow(RangeError);
    }
    expect(await eventLog.follow('s\ufffd-1', new AbortController().signal)).toBeDefined();
  });

  test('Pages of keys end where their prefix does, also at the last characters of Unicode', async () => {
    const { store } = open();
    const groups = ['\ud7ff', '\ud7ffa', '\ue000', '\u{10ffff}', '\u{10ffff}\u{10ffff}', 'a'];
    for (const group of groups) await store.write([{ do: 'put', key: `k:${group}`, value: {} }]);
    for (const prefix of groups) {
      const keys = (await store.page(`k:${prefix}`)).map(({ key }) => key);
      expect(keys.sort()).toEqual(
        groups
          .map((group) => `k:${group}`)
          .filter((key) => key.startsWith(`k:${prefix}`))
          .sort(),
      );
    }
    expect(await store.page('')).toHaveLength(groups.length);
    expect(await store.page('k:', { limit: 0 })).toEqual([]);
    expect(await store.page('k:', { after: 'k:a', limit: 2 })).toHaveLength(2);
  });

  test.each([
    ['a duration that is not a number', [{ do: 'put', key: 'a:g', value: {}, ttlMs: Number.NaN }]],
    ['a count that is not finite', [{ do: 'count', key: 'a:g', by: Number.POSITIVE_INFINITY }]],
    ['a maximum that is not a number', [{ do: 'count', key: 'a:g', by: 1, max: Number.NaN }]],
    ['a size that is not an integer', [{ do: 'expect', list: 'l:g', size: Number.NaN }]],
    ['a value that is too large', [{ do: 'put', key: 'a:g', value: { text: 'x'.repeat(5000) } }]],
    [
      'an item that is too large',
      [{ do: 'append', list: 'l:g', name: 'n', value: { text: 'x'.repeat(5000) } }],
    ],
    ['a value that is not JSON', [{ do: 'put', key: 'a:g', value: (() => 1) as never }]],
    [
      'too many changes',
      Array.from({ length: 1001 }, (_, n) => ({ do: 'delete', key: `a:g:${n}` }) as const),
    ],
  ] as readonly [string, readonly StoreChange[]][])(
    'A write with %s is a RangeError, and nothing is written',
    async (_, changes) => {
      const { store } = open({ maxValueBytes: 4096 });
      await expect(store.write(changes)).rejects.toThrow(RangeError);
      expect(await store.page('')).toEqual([]);
    },
  );

  test('Durations without end, and versions that never were, are taken for what they mean', async () => {
    const { store } = open();
    await store.write([{ do: 'put', key: 'a:g', value: {}, ttlMs: Number.POSITIVE_INFINITY }]);
    expect((await store.get('a:g'))?.expiresInMs).toBeGreaterThan(1e12);
    await store.write([{ do: 'put', key: 'a:g', value: {}, ttlMs: -5 }]);
    expect(await store.get('a:g')).toBe(undefined);
    for (const version of ['', 'x', '1e3', `${2 ** 70}`, '\0'])
      expect(await store.write([{ do: 'put', key: 'a:g', value: {}, if: { version } }])).toEqual({
        ok: false,
        refusedBy: 0,
      });
    await store.write([{ do: 'enqueue', queue: 'q', key: 'g', inMs: 1e300 }]);
    expect(await store.claim('q', { owner: 'a', limit: 1, ms: 1 })).toEqual([]);
    expect(await store.claim('q', { owner: 'a', limit: 0, ms: 1 })).toEqual([]);
  });

  test('A count keeps fractions and large numbers', async () => {
    const { store } = open();
    for (const by of [0.5, 0.25, 2 ** 50, 1e15]) await store.write([{ do: 'count', key: 'a:g', by }]);
    expect((await store.get('a:g'))?.value).toEqual({ count: 0.75 + 2 ** 50 + 1e15 });
  });

  test('The bus carries every topic and message up to its limit, and rejects larger ones', async () => {
    for (const listen of [true, false]) {
      const { bus } = open({ listen, pollMs: 20 });
      const heard: unknown[] = [];
      for (const topic of hostile)
        await bus.subscribe(topic, {
          message: (message) => heard.push([topic, message]),
          gap: () => undefined,
        });
      for (const topic of hostile) await bus.publish(topic, { text: `${topic}\0\ud800` });
      // Equal messages are not merged into one.
      await Promise.all([bus.publish('__proto__', { same: 1 }), bus.publish('__proto__', { same: 1 })]);
      await bus.publish('__proto__', { large: 'é'.repeat(3950) });
      await expect(bus.publish('__proto__', { large: 'é'.repeat(4000) })).rejects.toThrow(RangeError);
      await until('all messages arrived', () => heard.length >= hostile.length + 3);
      expect(heard.slice(0, hostile.length)).toEqual(
        hostile.map((topic) => [topic, { text: `${topic}\0\ud800` }]),
      );
      expect(heard.slice(hostile.length, -1)).toEqual([1, 2].map(() => ['__proto__', { same: 1 }]));
    }
  });

  test('The bus ignores what other programs send on its channel', async () => {
    const schema = freshSchema();
    const { bus } = open({ schema });
    const heard: unknown[] = [];
    await bus.subscribe('t', { message: (message) => heard.push(message), gap: () => undefined });
    for (const payload of ['', 'x', '{}', '[]', '[1,"bus:t"]', '[1,"bus:t",null]', '[1,2,{}]'])
      await server().query('SELECT pg_notify($1, $2)', [`${schema}_bus`, payload]);
    await bus.publish('t', { n: 1 });
    await until('the message arrived', () => heard.length > 0);
    expect(heard).toEqual([{ n: 1 }]);
  });
});
