import { expect, test } from 'vitest';
import { startPostgres } from '../support/engines/postgres.js';
import { chaos, times } from './chaos.js';

test('nothing is lost or doubled on Postgres when replicas are killed, ended and paused', async () => {
  const server = await startPostgres();
  try {
    const found = await chaos({
      engine: 'postgres',
      url: server.url,
      kills: times(40),
      terminations: times(10),
      pauses: times(10),
    });
    expect(found).toMatchObject({ lost: [], doubled: [], mixed: [], rekeyed: [] });
  } finally {
    await server.stop();
  }
}, 1_800_000);
