// The lines that a server which this command started wrote to stderr: printed if the command fails.

import type { ConnectOptions } from '../../connect/targets/options.js';
import type { Target } from '../../connect/targets/target.js';
import { isObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import { cleanLine } from '../../tooling/clean.js';
import { printLogLine } from '../../tooling/process-output.js';
import { type LineExcerpt, lineExcerpt } from '../../transports/stdio/client/last-lines.js';
import { CommandError, type Exit } from '../command/failures.js';
import type { Output } from '../terminal/output.js';
import { wrapLine } from '../terminal/wrap.js';

const MAX_LINE = 2000;
/** Failures of the server. The others are the user's, and nothing was sent. */
const OF_SERVER: ReadonlySet<Exit> = new Set(['failed', 'protocol', 'timeout']);

/** Keeps the first and the last lines of a server's stderr. */
export class ServerWords {
  readonly #lines: LineExcerpt;
  readonly #typed: string;
  readonly #isStarted: boolean;

  constructor(target: Target, typed: string) {
    const server = typeof target === 'object' && 'command' in target ? target : undefined;
    this.#isStarted = server !== undefined;
    this.#typed = typed;
    this.#lines = lineExcerpt(server?.env ?? {});
  }

  /** The options of `connect` that collect the lines of a server that is started. */
  get options(): Pick<ConnectOptions, 'stderr'> {
    return this.#isStarted ? { stderr: (line) => this.#add(line) } : {};
  }

  /**
   * Prints the lines, if the server may have said there why the command failed. The server has ended by now, and has said all. Returns
   * whether there were any.
   */
  print(error: unknown, out: Output): boolean {
    const lines = this.#lines.lines();
    if (lines.length === 0 || !isOfServer(error)) return false;
    out.redraw('');
    out.note(`${cleanLine(this.#typed, 200)} wrote to standard error:`);
    for (const line of lines)
      out.styledNote(wrapLine(`  ${cleanLine(line, MAX_LINE)}`, out.noteWidth, '      '));
    return true;
  }

  #add(line: string): void {
    for (const part of printLogLine(line).split('\n')) this.#lines.add(part);
  }
}

/** Whether a failure is the server's, and does not have the lines in its message already. */
function isOfServer(error: unknown): boolean {
  if (error instanceof CommandError) return OF_SERVER.has(error.exit);
  if (!McpError.is(error)) return false;
  return error.code !== 'cancelled' && !(isObject(error.data) && 'stderr' in error.data);
}
