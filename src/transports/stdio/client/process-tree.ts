import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { settlesWithin } from '../../../async/deadline.js';
import { delay } from '../../../async/delay.js';
import { systemProgram } from './windows-command.js';

/**
 * A child with all that it has started. Wrappers such as `npx` start the server as a child of their own, and do not always
 * hand on a signal. On POSIX the child leads a process group; on Windows `taskkill` follows the parents.
 */
export interface ProcessTree {
  /** Ends the processes that are left: SIGTERM first, then SIGKILL. Resolves when none is left. */
  readonly end: (options: { readonly termMs: number }) => Promise<void>;
}

/** How a child must be started so that its tree can be ended. */
export const treeOptions: { readonly detached: boolean; readonly windowsHide: true } = {
  detached: process.platform !== 'win32',
  windowsHide: true,
};

// How long the end that nobody can refuse may take: one that hangs in the kernel is not waited for.
const KILL_MS = 1000;

// One listener for all trees: a client may have many servers, and Node warns of more than ten.
const trees = new Set<ChildProcess>();

/** The tree that begins with a child. Until it has ended, the end of this process ends it. */
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

// There is no time to ask, and a server that does not heed the end of its input would keep running forever.
function killAll(): void {
  for (const child of trees) {
    if (process.platform !== 'win32') signalGroup(child, 'SIGKILL');
    else if (isRunning(child)) spawnSync(...taskkill(child));
  }
}

async function endGroup(child: ChildProcess, termMs: number): Promise<void> {
  if (!isGroupAlive(child)) return;
  signalGroup(child, 'SIGTERM');
  if (await goneWithin(child, termMs)) return;
  signalGroup(child, 'SIGKILL');
  await goneWithin(child, KILL_MS);
}

/** Whether there was anything to signal; 0 only asks. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, signal);
  } catch {
    // ESRCH: none is left. EPERM: what is left may not be ended by us; macOS says so of zombies.
    return false;
  }
}

async function goneWithin(child: ChildProcess, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  for (let pause = 5; isGroupAlive(child); pause = Math.min(2 * pause, 50)) {
    if (performance.now() > deadline) return false;
    await delay(pause);
  }
  return true;
}

function isGroupAlive(child: ChildProcess): boolean {
  return signalGroup(child, 0) && (process.platform !== 'linux' || hasLiving(`${child.pid}`));
}

// A zombie can still be signalled, and in a container often nobody reaps those that have lost their parent.
function hasLiving(group: string): boolean {
  const entries = readOr([], () => readdirSync('/proc'));
  return entries.some((entry) => {
    const stat = /^\d/.test(entry) ? readOr('', () => readFileSync(`/proc/${entry}/stat`, 'utf8')) : '';
    // The name comes before, in parentheses, and may be anything.
    const [state, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3);
    return itsGroup === group && state !== 'Z';
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
