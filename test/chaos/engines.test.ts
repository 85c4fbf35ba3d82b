import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startNats } from '../support/engines/nats.js';
import { startPostgres } from '../support/engines/postgres.js';
import { startRedis } from '../support/engines/redis.js';
import { type ChaosPlan, chaos, sizeOfRun } from './chaos.js';
import type { TransferRow } from './history.js';

/** An engine that runs, and what the replicas and the test do with it. */
interface Engine extends Pick<ChaosPlan, 'url' | 'env' | 'rows'> {
  readonly stop: () => Promise<void>;
}

const engines = {
  async postgres(): Promise<Engine> {
    const { url, query, remove } = await startPostgres();
    // Without a unique index: a row that is written twice must be seen.
    await query('CREATE TABLE transfer (job text, step int, nonce text)');
    const rows = (): Promise<TransferRow[]> => query<TransferRow>('SELECT job, step, nonce FROM transfer');
    return { url, rows, env: { TRANSFERS: 'transfer' }, stop: remove };
  },
  async redis(): Promise<Engine> {
    const server = await startRedis();
    return { url: server.url, stop: () => server.stop() };
  },
  // NATS carries changes and streams. Its tasks are in a folder that the replicas of one machine share.
  async nats(): Promise<Engine> {
    const nats = await startNats();
    const folder = mkdtempSync(join(tmpdir(), 'fullmcp-chaos-store-'));
    const stop = async (): Promise<void> => {
      await nats.stop();
      rmSync(folder, { recursive: true, force: true });
    };
    return { url: nats.url, stop, env: { STORE: folder } };
  },
};

test.each(Object.entries(engines))(
  'nothing is lost or doubled on %s when replicas are killed, ended and paused',
  { timeout: 3_600_000 },
  async (engine, start) => {
    const { stop, ...parts } = await start();
    try {
      const { violations, failures, figures } = await chaos({ ...parts, ...sizeOfRun(), engine });
      for (const found of Object.values(violations)) expect(found).toEqual([]);
      expect(failures).toEqual([]);
      for (const [name, figure] of Object.entries(figures)) expect(figure, name).toBeGreaterThan(0);
    } finally {
      await stop();
    }
  },
);
