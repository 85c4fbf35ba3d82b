// The file of requests in the folder of a project: read with limits, and replaced as a whole, never over the change of somebody else.

import { Buffer } from 'node:buffer';
import { constants, type Stats } from 'node:fs';
import { lstat, open, rename, rm, stat } from 'node:fs/promises';
import {
  MAX_FILE_BYTES,
  NO_REQUESTS,
  parseRequests,
  RequestsError,
  type SavedRequests,
  writeRequests,
} from './saved-request.js';

/** A lock that is older was left by a program that died. */
const ABANDONED_MS = 10_000;

/** A file as it was read. */
export interface LoadedRequests {
  readonly requests: SavedRequests;
  /** The text, to notice a change by another program; undefined if there is no file. */
  readonly text: string | undefined;
}

/** Reads a file. One that does not exist has no requests. */
export async function loadRequests(path: string): Promise<LoadedRequests> {
  const text = await readText(path);
  return { requests: text === undefined ? NO_REQUESTS : parseRequests(text, path), text };
}

/**
 * Changes a file. `change` gets the requests as they are now. With `before`, nothing is written if the file is not as it was then. Returns
 * the requests that the file has afterwards.
 */
export async function changeRequests(
  path: string,
  change: (requests: SavedRequests) => SavedRequests,
  before?: LoadedRequests,
): Promise<LoadedRequests> {
  let requests = NO_REQUESTS;
  const text = await changeText(path, (now) => {
    if (before !== undefined && before.text !== now)
      throw new RequestsError(`${path} was changed in the meantime. Nothing was written. Try again.`);
    const next = writeRequests(change(now === undefined ? NO_REQUESTS : parseRequests(now, path)));
    requireRoom(next, path);
    // A change that makes a file that cannot be read again must not be written.
    requests = parseRequests(next, path);
    return next;
  });
  return { requests, text };
}

/** Changes the text of a file of the project. `change` gets it as it is now, undefined if there is no file. Throws a `RequestsError`. */
export async function changeText(path: string, change: (now: string | undefined) => string): Promise<string> {
  const part = `${path}.part`;
  const file = await openPart(path, part);
  try {
    const now = await readText(path);
    const text = change(now);
    requireRoom(text, path);
    if (text !== now) {
      await file.writeFile(text);
      await file.sync();
      await file.close();
      await rename(part, path);
    }
    return text;
  } catch (error) {
    throw explained(error, path, 'written');
  } finally {
    await file.close().catch(() => undefined);
    await rm(part, { force: true }).catch(() => undefined);
  }
}

function requireRoom(text: string, path: string): void {
  if (Buffer.byteLength(text) > MAX_FILE_BYTES)
    throw new RequestsError(`${path} would be larger than ${MAX_FILE_BYTES / 1e6} MB. Nothing was written.`);
}

/** Opens the new file beside the old one. Only one program can, so that it is a lock as well. */
async function openPart(path: string, part: string): ReturnType<typeof open> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await open(part, 'wx', 0o644);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw explained(error, path, 'written');
      const { mtimeMs } = (await stat(part).catch(() => undefined)) ?? { mtimeMs: 0 };
      if (attempt > 0 || Date.now() - mtimeMs < ABANDONED_MS)
        throw new RequestsError(
          `${path} is being written by another program. Nothing was written. Try again.`,
        );
      await rm(part, { force: true });
    }
  }
}

// A link could lead out of the project, and a pipe never ends. Windows knows neither flag.
const READING = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The text of a file of the project; undefined if there is none. Throws a `RequestsError`. */
export async function readText(path: string): Promise<string | undefined> {
  let file: Awaited<ReturnType<typeof open>> | undefined;
  try {
    checkKind(await lstat(path), path);
    file = await open(path, READING);
    // The file may be another one by now, and it may grow.
    checkKind(await file.stat(), path);
    const bytes = Buffer.alloc(MAX_FILE_BYTES + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length);
      length += bytesRead;
      if (length > MAX_FILE_BYTES) throw tooLarge(path);
      if (bytesRead === 0) return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length));
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw explained(error, path, 'read');
  } finally {
    await file?.close();
  }
}

function checkKind(stats: Stats, path: string): void {
  if (!stats.isFile())
    throw new RequestsError(
      `${path} is not a file, but a ${stats.isSymbolicLink() ? 'link' : 'folder or a device'}.`,
    );
  if (stats.size > MAX_FILE_BYTES) throw tooLarge(path);
}

function tooLarge(path: string): RequestsError {
  return new RequestsError(`${path} is larger than ${MAX_FILE_BYTES / 1e6} MB.`);
}

function explained(error: unknown, path: string, what: 'read' | 'written'): RequestsError {
  if (error instanceof RequestsError) return error;
  const reason = error instanceof TypeError ? 'it is not UTF-8' : (error as Error).message;
  return new RequestsError(`${path} cannot be ${what}: ${reason}.`);
}
