import { createHook } from 'node:async_hooks';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach } from 'vitest';
import { isAlive } from './processes.js';
import { until } from './until.js';

/**
 * Checks after each test of the file, once the test has closed everything: no socket, pipe, process or timer is in use that was
 * not before, no listener is left on the process, and every `noted` process has ended.
 */
export function leaveNothingBehind({ everyTimer = true }: LeakOptions = {}): void {
  let before: Left;
  const timers = new OwnTimers();
  const inUse = (): Left => used(everyTimer ? handles : handlesAndTimers);
  beforeEach(() => {
    if (everyTimer) timers.watch();
    before = inUse();
  });
  afterEach(async () => {
    let more: string[] = [];
    const isClean = (): boolean => {
      more = [
        ...moreThan(before, inUse()),
        ...timers.left(),
        ...noted()
          .filter(isAlive)
          .map((pid) => `process ${pid}`),
      ];
      return more.length === 0;
    };
    try {
      await until('nothing is left behind', isClean, 9000).catch((error: Error) => {
        throw new Error(`${error.message}: ${more.join('; ')}`);
      });
    } finally {
      timers.unwatch();
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
      folder = undefined;
    }
  });
}

export interface LeakOptions {
  /** Checks every timer, including those that would not keep the process alive. That takes time. */
  readonly everyTimer?: boolean;
}

let folder: string | undefined;

/** A file into which processes of a test write their ids, a line each: they must be gone when it is over. */
export function pidFile(): string {
  folder ??= mkdtempSync(join(tmpdir(), 'fullmcp-faults-'));
  return join(folder, 'pids');
}

function noted(): number[] {
  if (folder === undefined || !existsSync(pidFile())) return [];
  return readFileSync(pidFile(), 'utf8').trim().split('\n').map(Number);
}

type Left = ReadonlyMap<string, number>;

// Only resources that keep the process alive. An idle connection that `fetch` keeps for the next request does
// not; one with a request on it does.
const handles = /Socket|TCP|Pipe|TLS|Process|GetAddrInfo/;
const handlesAndTimers = /Socket|TCP|Pipe|TLS|Process|GetAddrInfo|Timeout/;

function used(kinds: RegExp): Left {
  const left = new Map<string, number>();
  const add = (what: string, count = 1): void => void left.set(what, (left.get(what) ?? 0) + count);
  for (const kind of process.getActiveResourcesInfo()) if (kinds.test(kind)) add(kind);
  for (const event of process.eventNames())
    add(`process.on('${String(event)}')`, process.listenerCount(event));
  return left;
}

function moreThan(before: Left, now: Left): string[] {
  return [...now]
    .filter(([what, count]) => count > (before.get(what) ?? 0))
    .map(([what, count]) => `${what}: ${count} instead of ${before.get(what) ?? 0}`);
}

/** Timers that the code under test has set, including those that would not keep the process alive. */
class OwnTimers {
  readonly #set = new Map<number, string>();
  readonly #hook = createHook({
    init: (id, type) => {
      if (type !== 'Timeout') return;
      const { stackTraceLimit } = Error;
      Error.stackTraceLimit = 12;
      const stack = new Error().stack ?? '';
      Error.stackTraceLimit = stackTraceLimit;
      const line = stack.split('\n').find((at) => at.includes('/src/') && !at.includes('node_modules'));
      if (line !== undefined && !line.includes('/src/server/')) this.#set.set(id, line.trim());
    },
    destroy: (id) => void this.#set.delete(id),
  });

  watch(): void {
    this.#hook.enable();
  }

  unwatch(): void {
    this.#hook.disable();
    this.#set.clear();
  }

  left(): string[] {
    return [...this.#set.values()].map((at) => `a timer, set ${at}`);
  }
}
