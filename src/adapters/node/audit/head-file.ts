import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { type AuditHead, printHead, readHead } from '../../../middleware/audit/chain.js';
import type { Mac } from '../../../middleware/audit/mac.js';

// The file that names the last entry of a log. It always has the same length and is written in place, which needs no space on the disk.

/** The file that names the last entry of a log. */
export class HeadFile {
  readonly #path: string;
  readonly #macs: readonly Mac[];
  #fd: number | undefined;

  constructor(path: string, macs: readonly Mac[]) {
    this.#path = path;
    this.#macs = macs;
  }

  /** The last entry; undefined if there is no file, and `unreadable` if it is not a head, or one with a wrong code. */
  read(): AuditHead | undefined | 'unreadable' {
    try {
      return readHead(this.#macs, readFileSync(this.#path, 'utf8')) ?? 'unreadable';
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  write(head: AuditHead): void {
    this.#fd ??= openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600);
    writeSync(this.#fd, printHead(this.#macs[0] as Mac, head), 0);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
