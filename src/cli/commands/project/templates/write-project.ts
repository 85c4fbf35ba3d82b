// Writes the files of a new project, and never over other files.

import { lstatSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { usageError } from '../../../command/failures.js';
import type { Files } from './template.js';

/** Writes the files into a folder. Writes none if one of them exists already. */
export async function writeProject(folder: string, files: Files): Promise<void> {
  const taken = Object.keys(files).filter((path) => isTaken(join(folder, path)));
  if (taken.length > 0)
    throw usageError(
      `${folder} already has ${taken.slice(0, 5).join(', ')}${taken.length > 5 ? ` and ${taken.length - 5} more files` : ''}. Nothing was written: choose another folder.`,
    );
  try {
    for (const [path, text] of Object.entries(files)) {
      const file = join(folder, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text, { flag: 'wx' });
    }
  } catch (error) {
    throw usageError(`${folder} cannot be written: ${(error as Error).message}. Choose another folder.`);
  }
}

/** A link that leads nowhere counts, too. */
function isTaken(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // The folder is a file. Writing fails, and says so.
    return false;
  }
}
