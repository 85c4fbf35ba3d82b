// Reads a tape, for calls that are to be made again.

import { readFile, stat } from 'node:fs/promises';
import { type Recording, readRecording } from '../../testing/recording/recording.js';
import { usageError } from '../command/failures.js';

const MAX_BYTES = 500_000_000;

/** Reads a tape, or says what is wrong with the file. */
export async function readTape(path: string): Promise<Recording> {
  const text = await readText(path);
  try {
    return readRecording(text);
  } catch (error) {
    throw usageError(`${path} is not a tape. ${(error as Error).message} Make one with: fullmcp record`);
  }
}

async function readText(path: string): Promise<string> {
  try {
    if ((await stat(path)).size > MAX_BYTES) throw new Error('it is larger than 500 MB');
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw usageError(
      code === 'ENOENT' ? `The tape ${path} does not exist.` : `The tape ${path} cannot be read: ${message}.`,
    );
  }
}
