// Checks that the processes that have a database open can share it.

import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import process from 'node:process';
import type { LmdbRoot, Tables } from './tables.js';

/** The longest time that a process may take to look at the table of readers. */
const LOOK_MS = 5000;

/**
 * Throws if another process has the database open that cannot share it with this one: LMDB tells processes apart by their ids, so
 * all must run where these are unique. A process is in LMDB's table of readers from its first read until it exits in any way:
 * the kernel holds its place. The first read must come after all tables are open, because opening one releases the place.
 */
export function checkNeighbours({ root, homes }: Tables, path: string): void {
  const { pid } = process;
  checkOwnId(root, path);
  const home = homeOf();
  // Written only if it is not there: the database is also reopened when the disk is full.
  const settle = (): void => void (homes.get(pid) === home || homes.put(pid, home));
  // A process says where it runs before its first read, and looks at the others after it. So of two that begin at once, at least
  // one sees the other, and where that one runs.
  root.transactionSync(settle);
  root.get('');
  const strangers = root.transactionSync(() => {
    const readers = new Set(readersOf(root));
    const others = [...homes.getRange()].filter(({ value }) => value !== home).map(({ key }) => key);
    for (const other of others) if (!readers.has(other)) void homes.remove(other);
    settle();
    return others.filter((other) => readers.has(other));
  });
  if (strangers.length > 0)
    throw new Error(
      `The store at ${path} is in use by process ${strangers.join(', ')} of another container or machine. Processes can share it only if they share their process ids: run them in one container, give each its own folder, or use a store that is a server: fullmcp/postgres or fullmcp/redis.`,
    );
}

/**
 * Throws if a process with the id of this one has the database open: this one, or one in another container. A read would then wait
 * until that process is gone, so this comes before every read.
 */
export function checkOwnId(root: LmdbRoot, path: string): void {
  const { pid } = process;
  const isThere = (): boolean => readersOf(root).includes(pid);
  if (!isThere()) return;
  forgetDeadNamesake(path);
  if (isThere())
    throw new Error(
      `The store at ${path} is already open in process ${pid}: this one, or one with the same number in another container. Open it once in a process, and give each container its own folder.`,
    );
}

// A process that was killed keeps its place until another process looks. LMDB takes a place with its own id for its own, so only a
// process with another id can tell whether the kernel still holds it: in a container, ids are soon used again.
function forgetDeadNamesake(path: string): void {
  const lmdb = createRequire(import.meta.url).resolve('lmdb');
  const look = `require(process.argv[1]).open({ path: process.argv[2], noSubdir: false, maxDbs: 16 }).readerCheck()`;
  spawnSync(process.execPath, ['-e', look, lmdb, path], { stdio: 'ignore', timeout: LOOK_MS });
}

function readersOf(root: LmdbRoot): readonly number[] {
  root.readerCheck();
  // A line of headings, then a line for each reader: process, thread, transaction.
  const lines = root.readerList().split('\n').slice(1);
  const pids = lines.map((line) => Number.parseInt(line, 10)).filter((pid) => !Number.isNaN(pid));
  return [...new Set(pids)];
}

/** Where the ids of processes are unique: this start of the machine, and this namespace. */
function homeOf(): string {
  return [
    read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    read(() => readlinkSync('/proc/self/ns/pid')),
  ].join(' ');
}

// Only Linux has containers and these files.
function read(file: () => string): string {
  try {
    return file().trim();
  } catch {
    return '';
  }
}
