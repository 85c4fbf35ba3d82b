import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lmdbStore } from 'fullmcp/lmdb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../../src/state/store.js';
import { LmdbProcess } from '../../../support/engines/lmdb.js';
import { eventHistoryCases, numbered, openHistory } from '../../../support/event-history-cases.js';

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

test('A type of events has a tenth of a store on LMDB, where its oldest events make room, and other types keep theirs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-event-history-'));
  const store = lmdbStore(folder, { maxEntries: 10_000 });
  try {
    const few = await openHistory(store, 'few');
    const atFew = await few.tail();
    await few.append([numbered(1)]);
    const many = await openHistory(store, 'many');
    const atMany = await many.tail();
    for (let n = 0; n < 3000; n += 100)
      await many.append(Array.from({ length: 100 }, (_, each) => numbered(n + each)));
    const { events, isTruncated } = await many.read(atMany, 10_000);
    expect(isTruncated).toBe(true);
    expect(events.length).toBeGreaterThanOrEqual(500);
    expect(events.length).toBeLessThanOrEqual(1000);
    expect(events.map(({ eventId }) => eventId)).toEqual(
      events.map((_, at) => numbered(3000 - events.length + at).eventId),
    );
    expect((await few.read(atFew, 10)).events.map(({ eventId }) => eventId)).toEqual(['e1']);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
