import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { ended, fixture } from '../processes.js';
import { soon } from '../until.js';

// A client on a server's standard input and output that writes exactly what it is told to.

export interface Answer {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface Pipe extends AsyncDisposable {
  /** Every message so far, in order. */
  readonly received: readonly Answer[];
  /** Sends all of these in one write. */
  readonly write: (...messages: readonly object[]) => void;
  /** The first message that fulfils the condition: a past or a future one. */
  readonly find: (what: string, holds: (message: Answer) => boolean) => Promise<Answer>;
  readonly answerTo: (id: unknown) => Promise<Answer>;
  readonly closeInput: () => void;
  /** Closes the server's input, sends it signals, or both; returns its exit code. */
  readonly end: (...how: readonly ('stdin' | NodeJS.Signals)[]) => Promise<number | null>;
}

/** Starts the fixture with the environment that the most restrictive client passes: HOME and PATH. */
export function openPipe(): Pipe {
  const { HOME, PATH } = process.env;
  const child = spawn(process.execPath, [fixture, 'stdio'], {
    env: { HOME, PATH },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // A server that has already exited breaks the pipe; its exit code says more.
  child.stdin.on('error', () => undefined);
  const received: Answer[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => received.push(JSON.parse(line) as Answer));

  async function find(what: string, holds: (message: Answer) => boolean): Promise<Answer> {
    for (;;) {
      const found = received.find(holds);
      if (found !== undefined) return found;
      await soon(what, Promise.race([once(lines, 'line'), closed()]));
    }
  }

  async function closed(): Promise<never> {
    await once(lines, 'close');
    throw new Error('The server has closed its output');
  }

  function end(...how: readonly ('stdin' | NodeJS.Signals)[]): Promise<number | null> {
    return soon(
      'The end of the process',
      ended(child, () => {
        for (const way of how) {
          if (way === 'stdin') child.stdin.end();
          else child.kill(way);
        }
      }),
    );
  }

  return {
    received,
    write: (...messages) =>
      void child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join('')),
    find,
    answerTo: (id) =>
      find(`The answer to ${JSON.stringify(id)}`, (it) => it.id === id && it.method === undefined),
    closeInput: () => void child.stdin.end(),
    end,
    [Symbol.asyncDispose]: async () => void (await end('SIGKILL')),
  };
}
