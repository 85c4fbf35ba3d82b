// How this command starts itself again.

import { existsSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** The command line that runs a file of the user on stdin and stdout. */
export function runProcess(file: string, args: readonly string[] = []): { command: string; args: string[] } {
  return {
    command: process.execPath,
    args: [programPath(), 'run', file, ...(args.length > 0 ? ['--', ...args] : [])],
  };
}

/** The file of the command. It is beside its parts in the package; in the repository, the built one is used. */
function programPath(): string {
  const beside = fileURLToPath(new URL('./fullmcp.js', import.meta.url));
  return existsSync(beside)
    ? beside
    : fileURLToPath(new URL('../../../dist/cli/fullmcp.js', import.meta.url));
}
