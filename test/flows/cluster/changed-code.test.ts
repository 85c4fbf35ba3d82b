import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, type Store } from 'fullmcp';
import { lmdbStore } from 'fullmcp/lmdb';
import { nats } from 'fullmcp/nats';
import { postgres } from 'fullmcp/postgres';
import { redis } from 'fullmcp/redis';
import { afterAll, beforeAll, describe } from 'vitest';
import { describeWithNats, useNats } from '../../support/engines/nats.js';
import { describeWithPostgres } from '../../support/engines/postgres.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/engines/redis.js';
import { changedCodeTable } from './tables/changed-code.js';

/** A store that both releases of a deploy have open at once in this process. */
function shared(store: Store): Store {
  afterAll(() => store.close());
  return new Proxy(store, {
    get(target, name) {
      if (name === 'close') return async () => undefined;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** The same, in a folder of its own. */
function useLmdb(): Store {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-changed-code-'));
  const store = lmdbStore(folder);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return shared(store);
}

describe('a deploy in one process, with a store in memory', () => {
  const store = shared(memoryStore());
  changedCodeTable(() => ({ store }));
});

describe('a deploy on LMDB', () => {
  const store = useLmdb();
  changedCodeTable(() => ({ store }));
});

describeWithPostgres('a deploy on Postgres', (server) => {
  changedCodeTable(() => ({ cluster: postgres({ url: server().url }) }));
});

describeWithRedis('a deploy on Redis', () => {
  let server: RedisServer | undefined;
  beforeAll(async () => {
    server = await startRedis();
  }, 60_000);
  afterAll(() => server?.stop());
  changedCodeTable(() => ({ cluster: redis({ url: (server as RedisServer).url }) }));
});

describeWithNats('a deploy on NATS', () => {
  const used = useNats();
  const store = useLmdb();
  changedCodeTable(() => ({ cluster: nats({ url: used.engine.url }), store }));
});
