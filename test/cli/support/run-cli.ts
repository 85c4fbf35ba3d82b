import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { PassThrough, Writable } from 'node:stream';
import { vi } from 'vitest';
import { runCommand } from '../../../src/cli/run.js';

// The logins of the user who runs the tests change nothing in them. The folder is only there while a test needs it.
process.env['FULLMCP_HOME'] ??= join(tmpdir(), `fullmcp-home-${process.pid}`);

// The first command of a process loads the program, which takes long on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

export interface Ran {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The JSON object on stdout. */
  readonly json: <T = Record<string, unknown>>() => T;
}

export interface RunOptions {
  /** Whether stdout and stderr are terminals. Default: false. */
  readonly terminal?: boolean;
  /** Whether stdout is a pipe to another program, although stderr is a terminal. Default: false. */
  readonly piped?: boolean;
  /** The width of the terminal. Default: unknown. */
  readonly columns?: number;
  readonly signal?: AbortSignal;
  /** The variables that say what the terminal can. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /** The keys that a person presses at the terminal. A person is present only if this is given. */
  readonly keys?: string | AsyncIterable<string>;
  /** Called instead of opening a page in a browser. */
  readonly openPage?: (url: string) => Promise<void>;
  /** Called with everything that is written to stderr so far, each time that something is written. */
  readonly onStderr?: (written: string) => void;
  /** The same for stdout. */
  readonly onStdout?: (written: string) => void;
}

/** Runs a command line in this process, as the program itself does. */
export async function fullmcp(
  words: readonly string[],
  {
    terminal = false,
    piped = false,
    columns,
    signal,
    env = {},
    keys,
    openPage = () => Promise.resolve(),
    onStderr,
    onStdout,
  }: RunOptions = {},
): Promise<Ran> {
  const written = { stdout: '', stderr: '' };
  const sink = (
    name: 'stdout' | 'stderr',
  ): { write: (text: string | Uint8Array) => void; isTTY: boolean; columns: number | undefined } => ({
    write: (text) => {
      // Bytes are kept as they are, one character for each.
      written[name] += typeof text === 'string' ? text : Buffer.from(text).toString('latin1');
      if (name === 'stderr') onStderr?.(written.stderr);
      else onStdout?.(written.stdout);
    },
    isTTY: terminal && !(piped && name === 'stdout'),
    columns,
  });
  const stderr = sink('stderr');
  const interrupted = new AbortController();
  let handle: (() => void) | undefined;
  const keyboard = new PassThrough();
  void press(keyboard, keys);
  const exit = await runCommand(words, {
    stdout: sink('stdout'),
    stderr,
    env,
    person: () => ({
      input: keyboard,
      output: new Writable({
        write: (chunk, _encoding, done) => {
          stderr.write(String(chunk));
          done();
        },
      }),
      isPresent: keys !== undefined,
      interrupt: () => (handle ? handle() : interrupted.abort()),
      onInterrupt: (next) => {
        handle = next;
        return () => {
          handle = undefined;
        };
      },
      openPage,
    }),
    signal: signal ?? interrupted.signal,
  });
  return { exit, ...written, json: () => JSON.parse(written.stdout) };
}

async function press(keyboard: PassThrough, keys: RunOptions['keys'] = ''): Promise<void> {
  for await (const some of typeof keys === 'string' ? [keys] : keys) keyboard.write(some);
}
