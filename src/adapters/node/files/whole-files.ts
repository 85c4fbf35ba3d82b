import { randomUUID } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

// Files that are read and replaced as a whole: the configs and pins of gateways, and the lock files of the command.

/** Reads a file; undefined if it does not exist. */
export async function readIfThere(path: string): Promise<string | undefined> {
  return readFile(pathOf(path), 'utf8').catch(unlessMissing);
}

/** Replaces a file as a whole: after a crash, it is the old one or the new one. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const whole = pathOf(path);
  const part = `${whole}.${randomUUID()}.tmp`;
  try {
    const file = await open(part, 'wx', 0o644);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, whole);
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** A string that changes whenever the file does. */
export async function versionOf(path: string): Promise<string | undefined> {
  const stats = await stat(pathOf(path)).catch(unlessMissing);
  return stats && `${stats.mtimeMs}-${stats.ctimeMs}-${stats.size}-${stats.ino}`;
}

function pathOf(path: string): string {
  return path.startsWith('file:') ? fileURLToPath(path) : path;
}

function unlessMissing(error: unknown): undefined {
  if ((error as { readonly code?: unknown }).code !== 'ENOENT') throw error;
}
