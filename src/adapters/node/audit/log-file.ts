import { close, fdatasync, fsync, open, rename, statSync, write, writeSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { type AuditChain, chainWith } from '../../../middleware/audit/chain.js';
import type { AuditNote } from '../../../middleware/audit/entry.js';
import { type Mac, macsOf } from '../../../middleware/audit/mac.js';
import type { MiddlewareHost } from '../../../state/hosted-middleware.js';
import { isOwnLock, type LockHolder, tryLock } from '../files/file-lock.js';
import { HeadFile } from './head-file.js';
import { nodeMac } from './node-mac.js';
import { type Resumed, resumeLog } from './resume.js';
import { rotatedPath } from './rotated.js';

// The files of a log while a process writes to it. Nothing that was written is ever changed: a write that failed halfway continues
// where it ended.

const file = {
  close: promisify(close),
  sync: promisify(fdatasync),
  syncFolder: promisify(fsync),
  open: promisify(open),
  rename: promisify(rename),
  write: promisify(write),
};

/** The options of a `LogFile`. */
export interface LogFileOptions {
  readonly path: string;
  readonly head: string;
  readonly secret: string | readonly string[] | undefined;
  readonly sync: boolean;
  readonly maxBytes: number;
  readonly log: MiddlewareHost['log'];
}

interface LogFileParts extends Resumed {
  readonly options: LogFileOptions;
  readonly mac: Mac;
  readonly head: HeadFile;
  readonly unlock: () => Promise<void>;
}

/** Opens a log, continues its chain, and writes an entry that says so. */
export async function openLogFile(options: LogFileOptions): Promise<LogFile> {
  const { path, secret, log } = options;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const unlock = await lockLog(path);
  const macs = macsOf(secret, nodeMac);
  if (secret === undefined)
    log(
      'warning',
      `The audit log ${path} has no secret: anybody who can write to it can change it unnoticed.`,
    );
  const head = new HeadFile(options.head, macs);
  try {
    const resumed = await resumeLog({ path, macs, head, log });
    const opened = new LogFile({ ...resumed, options, mac: macs[0] as Mac, head, unlock });
    await opened.start(resumed);
    return opened;
  } catch (error) {
    await unlock();
    throw error;
  }
}

/** One process at a time writes to a log. The lock of a process that has died is free. */
async function lockLog(path: string): Promise<() => Promise<void>> {
  const folder = `${path}.lock`;
  const lock = await tryLock(folder, { name: 'holder' });
  if ('release' in lock) return lock.release;
  throw new Error(`The audit log ${path} is in use by ${describe(lock.holder, folder)}`);
}

function describe(holder: LockHolder, folder: string): string {
  const { pid, host } = holder;
  if (isOwnLock(holder)) return 'this process. Use one `audit` for all its servers.';
  return host === hostname()
    ? `process ${pid}. Give each process a file of its own: {pid} in \`path\`.`
    : `process ${pid} on the host ${host}. If it has ended, delete the folder ${folder}.`;
}

/** A log that is open for writing. */
export class LogFile {
  readonly #parts: LogFileParts;
  readonly #chain: AuditChain;
  #fd: number | undefined;
  #size = 0;
  #inode = 0;
  /** The number of files that were renamed. */
  #number: number;
  /** The entries of a write that has not succeeded yet, and the bytes of them that are still to be written. */
  #unwritten: { readonly entries: readonly AuditNote[]; bytes: Buffer } | undefined;

  constructor(parts: LogFileParts) {
    this.#parts = parts;
    this.#number = parts.number;
    this.#chain = chainWith(parts.mac, parts.start);
  }

  /** Opens the current file. */
  async start({ start, found, lineBreak }: Resumed): Promise<void> {
    try {
      // A log that has entries always has a head, even after a crash right now.
      if (start.seq === 0) this.#parts.head.write(start);
      await this.#open('a');
      const at = new Date().toISOString();
      const line = this.#chain.line({ type: 'open', at, pid: process.pid, host: hostname(), ...found });
      await this.#finish({ bytes: Buffer.from(`${lineBreak}${line}\n`) });
    } catch (error) {
      await this.#closeFiles();
      throw error;
    }
  }

  /** Writes entries. After a failure, call it again with the same ones. */
  async write(entries: readonly AuditNote[]): Promise<void> {
    this.#check();
    if (this.#unwritten?.entries !== entries) {
      const further = await this.#rotate();
      let text = '';
      for (const entry of further) text += `${this.#chain.line(entry)}\n`;
      for (const entry of entries) text += `${this.#chain.line(entry)}\n`;
      this.#unwritten = { entries, bytes: Buffer.from(text) };
    }
    await this.#finish(this.#unwritten);
    this.#unwritten = undefined;
  }

  /** Closes the files, so that another process can write. */
  async close(): Promise<void> {
    await this.#closeFiles();
    await this.#parts.unlock();
  }

  async #finish(unwritten: { bytes: Buffer }): Promise<void> {
    const { options, head } = this.#parts;
    const fd = this.#fd as number;
    while (unwritten.bytes.length > 0) {
      // The operating system takes the bytes of a turn sooner than it could start another thread, unless they must reach the disk.
      const written = options.sync
        ? (await file.write(fd, unwritten.bytes)).bytesWritten
        : writeSync(fd, unwritten.bytes);
      this.#size += written;
      unwritten.bytes = unwritten.bytes.subarray(written);
    }
    if (options.sync) await file.sync(fd);
    head.write(this.#chain.head);
  }

  async #open(flags: 'a' | 'ax'): Promise<void> {
    this.#fd = await file.open(this.#parts.options.path, flags, 0o600);
    const { size, ino } = statSync(this.#parts.options.path);
    this.#size = size;
    this.#inode = ino;
    if (this.#parts.options.sync) await syncFolder(dirname(this.#parts.options.path));
  }

  // Another process may write to the file in spite of the lock, or remove it. Its entries would be lost, or ours.
  #check(): void {
    const { path } = this.#parts.options;
    if (this.#fd === undefined) return;
    const { size, ino } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (ino !== this.#inode)
      throw new Error(`The audit log ${path} was removed or replaced. Put it back, or restart the server.`);
    if (size !== this.#size)
      throw new Error(
        `The audit log ${path} was changed by somebody else: it has ${size} bytes instead of ${this.#size}. Restart the server.`,
      );
  }

  /** Begins another file if the current one is full. Returns the entry that it begins with. */
  async #rotate(): Promise<readonly AuditNote[]> {
    const { path, maxBytes } = this.#parts.options;
    if (this.#fd !== undefined) {
      if (this.#size < maxBytes) return [];
      await file.rename(path, rotatedPath(path, this.#number + 1));
      this.#number++;
      await this.#closeCurrent();
    }
    await this.#open('ax');
    return [{ type: 'file', at: new Date().toISOString(), prev: this.#chain.head.hash }];
  }

  async #closeCurrent(): Promise<void> {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) await file.close(fd);
  }

  async #closeFiles(): Promise<void> {
    await this.#closeCurrent();
    this.#parts.head.close();
  }
}

// The name of a new file is in its folder, which has to reach the disk, too. Windows cannot do that, and need not.
async function syncFolder(folder: string): Promise<void> {
  const fd = await file.open(folder, 'r').catch(() => undefined);
  if (fd === undefined) return;
  await file.syncFolder(fd).catch((error: NodeJS.ErrnoException) => {
    if (process.platform !== 'win32') throw error;
  });
  await file.close(fd);
}
