// A tape in a file: one line for each event, each written at once and as a whole.

import { closeSync, existsSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { usageError } from '../command/failures.js';

const MAX_BYTES = 1_000_000_000;

export interface TapeOptions {
  /** Whether a file that exists is overwritten. */
  readonly force: boolean;
  /** Called once, if the tape cannot be continued. */
  readonly onProblem: (message: string) => void;
}

/**
 * Writes lines to a file. A process that is killed leaves all lines that were written before. If a line cannot be written, for example because
 * the disk is full, the tape ends with the line before it: a later line could belong to a call that the tape does not have.
 */
export class TapeFile {
  readonly path: string;
  readonly #file: number;
  readonly #onProblem: (message: string) => void;
  #bytes = 0;
  #problem: string | undefined;

  constructor(path: string, { force, onProblem }: TapeOptions) {
    this.path = path;
    this.#onProblem = onProblem;
    this.#file = open(path, force);
  }

  /** The number of bytes that the tape has. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Why the tape is not complete; undefined if it is. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Writes a line. Never throws: the traffic that is recorded continues. */
  write(line: string): void {
    if (this.#problem !== undefined) return;
    const bytes = Buffer.from(`${line}\n`);
    if (this.#bytes + bytes.length > MAX_BYTES) return this.#end('it would be larger than 1 GB');
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
      this.#bytes += bytes.length;
    } catch (error) {
      this.#end((error as Error).message);
      this.#cutOff();
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  #end(reason: string): void {
    this.#problem = `The tape ${this.path} ends here, because a line cannot be written: ${reason}. Calls still pass, but are not recorded.`;
    this.#onProblem(this.#problem);
  }

  // Half a line may have been written.
  #cutOff(): void {
    try {
      ftruncateSync(this.#file, this.#bytes);
    } catch {
      // The reader skips half a line at the end.
    }
  }
}

function open(path: string, force: boolean): number {
  if (path === '' || !existsSync(dirname(path)))
    throw usageError(`The folder of ${JSON.stringify(path)} does not exist.`);
  try {
    // Only the user may read it: secrets are removed as far as they can be recognized.
    return openSync(path, force ? 'w' : 'wx', 0o600);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw usageError(`${path} exists. --force overwrites it.`);
    throw usageError(`The tape ${path} cannot be written: ${message}.`);
  }
}
