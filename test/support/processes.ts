import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const fixture: string = fileURLToPath(new URL('../fixtures/interop-server.js', import.meta.url));

export interface HttpProcess {
  /** The URL of the Streamable HTTP endpoint; the others are next to it. */
  readonly url: string;
  /** Stops the process as a service manager does, and returns its exit code. */
  readonly stop: () => Promise<number | null>;
}

/** Starts a script whose first line of output has the URL that it serves. */
export async function startHttp(script: string, ...args: string[]): Promise<HttpProcess> {
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const [line] = (await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`The server ended at once, with ${code}`))),
  ])) as [string];
  const url = /https?:\S+/.exec(line)?.[0];
  const stop = (): Promise<number | null> => ended(child, () => child.kill('SIGTERM'));
  if (url !== undefined) return { url, stop };
  await stop();
  throw new Error(`No URL in the server's first line: ${line}`);
}

/** Waits for the end of a process, which may have ended already. */
export async function ended(child: ChildProcess, end: () => unknown): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    end();
    await exit;
  }
  return child.exitCode;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end. */
export function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { env, timeout: 30_000 }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

/** Whether a process runs, even if its parent has died. A dead process that was not reaped yet does not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
  } catch {
    return false;
  }
}
