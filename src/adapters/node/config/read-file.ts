import type { Stats } from 'node:fs';

// Reads a small file of the operator: all of it, or not at all.

const MAX_TRIES = 5;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

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
  // Not imported: most servers have no such file, and Node takes milliseconds to make `node:fs` a module.
  const { closeSync, constants, fstatSync, openSync, readSync } = process.getBuiltinModule('node:fs');
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
      const bytes = new Uint8Array(before.size + 1);
      const length = readAll(bytes, (from) => readSync(file, bytes, from, bytes.length - from, from));
      const after = fstatSync(file);
      if (length === before.size && after.size === before.size && after.mtimeMs === before.mtimeMs)
        return { text: decoder.decode(bytes.subarray(0, length)), isPublic: (before.mode & 0o004) !== 0 };
    }
    return fail('was changed while it was read. Write another file, and rename it.');
  } finally {
    closeSync(file);
  }
}

function readAll(bytes: Uint8Array, readFrom: (position: number) => number): number {
  let length = 0;
  for (;;) {
    const read = readFrom(length);
    length += read;
    if (read === 0 || length === bytes.length) return length;
  }
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory';
  return stats.isFIFO() ? 'a pipe' : 'a device';
}
