import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Compiles the examples, if they have changed. */
export async function build(): Promise<void> {
  await promisify(execFile)(process.execPath, ['scripts/build.js'], { cwd: root });
}

/** An example run as a separate program. */
export interface Program extends AsyncDisposable {
  readonly child: ChildProcess;
  /** The next line of its output; undefined when there are no more. */
  readonly line: () => Promise<string | undefined>;
  readonly send: (message: object) => void;
  /** Ends its input and returns its exit code. */
  readonly end: () => Promise<number | null>;
  readonly errors: () => string;
}

export function run(script: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Program {
  const child = spawn(process.execPath, [`build/examples/${script}`, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const exited = once(child, 'close');
  return {
    child,
    line: async () => (await lines.next()).value as string | undefined,
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    async end() {
      child.stdin.end();
      return ((await exited) as [number | null])[0];
    },
    errors: () => errors,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
