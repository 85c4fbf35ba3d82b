import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lmdbStore } from 'fullmcp/lmdb';
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { Store } from '../../../../src/state/store.js';
import { LmdbProcess } from '../../../support/engines/lmdb.js';
import { eventHistoryCases } from '../../../support/event-history-cases.js';

describe('The log of events on LMDB, shared with another process', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-event-history-'));
  let store: Store;
  let other: LmdbProcess;

  beforeAll(async () => {
    other = await LmdbProcess.start(folder);
    store = lmdbStore(folder);
  });

  afterAll(async () => {
    await store.close();
    await other.end();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const [name, run] of Object.entries(eventHistoryCases))
    test(name, () => run({ store, other: other.store }));
});
