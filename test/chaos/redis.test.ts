import { expect, test } from 'vitest';
import { startRedis } from '../support/engines/redis.js';
import { chaos, times } from './chaos.js';

test('nothing is lost or doubled on Redis when replicas are killed, ended and paused', async () => {
  const server = await startRedis();
  try {
    const found = await chaos({
      engine: 'redis',
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
