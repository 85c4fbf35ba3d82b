// The disk of a database: its file system, and its free room.

import { statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

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

// A write that the disk rejects is dangerous: lmdb 3.5 prints its message into a buffer that is too small, and the process may
// crash. So nothing is written to a disk that is almost full.
const MIN_FREE_BYTES = 8 * 1024 * 1024;
const LOOK_EVERY_MS = 250;

/** The disk of a folder. */
export class Disk {
  readonly #path: string;
  #hasRoomUntil = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Throws if the disk is almost full. Looks at most four times a second. */
  async ensureRoom(): Promise<void> {
    if (performance.now() < this.#hasRoomUntil) return;
    const { bavail, bsize, blocks } = await statfs(this.#path);
    const free = bavail * bsize;
    // Some file systems do not know their size.
    if (blocks > 0 && free < MIN_FREE_BYTES)
      throw new Error(
        `The store at ${this.#path} could not write to the disk: it is full, with ${free} bytes left. Make room on it.`,
      );
    this.#hasRoomUntil = performance.now() + LOOK_EVERY_MS;
  }
}
