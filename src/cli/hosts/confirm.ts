// Asks before something is changed.

import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import type { Typed } from '../command/definition.js';
import { CommandError, usageError } from '../command/failures.js';

/** Returns if the user says yes, or has said it before with `--yes`. */
export async function confirm(input: Typed, question: string): Promise<void> {
  if (input.flag('yes')) return;
  if (!input.out.isWatched || process.stdin.isTTY !== true)
    throw usageError('Nothing was changed. Add --yes to change it, or --dry-run to look only.');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(`${question} (y/N) `, { signal: input.signal });
    if (!/^y(?:es)?$/i.test(answer.trim())) throw new CommandError('failed', 'Nothing was changed.');
  } finally {
    lines.close();
  }
}
