import { writeFile } from 'node:fs/promises';
import { usageError } from '../command/failures.js';

/** Writes a report into the file that was typed. */
export async function saveReport(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw usageError(`The file ${file} cannot be written: ${(error as Error).message}.`);
  }
}
