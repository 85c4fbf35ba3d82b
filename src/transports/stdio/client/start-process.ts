import { type ChildProcess, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import process from 'node:process';
import { shorten } from '../../../protocol/encoding/shorten.js';
import { McpError } from '../../../protocol/errors.js';
import { commandName } from '../../client/process-name.js';
import { childEnvironment, variable } from './child-environment.js';
import { treeOptions } from './process-tree.js';
import { findWindowsCommand, windowsStart } from './windows-command.js';

/** A server to start as a process of its own, which speaks over its stdin and stdout. */
export interface ServerProcess {
  /** The program to start: a path, or a name that is looked up in `PATH`. It is not run by a shell. */
  readonly command: string;
  /** The arguments, each as it is. Default: none. */
  readonly args?: readonly string[];
  /**
   * Environment variables for the process. Only a few others are passed on, such as `PATH` and `HOME`; the rest of this
   * process's environment is not.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The working directory. Default: that of this process. */
  readonly cwd?: string;
  /**
   * `inherit` shows the server's stderr; a function receives its lines. Default: the first and last lines are kept for errors.
   */
  readonly stderr?: 'inherit' | ((line: string) => void);
}

const windows = process.platform === 'win32';

/** Starts the process. A failure is thrown, or is the child's `error` event: `startFailure` makes an error of either. */
export function startProcess(server: ServerProcess): ChildProcess {
  const { command, args = [], cwd } = server;
  const env = environmentOf(server);
  const options = {
    ...treeOptions,
    env,
    ...(cwd !== undefined && { cwd }),
    stdio: ['pipe', 'pipe', server.stderr === 'inherit' ? 'inherit' : 'pipe'] as ('pipe' | 'inherit')[],
  };
  if (!windows) return spawn(command, args, options);
  const file = findWindowsCommand(command, { environment: env, cwd: cwd ?? process.cwd(), isFile });
  if (file === undefined) throw Object.assign(new Error('not found'), { code: 'ENOENT' });
  const start = windowsStart(file, args, env);
  return spawn(start.file, start.args, { ...options, windowsVerbatimArguments: start.verbatim });
}

/** The error for a server that could not be started. Arguments and variables may be secret and are not named. */
export function startFailure(server: ServerProcess, cause: unknown): McpError {
  if (McpError.is(cause)) return cause;
  const { code } = cause as NodeJS.ErrnoException;
  return new McpError('connect_failed', reason(server, code), {
    cause: withoutArguments(cause),
    data: { command: commandName(server.command), exitCode: null, signal: null, stderr: [] },
  });
}

function reason(server: ServerProcess, code: string | undefined): string {
  const name = JSON.stringify(commandName(server.command));
  const { command, cwd } = server;
  if (cwd !== undefined && !isFolder(cwd)) {
    return `The folder ${JSON.stringify(cwd)}, in which ${name} was to be started, does not exist.`;
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return `${name} may not be started (${code}). Check that the file is executable and that you may execute it.`;
  }
  if (code !== 'ENOENT') return `${name} could not be started${code === undefined ? '' : ` (${code})`}.`;
  if (isFile(command)) {
    return `${name} could not be started: the interpreter that its first line names was not found.`;
  }
  if (/[\\/]/.test(command)) return `The command ${name} was not found.`;
  const path = variable(environmentOf(server), 'PATH', windows) || 'empty';
  const hint = command.includes(' ') ? ' Arguments belong in "args", not in "command".' : '';
  return `The command ${name} was not found.${hint} PATH, where it was looked for, is ${shorten(path, 1000)}`;
}

function environmentOf({ env }: ServerProcess): Record<string, string> {
  return childEnvironment({ inherited: process.env, overrides: env, windows });
}

// Node's error contains the arguments.
function withoutArguments(error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === undefined ? undefined : { code, syscall: syscall?.split(' ', 1)[0] };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
