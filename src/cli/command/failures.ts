// Failures of a command, and the exit codes that scripts rely on.

import { McpError } from '../../protocol/errors.js';

/** The exit codes. They are documented, and never change their meaning. */
export const EXIT = {
  done: 0,
  /** The tool answered with an error; or, for a command that checks something, it found something. */
  failed: 1,
  /** Used wrongly: nothing was sent. */
  usage: 2,
  connect: 3,
  protocol: 4,
  /** A question came, and nobody was there to answer. */
  unanswered: 5,
  unauthorized: 6,
  timeout: 7,
  interrupted: 130,
} as const;

export type Exit = keyof typeof EXIT;

/** A failure that the user can do something about: one or two lines, without a stack trace. */
export class CommandError extends Error {
  readonly exit: Exit;
  /** More facts for `--json`. */
  readonly data: Readonly<Record<string, unknown>>;

  constructor(exit: Exit, message: string, data: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = 'CommandError';
    this.exit = exit;
    this.data = data;
  }
}

/** A check that found something: `--json` prints the answer itself, the terminal has it already and gets one line more. */
export class FoundError extends CommandError {
  readonly answer: object;

  constructor(message: string, answer: object) {
    super('failed', message);
    this.name = 'FoundError';
    this.answer = answer;
  }
}

/** A failure that was printed already. */
export class ReportedError extends CommandError {
  constructor(code: number) {
    const exit = (Object.keys(EXIT) as Exit[]).find((key) => EXIT[key] === code);
    super(exit ?? 'failed', '');
    this.name = 'ReportedError';
  }
}

export function usageError(message: string, data?: Readonly<Record<string, unknown>>): CommandError {
  return new CommandError('usage', message, data);
}

/** The error as a user can understand it. */
export function explained(error: unknown): unknown {
  const { syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return syscall === 'uv_cwd' ? usageError('The current folder was deleted. Change to another one.') : error;
}

/** The exit code for anything that was thrown. */
export function exitOf(error: unknown): Exit {
  if (error instanceof CommandError) return error.exit;
  if (!(error instanceof McpError)) return 'protocol';
  switch (error.code) {
    case 'connect_failed':
    case 'unsupported_version':
    case 'connection_closed':
      return 'connect';
    case 'unauthorized':
    case 'forbidden':
      return 'unauthorized';
    case 'timeout':
      return 'timeout';
    case 'cancelled':
      return 'interrupted';
    case 'tool_failed':
      return 'failed';
    default:
      return 'protocol';
  }
}

/** A failure as `--json` prints it. */
export function failureJson(error: unknown): object {
  if (error instanceof FoundError) return error.answer;
  const message = error instanceof Error ? error.message : String(error);
  const data = error instanceof CommandError ? error.data : {};
  const code = error instanceof McpError ? { code: error.code } : {};
  return { ok: false, error: { kind: exitOf(error), message, ...code, ...data } };
}
