import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import process from 'node:process';

// Checks the data file of an LMDB database before it is opened. LMDB maps the file into memory and does not verify it: a file
// that is not an LMDB database or was cut off ends the process with SIGSEGV or SIGBUS, and an empty one becomes a new store.

const MAGIC = 0xbeefc0de;
const VERSION = 2;
// The positions of the fields in a meta page, whose header has 24 bytes.
const AT = { magic: 24, version: 28, pageSize: 48, freeRoot: 88, mainRoot: 136, lastPage: 144, txn: 152 };
const META_BYTES = 160;
// A new file has two pages, each of which has a meta page.
const MIN_BYTES = 8192;
const NO_ROOT = 0xffff_ffff_ffff_ffffn;

interface Meta {
  readonly pageSize: number;
  readonly roots: readonly bigint[];
  readonly lastPage: number;
  readonly txn: bigint;
}

// Another process may be creating the file, which takes no longer than this.
const CREATION_TRIES = 20;
const CREATION_TRY_MS = 25;

/** Throws if opening the data file would crash LMDB. `lmdb` is the path of that package. */
export function checkDataFile(path: string, lmdb: string): void {
  for (let tries = 1; ; tries++) {
    const problem = problemOf(path, lmdb);
    if (problem === undefined) return;
    if (!problem.mayBeNew || tries === CREATION_TRIES) throw damaged(path, problem.what);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, CREATION_TRY_MS);
  }
}

interface Problem {
  readonly what: string;
  readonly mayBeNew: boolean;
}

function problemOf(path: string, lmdb: string): Problem | undefined {
  let file: number;
  try {
    file = openSync(`${path}/data.mdb`, 'r');
  } catch {
    return undefined; // A new store, or an error that LMDB itself reports.
  }
  try {
    const meta = newestMeta(file);
    // After the meta pages: other processes may write, and the file is extended before a meta page says so.
    const { size } = fstatSync(file);
    if (size === 0) return { what: 'its data file is empty', mayBeNew: true };
    if (meta === undefined)
      return { what: 'its data file is not an LMDB database', mayBeNew: size < MIN_BYTES };
    const { pageSize, roots, lastPage } = meta;
    const isThere = (page: bigint): boolean => page === NO_ROOT || (Number(page) + 1) * pageSize <= size;
    const expectedBytes = (lastPage + 1) * pageSize;
    // Pages at the end that were never needed are not written, so a file may rightly be short.
    if (expectedBytes > size && !(roots.every(isThere) && canBeRead(path, lmdb)))
      return {
        what: `its data file was cut off: it has ${size} of ${expectedBytes} bytes`,
        mayBeNew: false,
      };
    return undefined;
  } finally {
    closeSync(file);
  }
}

function damaged(path: string, what: string): Error {
  return new Error(
    `The store at ${path} is damaged: ${what}. Restore a backup, or delete the folder to begin with an empty store.`,
  );
}

function newestMeta(file: number): Meta | undefined {
  const first = readMeta(file, 0);
  const second = first && readMeta(file, first.pageSize);
  return first && second && (second.txn > first.txn ? second : first);
}

function readMeta(file: number, position: number): Meta | undefined {
  const bytes = Buffer.alloc(META_BYTES);
  if (readSync(file, bytes, { position }) < META_BYTES) return undefined;
  const pageSize = bytes.readUInt32LE(AT.pageSize);
  const isLmdb = bytes.readUInt32LE(AT.magic) === MAGIC && bytes.readUInt16LE(AT.version) === VERSION;
  // A power of two between 256 bytes and 64 kB.
  if (!isLmdb || pageSize < 256 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) return undefined;
  return {
    pageSize,
    roots: [bytes.readBigUInt64LE(AT.freeRoot), bytes.readBigUInt64LE(AT.mainRoot)],
    lastPage: Number(bytes.readBigUInt64LE(AT.lastPage)),
    txn: bytes.readBigUInt64LE(AT.txn),
  };
}

const readAll = `
const { open } = require(process.argv[1]);
const db = open({ path: process.argv[2], noSubdir: false, readOnly: true, maxDbs: 16 });
for (const name of [...db.getKeys()])
  for (const { value } of db.openDB({ name, encoding: 'binary', keyEncoding: 'binary' }).getRange()) value.at(-1);
`;

// Reads everything in a separate process, which may crash.
function canBeRead(path: string, lmdb: string): boolean {
  const { status, error } = spawnSync(process.execPath, ['-e', readAll, lmdb, path], { stdio: 'ignore' });
  return status === 0 || error !== undefined;
}
