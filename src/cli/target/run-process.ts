// How this command starts itself again.

import { existsSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Auth } from '../../protocol/call.js';
import { OPERATOR_VARIABLE } from '../../tooling/operator/operator-methods.js';

/** The settings of a file that is run. */
export interface RunSettings {
  /** The arguments of the file. Default: none. */
  readonly args?: readonly string[] | undefined;
  /** The caller of the server in the file. Default: nobody. */
  readonly caller?: Auth | undefined;
}

/** The command line that runs a file of the user on stdin and stdout, with the variable that makes this command its operator. */
export function runProcess(
  file: string,
  { args = [], caller }: RunSettings = {},
): { command: string; args: string[]; env: Readonly<Record<string, string>> } {
  const as = caller === undefined ? [] : ['--as', JSON.stringify(caller)];
  return {
    command: process.execPath,
    args: [programPath(), 'run', file, ...as, ...(args.length > 0 ? ['--', ...args] : [])],
    env: { [OPERATOR_VARIABLE]: '1' },
  };
}

/** The file of the command. It is beside its parts in the package; in the repository, the built one is used. */
function programPath(): string {
  const beside = fileURLToPath(new URL('./fullmcp.js', import.meta.url));
  return existsSync(beside)
    ? beside
    : fileURLToPath(new URL('../../../dist/cli/fullmcp.js', import.meta.url));
}
