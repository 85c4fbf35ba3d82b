import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ServeOptions } from 'fullmcp/node';
import { until } from '../../support/until.js';

// Processes that a test shuts down.

const program = fileURLToPath(new URL('./served.mjs', import.meta.url));
/** The time for a process to start on a machine that is busy. */
const START_MS = 60_000;
const SECRET = 'a secret that all processes of the test share';

export interface Settings
  extends Pick<ServeOptions, 'drainMs' | 'shutdownDelayMs' | 'exit' | 'workers' | 'port'> {
  readonly name?: string;
  /** The time that the lifespan takes to open. */
  readonly startMs?: number;
  readonly fails?: boolean;
  readonly closes?: 'never' | 'badly';
}

export interface Served {
  readonly url: string;
  readonly child: ChildProcess;
  readonly lines: readonly string[];
  readonly stderr: () => string;
  /** Resolves with the exit code and the signal that ended the process. */
  readonly exit: Promise<readonly [number | null, NodeJS.Signals | null]>;
  /** Waits for a line of output. */
  readonly says: (line: string) => Promise<void>;
  /** The status of `/ready`; undefined if nobody replies. */
  readonly ready: () => Promise<number | undefined>;
}

const running = new Set<ChildProcess>();

/** Starts a process, and does not wait until it serves. */
export function begin(settings: Settings = {}): Omit<Served, 'url' | 'ready'> {
  const child = spawn(process.execPath, [program, JSON.stringify(settings)], {
    env: { ...process.env, MCP_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const exit = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return [code, signal] as const;
  });
  const says = (line: string): Promise<void> =>
    until(
      `the process says "${line}"`,
      () => {
        if (child.exitCode !== null && !lines.includes(line)) throw new Error(`It ended: ${stderr}`);
        return lines.includes(line);
      },
      START_MS,
    );
  return { child, lines, stderr: () => stderr, exit, says };
}

/** Starts a process that serves. */
export async function start(settings: Settings = {}): Promise<Served> {
  const begun = begin(settings);
  const { lines, stderr, child } = begun;
  const isUrl = (line: string): boolean => line.startsWith('http');
  await until(
    'the process serves',
    () => {
      if (child.exitCode !== null) throw new Error(`It ended: ${stderr()}`);
      return lines.some(isUrl);
    },
    START_MS,
  );
  const url = String(lines.find(isUrl)).replace('localhost', '127.0.0.1');
  const ready = async (): Promise<number | undefined> =>
    (await fetch(url.replace('/mcp', '/ready')).catch(() => undefined))?.status;
  return { ...begun, url, ready };
}

/** Ends the processes that a failed test has left behind. */
export function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}
