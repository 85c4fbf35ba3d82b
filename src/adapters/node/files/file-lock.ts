// A lock between processes, in files. It ends when it is released, when its time is over, or when its process has died.

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import process from 'node:process';
import { delay } from '../../../async/delay.js';
import { type Generation, Generations } from './generations.js';

const POLL_MS = 20;
const RELEASED = '{}';

/** The process that has a lock, or had it when it died. */
export interface LockHolder {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  /** The time at which the process started, as the system counts it: a later process may have the same number. */
  readonly start?: string | undefined;
  /** The time at which the lock ends, in milliseconds since 1970. Without it, the lock ends with its process. */
  readonly until?: number;
  readonly ms?: number;
}

/** A lock that was taken. */
export interface FileLock {
  readonly release: () => Promise<void>;
}

export interface FileLockOptions {
  /** The beginning of the names of its files. */
  readonly name: string;
  /** The time after which the lock ends, whoever has it. Default: it does not end while its process lives. */
  readonly ms?: number;
}

/** The locks that this process holds: another process may have had the same number before. */
const own = new Set<string>();

/** Takes the lock of a folder if it is free. Otherwise returns its holder. */
export async function tryLock(
  folder: string,
  { name, ms }: FileLockOptions,
): Promise<FileLock | { readonly holder: LockHolder }> {
  const files = new Generations(folder, name);
  const id = randomUUID();
  for (;;) {
    const latest = await files.latest();
    const holder = latest && read(latest);
    if (holder !== undefined && (await holds(holder))) return { holder };
    own.add(id);
    try {
      const time = ms === undefined ? {} : { until: Date.now() + ms, ms };
      const { start } = await statOf('self');
      const self: LockHolder = { id, pid: process.pid, host: hostname(), start, ...time };
      if (await files.advance(latest?.number ?? 0, JSON.stringify(self)))
        return { release: () => release(files, id) };
    } catch (error) {
      own.delete(id);
      throw error;
    }
    // Another process was faster.
    own.delete(id);
  }
}

/** Takes the lock of a folder, as soon as it is free. */
export async function waitForLock(
  folder: string,
  { signal, ...options }: FileLockOptions & { readonly signal?: AbortSignal | undefined },
): Promise<FileLock> {
  for (;;) {
    signal?.throwIfAborted();
    const lock = await tryLock(folder, options);
    if ('release' in lock) return lock;
    await delay(POLL_MS * (0.5 + Math.random()), signal && { signal });
  }
}

/** Whether a holder is this process, now. */
export function isOwnLock({ id }: LockHolder): boolean {
  return own.has(id);
}

async function release(files: Generations, id: string): Promise<void> {
  if (!own.delete(id)) return;
  const latest = await files.latest();
  if (latest !== undefined && read(latest)?.id === id) await files.advance(latest.number, RELEASED);
}

function read({ content }: Generation): LockHolder | undefined {
  try {
    const holder = JSON.parse(content.toString('utf8')) as LockHolder;
    // The system takes 0 and less for a group of processes, of which some always live.
    const isProcess = Number.isSafeInteger(holder.pid) && holder.pid > 0;
    return isProcess && typeof holder.host === 'string' ? holder : undefined;
  } catch {
    return undefined;
  }
}

async function holds(holder: LockHolder): Promise<boolean> {
  const { id, pid, host, start, until, ms = 0 } = holder;
  const now = Date.now();
  // A lock that ends later than it could have begun is from before the clock was set back.
  if (until !== undefined && (!(until > now) || until > now + ms)) return false;
  if (host !== hostname()) return true;
  // If this process does not have the lock, an earlier process with its number had it, as in a container.
  if (pid === process.pid) return own.has(id);
  if (!isAlive(pid)) return false;
  const found = await statOf(pid);
  return !isDead(found) && (start === undefined || found.start === undefined || found.start === start);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process of another user is alive, too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The state of a process as Linux tells it. Empty on other systems. */
interface ProcessStat {
  readonly state?: string | undefined;
  /** The field `starttime`. */
  readonly start?: string | undefined;
}

async function statOf(pid: number | 'self'): Promise<ProcessStat> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The fields after the name of the program, which may have spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0], start: fields[19] };
}

/** Whether a process has died although it has a number: its parent has not asked how it ended, as the first process of many containers. */
function isDead({ state }: ProcessStat): boolean {
  return state === 'Z' || state === 'X';
}
