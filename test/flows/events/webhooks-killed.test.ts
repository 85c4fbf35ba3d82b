import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type EventChaosPlan, survive } from '../../chaos/events.js';
import { describeWithPostgres } from '../../support/engines/postgres.js';
import { describeWithRedis, startRedis } from '../../support/engines/redis.js';

// A small run of what `npm run chaos` does with events.

async function check(plan: Omit<EventChaosPlan, 'events' | 'kills'>): Promise<void> {
  const { figures, ...broken } = await survive({ ...plan, events: 400, kills: 4 });
  expect(broken).toEqual({ lost: [], doubled: [], disordered: [] });
  expect(figures).toMatchObject({ 'workers killed': 4, 'receivers killed': 4, 'followers killed': 4 });
}

const TIMEOUT = { timeout: 600_000 };

test('no event is lost, and none has two ids, when processes are killed on LMDB', TIMEOUT, async () => {
  const path = mkdtempSync(join(tmpdir(), 'fullmcp-webhooks-'));
  await check({ engine: 'lmdb', address: path });
  rmSync(path, { recursive: true, force: true });
});

describeWithPostgres('webhooks on Postgres', (server) => {
  test('no event is lost, and none has two ids, when processes are killed', TIMEOUT, () =>
    check({ engine: 'postgres', address: server().url }),
  );
});

describeWithRedis('webhooks on Redis', () => {
  test('no event is lost, and none has two ids, when processes are killed', TIMEOUT, async () => {
    const server = await startRedis();
    await check({ engine: 'redis', address: server.url });
    await server.stop();
  });
});
