// The command `fullmcp` in its process: signals, streams and the exit code.

import process from 'node:process';
import { runCommand } from './run.js';
import { isInForeground } from './terminal/keys.js';
import type { Person } from './terminal/person.js';

/** Runs the command that was typed. The exit code of the process is that of the command. */
export async function runProgram(): Promise<void> {
  const stopping = new AbortController();
  let handle: (() => void) | undefined;
  process.on('SIGINT', (signal: NodeJS.Signals | undefined) => {
    endInterruptedLine(signal, process.stderr);
    if (handle !== undefined) return handle();
    // A second time, nothing is waited for.
    if (stopping.signal.aborted) process.exit(130);
    stopping.abort();
  });
  const onInterrupt: Person['onInterrupt'] = (next) => {
    handle = next;
    return () => {
      handle = undefined;
    };
  };
  // `fullmcp … | head` ends the pipe early.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

  process.exitCode = await runCommand(process.argv.slice(2), {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    person: () => person(onInterrupt),
    signal: stopping.signal,
  });
}

/** Ends the line in which a terminal shows `^C`. A line that is being edited has ended itself, and sends no signal of the system. */
export function endInterruptedLine(
  signal: NodeJS.Signals | undefined,
  stderr: { readonly isTTY: boolean; readonly write: (text: string) => unknown },
): void {
  if (signal !== undefined && stderr.isTTY) stderr.write('\n');
}

function person(onInterrupt: Person['onInterrupt']): Person {
  return {
    input: process.stdin,
    output: process.stderr,
    isPresent: process.stdin.isTTY === true && process.stderr.isTTY === true,
    interrupt: () => process.emit('SIGINT'),
    onInterrupt,
    isInForeground,
    openPage: async (url) => (await import('../adapters/node/oauth/open-browser.js')).openBrowser(url),
  };
}
