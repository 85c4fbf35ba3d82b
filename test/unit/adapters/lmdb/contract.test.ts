import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lmdbStore } from 'fullmcp/lmdb';
import { storeContract } from 'fullmcp/testing';
import { afterAll, describe, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'fullmcp-lmdb-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('lmdbStore', () => {
  for (const { name, run } of storeContract({ open: () => lmdbStore(join(folder, 'one')) })) test(name, run);
});
