import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startNats } from '../support/engines/nats.js';
import { chaos, times } from './chaos.js';

// NATS carries changes and streams. The tasks are in a folder that the replicas of one machine share.
test('nothing is lost or doubled with NATS when replicas are killed, ended and paused', async () => {
  const server = await startNats();
  try {
    const found = await chaos({
      engine: 'nats',
      url: server.url,
      env: { STORE: mkdtempSync(join(tmpdir(), 'fullmcp-chaos-store-')) },
      kills: times(40),
      terminations: times(10),
      pauses: times(10),
    });
    expect(found).toMatchObject({ lost: [], doubled: [], mixed: [], rekeyed: [] });
  } finally {
    await server.stop();
  }
}, 1_800_000);
