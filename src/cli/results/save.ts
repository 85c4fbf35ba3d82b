// Saves the bytes of a result. The name of a file is always the user's.

import { existsSync, writeFileSync } from 'node:fs';
import { dirname, parse } from 'node:path';
import { cleanLine } from '../../tooling/clean.js';
import type { Options, Typed } from '../command/definition.js';
import { CommandError, usageError } from '../command/failures.js';

export const SAVE_OPTIONS: Options = {
  output: { type: 'string', short: 'o', value: 'file', help: 'save the answer to a file' },
  force: { type: 'boolean', help: 'overwrite the file' },
};

/** Bytes of a server. */
export interface SavedBinary {
  readonly bytes: Uint8Array;
  readonly mimeType: string;
}

export interface SavedFile {
  readonly path: string;
  readonly mimeType: string;
  readonly bytes: number;
}

/** The file that was typed; undefined if there is none. Throws if it cannot be written, before anything is sent. */
export function fileToWrite(input: Typed): string | undefined {
  const path = input.text('output');
  if (path === undefined) return undefined;
  if (path === '' || !existsSync(dirname(path)))
    throw usageError(`The folder of ${JSON.stringify(path)} does not exist.`);
  if (!input.flag('force') && existsSync(path)) throw usageError(exists(path));
  return path;
}

/** Saves parts of a result: the first in the file itself, others in files beside it, such as `picture-2.png`. */
export function saveAll(path: string, parts: readonly SavedBinary[], input: Typed): readonly SavedFile[] {
  return parts.map(({ bytes, mimeType }, at) => {
    const file = at === 0 ? path : numbered(path, at + 1);
    write(file, bytes, input.flag('force'));
    input.out.note(`Written to ${file} (${sizeOf(bytes)}).`);
    return { path: file, mimeType, bytes: bytes.length };
  });
}

/** The type and size of bytes, on one line. */
export function described({ bytes, mimeType }: SavedBinary): string {
  return `${cleanLine(mimeType, 80)}  ${sizeOf(bytes)}`;
}

function sizeOf({ length }: Uint8Array): string {
  if (length < 1000) return `${length} B`;
  return length < 1e6 ? `${(length / 1e3).toFixed(1)} kB` : `${(length / 1e6).toFixed(1)} MB`;
}

function numbered(path: string, number: number): string {
  const { ext } = parse(path);
  return `${path.slice(0, path.length - ext.length)}-${number}${ext}`;
}

function write(path: string, bytes: Uint8Array, force: boolean): void {
  try {
    // `wx` also refuses a link that leads to another file.
    writeFileSync(path, bytes, { flag: force ? 'w' : 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(
      'failed',
      code === 'EEXIST' ? exists(path) : `${path} cannot be written (${code}).`,
    );
  }
}

function exists(path: string): string {
  return `${path} exists. --force overwrites it.`;
}
