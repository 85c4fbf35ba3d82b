import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startNats } from '../support/engines/nats.js';
import { startPostgres } from '../support/engines/postgres.js';
import { startRedis } from '../support/engines/redis.js';
import { chaos, times } from './chaos.js';

// NATS carries changes and streams. Its tasks are in a folder that the replicas of one machine share.
const folder = (): { STORE: string } => ({ STORE: mkdtempSync(join(tmpdir(), 'fullmcp-chaos-store-')) });

test.each([
  ['postgres', () => startPostgres(), () => ({})],
  ['redis', () => startRedis(), () => ({})],
  ['nats', () => startNats(), folder],
] as const)(
  'nothing is lost or doubled on %s when replicas are killed, ended and paused',
  { timeout: 1_800_000 },
  async (engine, start, env) => {
    const server = await start();
    try {
      const { violations, failures, figures } = await chaos({
        engine,
        url: server.url,
        env: env(),
        kills: times(40),
        terminations: times(10),
        pauses: times(10),
      });
      for (const found of Object.values(violations)) expect(found).toEqual([]);
      expect(failures).toEqual([]);
      for (const [name, figure] of Object.entries(figures)) expect(figure, name).toBeGreaterThan(0);
    } finally {
      await server.stop();
    }
  },
);
