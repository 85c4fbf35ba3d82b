// Checks that the processes that have a database open can share it.

import { readFileSync, readlinkSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import process from 'node:process';
import type { Root, Tables } from './tables.js';

// The types that statfs reports on Linux for file systems whose files may be open on several machines.
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x5346414f, 'AFS'],
]);

/** Throws if the folder is on a network file system, where LMDB's locks and its shared memory do not work. */
export function checkFileSystem(path: string): void {
  const name = NETWORK_FILE_SYSTEMS.get(fileSystemOf(resolve(path)) ?? 0);
  if (name !== undefined)
    throw new Error(
      `The store at ${path} is on a network file system (${name}), where LMDB is not safe. Use a folder on a disk of this machine, or a store that is a server: fullmcp/postgres or fullmcp/redis.`,
    );
}

function fileSystemOf(path: string): number | undefined {
  try {
    return statfsSync(path).type >>> 0;
  } catch {
    const parent = dirname(path);
    return parent === path ? undefined : fileSystemOf(parent);
  }
}

/**
 * Throws if another process has the database open that cannot share it with this one: LMDB tells processes apart by their ids, so
 * all must run where these are unique. A process is in LMDB's table of readers from its first read until it exits in any way:
 * the kernel holds its place. The first read must come after all tables are open, because opening one releases the place.
 */
export function checkNeighbours(tables: Tables, path: string): void {
  const { root, homes } = tables;
  // Before the first read, our own id can only be there if this process has opened the database before, or if a process in another
  // container has the same id. In the latter case the read would wait until that process is gone.
  if (readersOf(root).includes(process.pid))
    throw new Error(
      `The store at ${path} is already open in process ${process.pid}: this one, or one with the same number in another container. Open it once in a process, and give each container its own folder.`,
    );
  root.get('');
  const home = homeOf();
  if (homes.get('home') === home) return;
  // In a transaction, so that of two processes that begin at once the second one sees the first.
  const others = root.transactionSync(() => {
    const readers = homes.get('home') === home ? [] : readersOf(root).filter((pid) => pid !== process.pid);
    if (readers.length === 0) void homes.put('home', home);
    return readers;
  });
  if (others.length > 0)
    throw new Error(
      `The store at ${path} is in use by process ${others.join(', ')} of another container or machine. Processes can share it only if they share their process ids: run them in one container, give each its own folder, or use a store that is a server: fullmcp/postgres or fullmcp/redis.`,
    );
}

function readersOf(root: Root): readonly number[] {
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
