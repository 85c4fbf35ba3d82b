import { inspect } from 'node:util';
import { createClient } from '@redis/client';
import { type RedisClientLike, type RedisConnector, type RedisOptions, redis } from 'fullmcp/redis';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { connectorOfClient } from '../../../../src/adapters/redis/client/recognize.js';
import type { Cluster } from '../../../../src/state/cluster.js';
import type { Store } from '../../../../src/state/store.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../../support/engines/redis.js';
import { soon, until } from '../../../support/until.js';

const PASSWORD = 'p@ss wörd/1';

const clients: Readonly<Record<string, (url: string) => RedisOptions>> = {
  '@redis/client': (url) => ({ client: createClient({ url }) }),
  ioredis: (url) => ({ client: new Redis(url, { lazyConnect: true }) }),
};

/** A connector that notes each connection that it opens. */
function counting(client: RedisClientLike, opened: string[]): RedisConnector {
  const inner = connectorOfClient(client);
  return {
    ...inner,
    openOne(options) {
      opened.push('one');
      return inner.openOne(options);
    },
  };
}

describeWithRedis('Redis that fails', () => {
  let server: RedisServer;
  beforeEach(async () => {
    server = await startRedis({ password: PASSWORD, settings: { appendfsync: 'always' } });
  });
  afterEach(() => server.stop());

  for (const [name, make] of Object.entries(clients)) {
    const open = (options: Partial<RedisOptions> = {}): Cluster & { readonly store: Store } => {
      const cluster = redis({ ...make(server.url), timeoutMs: 400, ...options });
      onTestFinished(() => cluster.close());
      return cluster as Cluster & { readonly store: Store };
    };
    describe(`with ${name}`, () => {
      it('Calls fail with a clear error while Redis is dead, and work when it is back, with nothing lost', async () => {
        const cluster = open();
        await cluster.store.write([{ do: 'put', key: 'a:g', value: { n: 1 } }]);
        const before = (await cluster.store.get('a:g'))?.version;
        await server.kill();
        const calls: Promise<unknown>[] = [
          cluster.ping(),
          cluster.store.get('a:g'),
          cluster.bus.publish('t', {}),
        ];
        for (const { reason } of (await soon(
          'the errors',
          Promise.allSettled(calls),
          5000,
        )) as PromiseRejectedResult[])
          expect(reason).toMatchObject({
            name: 'RedisError',
            message: expect.stringMatching(/^(Redis at|The reply of Redis at) 127\.0\.0\.1:\d+ .*\.$/),
          });
        await expect(cluster.ping()).rejects.toMatchObject({ code: 'unavailable' });
        await server.start();
        await cluster.ping();
        expect(await cluster.store.get('a:g')).toMatchObject({ value: { n: 1 }, version: before });
        await cluster.store.write([
          { do: 'put', key: 'a:g', value: { n: 2 }, if: { version: before as string } },
        ]);
      });

      it('A command waits for a server that is restarted within a second', async () => {
        const { store } = open({ timeoutMs: 5000 });
        await store.write([{ do: 'put', key: 'a:g', value: { n: 1 } }]);
        await server.kill();
        const read = store.get('a:g').catch(() => store.get('a:g'));
        await server.start();
        expect((await read)?.value).toEqual({ n: 1 });
      });

      it('A call to a server that does not reply ends in time, and says that it may have been executed', async () => {
        const { store } = open();
        await store.write([{ do: 'put', key: 'a:g', value: { n: 1 } }]);
        server.pause();
        const write = store.write([{ do: 'put', key: 'a:g', value: { n: 2 } }]);
        await expect(soon('the error', write)).rejects.toMatchObject({
          code: 'timeout',
          message: expect.stringContaining(
            'did not reply to EVALSHA within 400 ms. The command may have been executed.',
          ),
        });
        await expect(soon('the error', store.get('a:g'))).rejects.toMatchObject({ code: 'unavailable' });
        server.resume();
        await until('the store works again', () => store.get('a:g').then(Boolean, () => false));
        // A connection that the client had to give up is closed on the server too.
        await until('only one connection is left', async () => {
          const list = String(await server.command('CLIENT', 'LIST'));
          return list.split('\n').filter((line) => line.includes('cmd=eval')).length <= 1;
        });
      });

      it('A subscriber is told of the gap once it hears everything again, after a crash and after a pause', async () => {
        const opened: string[] = [];
        const cluster = open({ client: counting(make(server.url).client as RedisClientLike, opened) });
        const other = open();
        const received: unknown[] = [];
        let gaps = 0;
        await cluster.bus.subscribe('t', {
          message: (message) => received.push(message),
          gap: () => {
            gaps++;
            // A process that publishes after the gap was reported must be heard.
            void other.bus.publish('t', { gap: gaps }).catch(() => other.bus.publish('t', { gap: gaps }));
          },
        });
        await server.kill();
        await server.start();
        await until('the gap is reported', () => gaps === 1);
        await until('the message after the gap is heard', () => received.length === 1);
        await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub');
        await until('the gap is reported', () => gaps === 2);
        await until('the message after the gap is heard', () => received.length === 2);
        // The server does not close the connection: only a test of the connection shows that it is dead.
        const before = opened.length;
        server.pause();
        await until('the subscriber opens another connection', () => opened.length > before);
        server.resume();
        await until('the gap is reported', () => gaps === 3);
        await until('the message after the gap is heard', () => received.length === 3);
        expect(received).toEqual([{ gap: 1 }, { gap: 2 }, { gap: 3 }]);
      });

      it('A reader of a stream gets the events that were appended while its connection was broken', async () => {
        const [cluster, other] = [open(), open()];
        const first = await other.eventLog.append('s.1', 'a');
        const followed = await cluster.eventLog.follow(first, new AbortController().signal);
        const received: string[] = [];
        const reading = (async () => {
          for await (const { data } of followed?.events ?? []) received.push(data);
        })();
        for (let n = 0; n < 20; n++) {
          if (n % 5 === 0) await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub');
          await other.eventLog.append('s.1', `${n}`);
        }
        await other.eventLog.append('s.1', 'end', { last: true });
        await soon('the last event', reading);
        expect(received).toEqual([...Array.from({ length: 20 }, (_, n) => `${n}`), 'end']);
      });

      it('Scripts are sent again after SCRIPT FLUSH', async () => {
        const { store } = open({ timeoutMs: 5000 });
        for (let n = 1; n <= 3; n++) {
          await server.command('SCRIPT', 'FLUSH');
          await Promise.all(
            Array.from({ length: 10 }, () => store.write([{ do: 'count', key: 'c:g', by: 1 }])),
          );
          expect((await store.get('c:g'))?.value).toEqual({ count: 10 * n });
        }
      });

      it('No error contains the password', async () => {
        const wrong = server.url.replace(encodeURIComponent(PASSWORD), encodeURIComponent(`${PASSWORD}!`));
        const errors: unknown[] = [];
        for (const url of [
          wrong,
          server.url.replace(/\d+$/, '1'),
          'redis://:p%40ss%20w%C3%B6rd%2F1@no-such-host.invalid',
        ]) {
          const cluster = redis({ ...make(url), timeoutMs: 2000 });
          const calls = [
            cluster.start(),
            cluster.store?.get('a:g'),
            cluster.bus.subscribe('t', { message() {}, gap() {} }),
          ];
          for (const call of await Promise.allSettled(calls)) {
            if (call.status === 'fulfilled') expect.fail('it was connected');
            errors.push(call.reason);
          }
          await cluster.close();
        }
        expect(errors).toHaveLength(9);
        for (const error of errors) {
          expect(error).toMatchObject({ name: 'RedisError', code: 'unavailable' });
          const shown = inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error);
          for (const secret of [PASSWORD, encodeURIComponent(PASSWORD)]) expect(shown).not.toContain(secret);
        }
        expect(String(errors[0])).toContain('WRONGPASS');
      });

      it('Everything rejects after the cluster was closed, and nothing stays connected', async () => {
        const cluster = open();
        await cluster.start();
        await cluster.bus.subscribe('t', { message() {}, gap() {} });
        await cluster.close();
        for (const call of [
          () => cluster.store.get('a:g'),
          () => cluster.ping(),
          () => cluster.bus.publish('t', {}),
        ])
          await expect(call).rejects.toMatchObject({ code: 'closed' });
        await until('there is no connection but that of the test', async () => {
          const list = String(await server.command('CLIENT', 'LIST'));
          return list.trim().split('\n').length === 1;
        });
      });
    });
  }
});
