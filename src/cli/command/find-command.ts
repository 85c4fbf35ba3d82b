// Finds a command by the words of a line. Names have one to three words.

import type { CommandSummary } from './definition.js';

/** The command whose name the words begin with; of several, the one with the longest name. */
export function findCommand(
  commands: readonly CommandSummary[],
  words: readonly string[],
): CommandSummary | undefined {
  const found = commands.filter(({ name }) => name.split(' ').every((part, at) => words[at] === part));
  return found.sort((a, b) => b.name.length - a.name.length)[0];
}

/** The commands whose names begin with all these words and go on after them. */
export function commandsBelow(
  commands: readonly CommandSummary[],
  words: readonly string[],
): readonly CommandSummary[] {
  return commands.filter(({ name }) => name.startsWith(`${words.join(' ')} `));
}
