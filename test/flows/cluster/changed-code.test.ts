import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore } from 'fullmcp';
import { lmdbStore } from 'fullmcp/lmdb';
import { nats } from 'fullmcp/nats';
import { postgres } from 'fullmcp/postgres';
import { redis } from 'fullmcp/redis';
import { afterAll, beforeAll, describe } from 'vitest';
import { describeWithNats, useNats } from '../../support/engines/nats.js';
import { describeWithPostgres } from '../../support/engines/postgres.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/engines/redis.js';
import { changedCodeTable } from './tables/changed-code.js';

function useFolder(): () => string {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-changed-code-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return () => folder;
}

describe('a deploy in one process, with a store in memory', () => {
  const { close: _close, ...store } = memoryStore();
  changedCodeTable(() => ({ store: { ...store, close: async () => undefined } }));
});

describe('a deploy on LMDB', () => {
  const folder = useFolder();
  changedCodeTable(() => ({ store: lmdbStore(folder()) }));
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
  const folder = useFolder();
  changedCodeTable(() => ({ cluster: nats({ url: used.engine.url }), store: lmdbStore(folder()) }));
});
