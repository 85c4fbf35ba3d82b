import { type RedisOptions, redis } from 'fullmcp/redis';
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { Store } from '../../../../src/state/store.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../../support/engines/redis.js';
import { eventHistoryCases } from '../../../support/event-history-cases.js';

describeWithRedis('The log of events on Redis', () => {
  for (const cluster of [false, true])
    describe(cluster ? 'as a cluster of one node' : 'as one server', () => {
      let server: RedisServer;
      beforeAll(async () => {
        server = await startRedis({ cluster });
      });
      afterAll(() => server.stop());

      for (const [name, run] of Object.entries(eventHistoryCases))
        test(name, async () => {
          const options: RedisOptions = { url: server.url };
          const [first, second] = [redis(options), redis(options)];
          try {
            await run({ store: first.store as Store, other: second.store as Store });
          } finally {
            await Promise.all([first.close(), second.close()]);
          }
        });
    });
});
