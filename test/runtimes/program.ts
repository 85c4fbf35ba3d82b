import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

// Programs in other runtimes than Node.

const root = new URL('../../', import.meta.url);
export const secret = 'a secret that is long enough to be one';

/** The path of a file of the project. */
export function at(path: string): string {
  return fileURLToPath(new URL(path, root));
}

/** A program that serves. */
export interface Running extends AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
  /** Resolves with the exit code and the signal. */
  readonly exited: Promise<unknown[]>;
}

/** Starts a program, and waits until it replies at `/health`. */
export async function start(
  command: string,
  args: readonly string[],
  { port, env }: { readonly port: number; readonly env: Readonly<Record<string, string>> },
): Promise<Running> {
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const exited = once(child, 'exit');
  while (!(await replies(url))) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${command} ended before it served:\n${output}`);
    await delay(20);
  }
  return {
    url,
    child,
    exited,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function replies(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health`);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
