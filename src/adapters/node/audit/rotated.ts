import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** The numbers of the earlier files of a log, the oldest first. */
export async function rotatedNumbers(path: string): Promise<number[]> {
  const prefix = `${basename(path)}.`;
  const names = await readdir(dirname(path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names
    .filter((name) => name.startsWith(prefix) && /^[1-9]\d{0,14}$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)))
    .sort((a, b) => a - b);
}

/** The path of an earlier file of a log. */
export function rotatedPath(path: string, number: number): string {
  return join(dirname(path), `${basename(path)}.${number}`);
}
