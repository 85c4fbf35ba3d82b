// Changes the configuration file of a host: all of it or nothing, and never over the change of another program.

import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from '../command/failures.js';

const MAX_BYTES = 32 * 1024 * 1024;
const MAX_TRIES = 5;
const LOCK_WAIT_MS = 10_000;

/** The text of a file; undefined if there is none. */
export async function readConfigText(file: string): Promise<string | undefined> {
  try {
    const { size } = await stat(file);
    if (size > MAX_BYTES) throw new CommandError('failed', `${file} is larger than ${MAX_BYTES} bytes.`);
    // With ignoreBOM, a byte order mark is part of the text.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(file));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    if (error instanceof CommandError) throw error;
    const reason = error instanceof TypeError ? 'it is not UTF-8' : (error as Error).message;
    throw new CommandError('failed', `${file} cannot be read: ${reason}. It was not changed.`);
  }
}

/** Where the file as it was before the last change is kept. */
export function backupOf(file: string): string {
  return `${file}.fullmcp.bak`;
}

/**
 * Edits a file. `edit` gets the newest text and returns the new one; it runs again if another program has written the file in
 * between. Returns whether there was a file before.
 */
export async function changeConfigFile(typed: string, edit: (text: string) => string): Promise<boolean> {
  // A link stays a link: its file is changed.
  const file = await realpath(typed).catch(() => typed);
  await mkdir(dirname(file), { recursive: true }).catch((error: unknown) => {
    throw cannotWrite(file, error);
  });
  return await locked(file, async () => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const before = await readConfigText(file);
      const text = edit(before ?? '');
      if (text === before) return true;
      if (before !== undefined) await copyFile(file, backupOf(file));
      if (await replace(file, before, text)) return before !== undefined;
    }
    throw new CommandError(
      'failed',
      `${file} is being changed by another program. It was not changed. Try again.`,
    );
  });
}

/** Writes the new text beside the file and renames it, unless the file has changed. */
async function replace(file: string, before: string | undefined, text: string): Promise<boolean> {
  const mode = before === undefined ? 0o600 : (await stat(file)).mode & 0o777;
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      await handle.chmod(mode);
      await handle.writeFile(text, 'utf8');
      await handle.sync();
    } finally {
      await handle.close();
    }
    if ((await readConfigText(file)) !== before) return false;
    await rename(temporary, file);
    return true;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Two installations at the same time wait for each other. */
async function locked<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = `${file}.fullmcp.lock`;
  const deadline = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      await (await open(lock, 'wx')).close();
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw cannotWrite(file, error);
      if (Date.now() > deadline)
        throw new CommandError(
          'failed',
          `Another program changes ${file}. If there is none, delete ${lock} and try again.`,
        );
      await delay(20);
    }
  }
  try {
    return await work();
  } catch (error) {
    throw error instanceof CommandError ? error : cannotWrite(file, error);
  } finally {
    await rm(lock, { force: true });
  }
}

function cannotWrite(file: string, error: unknown): CommandError {
  return new CommandError(
    'failed',
    `${file} cannot be written: ${(error as Error).message}. It was not changed.`,
  );
}
