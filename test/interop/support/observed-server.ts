import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ended } from '../../support/processes.js';
import { until } from '../../support/until.js';

/** A third-party server, listening in its own process. */
export interface ObservedServer {
  readonly origin: string;
  /** How many HTTP requests it has open. Idle connections do not count. */
  readonly openRequests: () => Promise<number>;
  /** The output of the server. */
  readonly output: () => string;
  readonly stop: () => Promise<void>;
}

const observer = new URL('../fixtures/observed-http.mjs', import.meta.url).href;

/** Starts a script that listens on the port of the variable PORT, or on any. */
export function startObserved(script: string, ...args: readonly string[]): Promise<ObservedServer> {
  return startObservedAt(0, script, ...args);
}

/** Starts a script on a port, such as the one that it had before. */
export async function startObservedAt(
  ownPort: number,
  script: string,
  ...args: readonly string[]
): Promise<ObservedServer> {
  const child = fork(script, args, {
    execArgv: ['--import', observer],
    env: { ...process.env, PORT: String(ownPort) },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-100_000);
    });
  }
  const { port } = await Promise.race([
    next<{ port: number }>(child),
    once(child, 'exit').then(() => Promise.reject(new Error(`The server ended at once:\n${output}`))),
  ]);
  return {
    origin: `http://127.0.0.1:${port}`,
    output: () => output,
    async openRequests() {
      const report = next<{ open: number }>(child);
      child.send('open?');
      return (await report).open;
    },
    stop: async () => void (await ended(child, () => child.kill('SIGKILL'))),
  };
}

async function next<T>(child: ChildProcess): Promise<T> {
  const [message] = await once(child, 'message');
  return message as T;
}

/** Resolves when the server has no open request. */
export function untilNothingOpen({ openRequests }: ObservedServer): Promise<void> {
  return until('no request is open', async () => (await openRequests()) === 0);
}

/** The sockets, pipes and processes that keep this process alive. Idle connections that `fetch` keeps do not count. */
export function activeHandles(): readonly string[] {
  return process
    .getActiveResourcesInfo()
    .filter((kind) => /socket|pipe|process/i.test(kind))
    .sort();
}

/** The path of a file in an installed package. */
export function pathInPackage(path: string): string {
  return fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url));
}

/** The processes below this one whose command contains these words. On Windows, which has no `ps`, none are found. */
export async function processesWith(words: string): Promise<readonly string[]> {
  if (process.platform === 'win32') return [];
  const listing = promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,args=']);
  const rows = (await listing).stdout.split('\n').flatMap((line) => {
    const [, pid, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), args }];
  });
  const below = new Set([process.pid]);
  for (const id of below) {
    for (const { pid, parent } of rows) if (parent === id && pid !== listing.child.pid) below.add(pid);
  }
  return rows.filter(({ pid, args }) => below.has(pid) && args.includes(words)).map(({ args }) => args);
}
