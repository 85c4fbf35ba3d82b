import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { settlesWithin } from '../../../async/deadline.js';
import { delay } from '../../../async/delay.js';
import { systemProgram } from './windows-command.js';

/**
 * A child process with all its descendants. Wrappers such as `npx` start the server as a child of their own, and do not always
 * pass on a signal. On POSIX the child leads a process group; on Windows `taskkill` follows the parents.
 */
export interface ProcessTree {
  /** Ends the processes that are left: SIGTERM first, then SIGKILL. Resolves when none is left. */
  readonly end: (options: { readonly termMs: number }) => Promise<void>;
}

/** The options that a child must be started with, so that its tree can be ended. */
export const treeOptions: { readonly detached: boolean; readonly windowsHide: true } = {
  detached: process.platform !== 'win32',
  windowsHide: true,
};

// The time for processes to end after SIGKILL. A process that hangs in the kernel is not waited for.
const KILL_MS = 1000;

// One listener for all trees: a client may have many servers, and Node warns of more than ten.
const trees = new Set<ChildProcess>();

/** The tree of a child. If this process exits before the tree has ended, the tree is killed. */
export function processTree(child: ChildProcess): ProcessTree {
  if (trees.size === 0) process.on('exit', killAll);
  trees.add(child);
  return {
    async end({ termMs }) {
      await (process.platform === 'win32' ? endOnWindows(child) : endGroup(child, termMs));
      trees.delete(child);
      if (trees.size === 0) process.off('exit', killAll);
    },
  };
}

// There is no time for SIGTERM, and a server that ignores the end of its input would run forever.
function killAll(): void {
  for (const child of trees) {
    if (process.platform !== 'win32') signalGroup(child, 'SIGKILL');
    else if (isRunning(child)) spawnSync(...taskkill(child));
  }
}

async function endGroup(child: ChildProcess, termMs: number): Promise<void> {
  if (!isGroupAlive(child)) return;
  signalGroup(child, 'SIGTERM');
  if (await endsWithin(child, termMs)) return;
  signalGroup(child, 'SIGKILL');
  await endsWithin(child, KILL_MS);
}

/** Whether there was a process to signal; the signal 0 only checks that. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, signal);
  } catch {
    // ESRCH: no process is left. EPERM: the rest may not be signalled by us; on macOS this includes zombies.
    return false;
  }
}

async function endsWithin(child: ChildProcess, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  for (let pauseMs = 5; isGroupAlive(child); pauseMs = Math.min(2 * pauseMs, 50)) {
    if (performance.now() > deadline) return false;
    await delay(pauseMs);
  }
  return true;
}

function isGroupAlive(child: ChildProcess): boolean {
  return signalGroup(child, 0) && (process.platform !== 'linux' || hasLiveProcess(`${child.pid}`));
}

// A zombie can still be signalled, and in a container often nothing reaps orphaned zombies.
function hasLiveProcess(group: string): boolean {
  const entries = readOr([], () => readdirSync('/proc'));
  return entries.some((entry) => {
    const stat = /^\d/.test(entry) ? readOr('', () => readFileSync(`/proc/${entry}/stat`, 'utf8')) : '';
    // The fields follow the name, which is in parentheses and may contain anything.
    const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3);
    return processGroup === group && state !== 'Z';
  });
}

function readOr<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

async function endOnWindows(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  const killer = spawn(...taskkill(child));
  const exited = new Promise((resolve) => child.once('exit', resolve));
  killer.once('error', () => child.kill());
  if (!(await settlesWithin(exited, KILL_MS))) child.kill();
}

type Taskkill = [
  file: string,
  args: string[],
  options: { readonly windowsHide: true; readonly stdio: 'ignore' },
];

function taskkill({ pid }: ChildProcess): Taskkill {
  const file = systemProgram('taskkill.exe', process.env);
  return [file, ['/T', '/F', '/PID', String(pid)], { windowsHide: true, stdio: 'ignore' }];
}

function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}
