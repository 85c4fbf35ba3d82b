import { runCommand } from '../../../src/cli/run.js';

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
  readonly signal?: AbortSignal;
}

/** Runs a command line in this process, as the program itself does. */
export async function fullmcp(
  words: readonly string[],
  { terminal = false, signal }: RunOptions = {},
): Promise<Ran> {
  const written = { stdout: '', stderr: '' };
  const sink = (name: 'stdout' | 'stderr'): { write: (text: string) => void; isTTY: boolean } => ({
    write: (text) => {
      written[name] += text;
    },
    isTTY: terminal,
  });
  const exit = await runCommand(words, {
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    env: {},
    signal: signal ?? new AbortController().signal,
  });
  return { exit, ...written, json: () => JSON.parse(written.stdout) };
}
