import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import process from 'node:process';
import { delay } from '../../../async/delay.js';
import type { TokenLock } from '../../../oauth/client/store/token-store.js';
import { type Generation, Generations } from './generations.js';

// A lock between processes, in files. It ends when it is released, when its time is over, or when its process has died.

const POLL_MS = 20;

interface Held {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  /** The time of the lock's end, in milliseconds since 1970; 0 if it was released. */
  readonly until: number;
  readonly ms: number;
}

/** The locks that this process holds: another process may have had the same number before. */
const own = new Set<string>();

/** Takes the lock of a folder. The returned function releases it. */
export async function lockFolder(folder: string, { ms, signal }: TokenLock): Promise<() => Promise<void>> {
  const lock = new Generations(folder, 'lock');
  const id = randomUUID();
  for (;;) {
    signal?.throwIfAborted();
    const latest = await lock.latest();
    if (latest === undefined || isFree(latest)) {
      own.add(id);
      const held: Held = { id, pid: process.pid, host: hostname(), until: Date.now() + ms, ms };
      if (await lock.advance(latest?.number ?? 0, JSON.stringify(held))) return () => release(lock, id);
      own.delete(id);
    }
    await delay(POLL_MS * (0.5 + Math.random()), signal && { signal });
  }
}

async function release(lock: Generations, id: string): Promise<void> {
  if (!own.delete(id)) return;
  const latest = await lock.latest();
  if (latest === undefined || read(latest)?.id !== id) return;
  await lock.advance(latest.number, JSON.stringify({ until: 0 }));
}

function isFree(generation: Generation): boolean {
  const held = read(generation);
  if (held === undefined) return true;
  const { until, ms, pid, host, id } = held;
  const now = Date.now();
  // A lock that ends later than it could have begun is from before the clock was set back.
  if (!(until > now) || until > now + ms) return true;
  if (host !== hostname()) return false;
  return pid === process.pid ? !own.has(id) : !isAlive(pid);
}

function read({ content }: Generation): Held | undefined {
  try {
    return JSON.parse(content.toString('utf8')) as Held;
  } catch {
    return undefined;
  }
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
