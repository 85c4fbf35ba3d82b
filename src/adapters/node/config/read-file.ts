import { Buffer } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';

// Reads a small file of the operator: all of it, or not at all.

const MAX_TRIES = 5;

/** A file as it was when it was read. */
export interface SmallFile {
  readonly text: string;
  /** Whether every user of this machine may read it. Unknown on Windows. */
  readonly isPublic: boolean;
}

/** Reads a file. Throws an error that begins with `what` and the path. */
export function readSmallFile(path: string, what: string, maxBytes: number): SmallFile {
  const fail = (problem: string): never => {
    throw new Error(`${what} ${path} ${problem}`);
  };
  let file: number;
  try {
    // A pipe without a writer would otherwise block the process.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    return fail(`cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  try {
    for (let n = 0; n < MAX_TRIES; n++) {
      const before = fstatSync(file);
      if (!before.isFile()) fail(`is ${kindOf(before)}, not a file.`);
      if (before.size > maxBytes) fail(`has ${before.size} bytes; at most ${maxBytes} are read.`);
      // One byte more than there should be, to notice a file that grows.
      const bytes = Buffer.alloc(before.size + 1);
      const length = readAll(file, bytes);
      const after = fstatSync(file);
      if (length === before.size && after.size === before.size && after.mtimeMs === before.mtimeMs)
        return { text: bytes.toString('utf8', 0, length), isPublic: (before.mode & 0o004) !== 0 };
    }
    return fail('was changed while it was read. Write another file, and rename it.');
  } finally {
    closeSync(file);
  }
}

function readAll(file: number, bytes: Buffer): number {
  let length = 0;
  for (;;) {
    const read = readSync(file, bytes, length, bytes.length - length, length);
    length += read;
    if (read === 0 || length === bytes.length) return length;
  }
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory';
  return stats.isFIFO() ? 'a pipe' : 'a device';
}
