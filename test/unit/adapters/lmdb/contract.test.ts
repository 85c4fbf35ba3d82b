import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { lmdbStore } from 'fullmcp/lmdb';
import { fenceContract, storeContract } from 'fullmcp/testing';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { LmdbProcess, lmdbEntry } from '../../../support/engines/lmdb.js';

const folder = mkdtempSync(join(tmpdir(), 'fullmcp-lmdb-contract-'));
const shared = join(folder, 'shared');
let other: LmdbProcess;

beforeAll(async () => {
  other = await LmdbProcess.start(shared);
});

afterAll(async () => {
  await other.end();
  rmSync(folder, { recursive: true, force: true });
});

describe('lmdbStore', () => {
  for (const { name, run } of storeContract({ open: () => lmdbStore(join(folder, 'alone')) }))
    test(name, run);
});

describe('lmdbStore, shared with another process', () => {
  const openAnother = () => ({ ...other.store, close: async () => undefined });
  for (const { name, run } of storeContract({ open: () => lmdbStore(shared), openAnother })) test(name, run);
});

describe('lmdbStore, shared by two processes', () => {
  const module = join(folder, 'fence', 'open.mjs');
  mkdirSync(join(folder, 'fence'));
  writeFileSync(
    module,
    `import { lmdbStore } from ${JSON.stringify(lmdbEntry)};
    export default () => lmdbStore(${JSON.stringify(join(folder, 'fence', 'store'))});`,
  );
  for (const { name, run } of fenceContract({ module: pathToFileURL(module).href })) test(name, run);
});
