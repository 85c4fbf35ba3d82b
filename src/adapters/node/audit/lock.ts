import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import process from 'node:process';
import { Generations } from '../oauth/generations.js';

// One process at a time writes to a log. The lock of a process that has died is free.

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** The time at which the process started, as the system counts it: a later process may have the same number. */
  readonly start: string | undefined;
}

const RELEASED = '{}';

/** The logs that this process writes. */
const own = new Set<string>();

/** Takes the lock of a log. The returned function releases it. Throws if another process, or this one, has it. */
export async function lockLog(path: string): Promise<() => Promise<void>> {
  const folder = `${path}.lock`;
  const lock = new Generations(folder, 'holder');
  if (own.has(folder)) throw inUse(path, 'this process', 'Use one `audit` for all its servers.');
  own.add(folder);
  try {
    const latest = await lock.latest();
    const holder = latest && read(latest.content);
    if (holder !== undefined && (await mayBeAlive(holder))) throw heldBy(holder, path, folder);
    const self: Holder = { pid: process.pid, host: hostname(), start: await startOf('self') };
    if (!(await lock.advance(latest?.number ?? 0, JSON.stringify(self))))
      throw inUse(path, 'another process', 'Give each process a file of its own: {pid} in `path`.');
  } catch (error) {
    own.delete(folder);
    throw error;
  }
  return async function release() {
    own.delete(folder);
    const latest = await lock.latest();
    if (latest !== undefined && read(latest.content)?.pid === process.pid)
      await lock.advance(latest.number, RELEASED);
  };
}

function heldBy({ pid, host }: Holder, path: string, folder: string): Error {
  return host === hostname()
    ? inUse(path, `process ${pid}`, 'Give each process a file of its own: {pid} in `path`.')
    : inUse(path, `process ${pid} on the host ${host}`, `If it has ended, delete the folder ${folder}.`);
}

function inUse(path: string, holder: string, advice: string): Error {
  return new Error(`The audit log ${path} is in use by ${holder}. ${advice}`);
}

function read(content: Buffer): Holder | undefined {
  try {
    const holder = JSON.parse(content.toString('utf8')) as Holder;
    return Number.isSafeInteger(holder.pid) && typeof holder.host === 'string' ? holder : undefined;
  } catch {
    return undefined;
  }
}

async function mayBeAlive({ pid, host, start }: Holder): Promise<boolean> {
  if (host !== hostname()) return true;
  // This process does not have the lock, so an earlier process with its number had it, as in a container.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // The process of another user is alive, too.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const now = await startOf(pid);
  return start === undefined || now === undefined || now === start;
}

/** The field `starttime` of Linux, after the name of the program, which may have spaces; undefined on other systems. */
async function startOf(pid: number | 'self'): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}
