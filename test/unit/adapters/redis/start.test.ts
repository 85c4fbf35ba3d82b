import { createClient } from '@redis/client';
import { redis } from 'fullmcp/redis';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { connectorOfClient } from '../../../../src/adapters/redis/client/recognize.js';
import type { RedisConnector, RedisOptions } from '../../../../src/redis.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../../support/engines/redis.js';

describeWithRedis('Redis at the start', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  const open = (options: Partial<RedisOptions> = {}) => {
    const cluster = redis(options.client === undefined ? { url: server.url, ...options } : options);
    onTestFinished(() => cluster.close());
    return cluster;
  };
  const set = (settings: Readonly<Record<string, string>>) =>
    server.command('CONFIG', 'SET', ...Object.entries(settings).flat());

  it('No connection is opened before it is needed', async () => {
    const opened: string[] = [];
    const inner = connectorOfClient(createClient({ url: server.url }));
    const client: RedisConnector = {
      ...inner,
      open(options) {
        opened.push('open');
        return inner.open(options);
      },
      openOne(options) {
        opened.push('openOne');
        return inner.openOne(options);
      },
    };
    const cluster = open({ client });
    await new Promise((resolve) => setImmediate(resolve));
    expect(opened).toEqual([]);
    await cluster.store?.get('a:g');
    await cluster.eventLog.append('s.1', 'a');
    await cluster.bus.publish('t', {});
    expect(opened).toEqual(['open']);
    await cluster.bus.subscribe('t', { message() {}, gap() {} });
    await cluster.eventLog.follow(await cluster.eventLog.append('s.1', 'b'), new AbortController().signal);
    expect(opened).toEqual(['open', 'openOne']);
  });

  it('The settings that lose writes or evict keys are reported in sentences that say what they mean', async () => {
    await set({ appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' });
    expect(await open().start()).toEqual([]);
    await set({ appendfsync: 'everysec' });
    expect(await open().start()).toEqual([
      expect.stringMatching(/^Redis has "appendfsync everysec": .* are lost, .*\.$/),
    ]);
    await set({ appendfsync: 'no', 'maxmemory-policy': 'allkeys-lru' });
    const warnings = await open().start();
    expect(warnings).toEqual([
      expect.stringMatching(/^Redis has "maxmemory-policy allkeys-lru": .* deletes .*\.$/),
      expect.stringContaining('Redis has "appendfsync no"'),
    ]);
    await set({ appendonly: 'no', 'maxmemory-policy': 'volatile-ttl', maxmemory: '1gb' });
    expect(await open().start()).toEqual([
      expect.not.stringContaining('has no effect'),
      expect.stringContaining('Redis has "appendonly no"'),
    ]);
  });

  it('A user who may not read the settings is told that they could not be checked', async () => {
    await server.command('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all', '-config', '-info');
    const url = server.url.replace('redis://', 'redis://app:secret@');
    const warnings = await open({ url }).start();
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/^The version of Redis could not be checked, .*\.$/);
    expect(warnings[1]).toMatch(/^The settings of Redis could not be checked, .*\.$/);
  });

  it('A server that is too old is refused', async () => {
    const inner = connectorOfClient(createClient({ url: server.url }));
    const client: RedisConnector = {
      ...inner,
      async openOne(options) {
        const connection = await inner.openOne(options);
        const send: typeof connection.send = async (command, more) =>
          command[0] === 'INFO'
            ? 'redis_mode:standalone\r\nredis_version:6.2.14\r\n'
            : connection.send(command, more);
        return { ...connection, send };
      },
    };
    await expect(open({ client }).start()).rejects.toThrow(
      'The Redis server has version 6.2.14. Redis 7.0 or newer, or Valkey, is needed.',
    );
  });

  it('Processes with different numbers of partitions refuse to share a prefix', async () => {
    const first = open({ prefix: 'divided', partitions: 4 });
    await first.store?.write([{ do: 'put', key: 'a:g', value: {} }]);
    const second = open({ prefix: 'divided', partitions: 8 });
    const sentence =
      'Redis has data in 4 partitions under the prefix "divided", but the option "partitions" is 8.';
    await expect(second.start()).rejects.toThrow(sentence);
    await expect(second.store?.get('a:g')).rejects.toThrow(sentence);
    expect(await open({ prefix: 'divided', partitions: 4 }).store?.get('a:g')).toMatchObject({ value: {} });
  });

  it('Two prefixes share nothing', async () => {
    const [a, b] = [open({ prefix: 'a' }), open({ prefix: 'b' })];
    await a.store?.write([
      { do: 'put', key: 'a:g', value: {} },
      { do: 'enqueue', queue: 'q', key: 'g' },
    ]);
    expect(await b.store?.get('a:g')).toBeUndefined();
    expect(await b.store?.size('q')).toBe(0);
    expect(await b.store?.page('')).toEqual([]);
  });

  it('Options that cannot work are refused with a sentence that says why', () => {
    const refused = (options: unknown): string => {
      try {
        redis(options as RedisOptions);
        return 'accepted';
      } catch (error) {
        return String(error);
      }
    };
    expect(refused({})).toContain('set the option "url"');
    expect(refused({ url: server.url, client: createClient() })).toContain('not both');
    expect(refused({ url: 'redis://user:hunter2@[bad' })).toMatch(/must be a URL(?!.*hunter2)/);
    expect(refused({ url: 'http://localhost' })).toContain('must be a URL');
    expect(refused({ client: {} })).toContain('is not a client that can be used');
    expect(refused({ url: server.url, prefix: 'a{b}' })).toContain('"prefix"');
    expect(refused({ url: server.url, partitions: 0 })).toContain(
      '"partitions" must be an integer from 1 to 256',
    );
    expect(refused({ url: server.url, timeoutMs: Number.NaN })).toContain('"timeoutMs"');
    expect(refused({ url: server.url, prefx: 'x' })).toContain('Did you mean "prefix"?');
  });
});
