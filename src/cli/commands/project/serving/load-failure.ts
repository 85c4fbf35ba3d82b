// The reason why a file could not be loaded, in a few lines with the place in the file.

import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { CommandError } from '../../../command/failures.js';

const MAX_REASON = 2000;

/** The failure of a file that threw while it was loaded. */
export function loadFailure(file: string, error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  const stack = (error instanceof Error ? error.stack : undefined) ?? String(error);
  const lines = stack.split('\n');
  const at = lines.findIndex((line) => line.startsWith('    at '));
  const reason = (at === -1 ? lines : lines.slice(0, at)).join('\n').slice(0, MAX_REASON);
  const frame = lines.find(isOfUser);
  const place =
    frame ?? (error instanceof SyntaxError && !reason.startsWith('file:') ? checked(file) : undefined);
  return new CommandError('failed', `${file} could not be loaded.\n${reason}${place ? `\n${place}` : ''}`);
}

function isOfUser(line: string): boolean {
  return (
    line.startsWith('    at ') && /file:|\//.test(line) && !/node:|node_modules|\/dist\/cli\//.test(line)
  );
}

// Node tells the place of a syntax error only to a program that it starts.
function checked(file: string): string | undefined {
  if (!/\.[cm]?js$/i.test(file)) return undefined;
  const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8', timeout: 5000 });
  return stderr.split('\n').slice(0, 3).join('\n').trimEnd() || undefined;
}
