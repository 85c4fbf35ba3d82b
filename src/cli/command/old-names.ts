// The names that commands had in earlier versions. They work until 2.0, and say on stderr what to type instead.

import { existsSync } from 'node:fs';
import { deprecationWarning } from '../../protocol/deprecation.js';
import { closestName } from '../../schema/explain/closest-name.js';
import type { CommandSummary } from './definition.js';
import { commandsBelow, findCommand } from './find-command.js';

/** A name that is gone, and the words that take its place. */
interface OldName {
  readonly name: string;
  readonly now: string;
  /** Whether the name stays: nothing is said about it. */
  readonly isAlias?: boolean;
}

const OLD_NAMES: readonly OldName[] = [
  { name: 'verify', now: 'lock --check' },
  { name: 'conformance', now: 'doctor --conformance' },
  { name: 'card', now: 'publish card' },
  { name: 'bundle', now: 'publish bundle' },
  { name: 'publish', now: 'publish registry' },
  { name: 'auth cimd create', now: 'auth client create' },
  { name: 'auth cimd validate', now: 'auth client validate' },
  { name: 'ping', now: 'info', isAlias: true },
];

/** A line with the names of today. */
export interface CurrentLine {
  readonly words: readonly string[];
  /** The number of words that were the name; 0 if the name is not an old one. */
  readonly length: number;
  /** The sentence about the new name; undefined if there is none. */
  readonly note: string | undefined;
}

/** Replaces an old name at the beginning of a line. */
export function currentLine(commands: readonly CommandSummary[], typed: readonly string[]): CurrentLine {
  const old = OLD_NAMES.find(({ name }) => name.split(' ').every((part, at) => typed[at] === part));
  if (old === undefined || isCurrent(commands, typed)) return { words: typed, length: 0, note: undefined };
  const length = old.name.split(' ').length;
  return {
    words: [...old.now.split(' '), ...typed.slice(length)],
    length,
    note: old.isAlias ? undefined : renamed(`fullmcp ${old.name}`, `fullmcp ${old.now}`),
  };
}

/** The sentence about something that has another name now. */
export function renamed(old: string, now: string): string {
  return deprecationWarning('FMDEP006', `\`${old}\` is now \`${now}\`. The old form works until 2.0.`);
}

/** Whether the line has a name of today, such as `publish card`, or asks for help about several of them. */
function isCurrent(
  commands: readonly CommandSummary[],
  [first = '', second = '']: readonly string[],
): boolean {
  if (findCommand(commands, [first, second]) !== undefined) return true;
  const below = commandsBelow(commands, [first]).map(({ name }) => name.split(' ')[1] ?? '');
  if (below.length === 0) return false;
  if (second === '--help' || second === '-h') return true;
  return !existsSync(second) && closestName(second, below) !== undefined;
}
