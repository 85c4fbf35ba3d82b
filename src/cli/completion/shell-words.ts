// The words that a shell passes for completion, and the candidates that it may insert.

import { clean, shellWord } from '../../tooling/clean.js';

const MAX_CANDIDATES = 500;
const MAX_LENGTH = 300;

/** Words as they were meant: bash splits at `:` and `=`, and passes quotes as they were typed. */
export function joined(words: readonly string[], breaks: string): readonly string[] {
  const isBreak = (word: string | undefined): boolean =>
    word !== undefined && word !== '' && [...word].every((one) => ':='.includes(one) && breaks.includes(one));
  const whole: string[] = [];
  words.forEach((word, at) => {
    const isGlued = at > 0 && (isBreak(word) || isBreak(words[at - 1]));
    if (isGlued) whole.push(`${whole.pop() ?? ''}${word}`);
    else whole.push(word);
  });
  return whole.map(unquoted);
}

function unquoted(word: string): string {
  return word.replaceAll(/["'\\]/g, '');
}

/**
 * The candidates that begin with the word, as the shell inserts them. Bash inserts a candidate as it is, so one that is not a plain word
 * is quoted; zsh and fish quote by themselves. A name with characters that a terminal obeys or hides is left out, and so is one of a server
 * that would be read as an option.
 */
export function candidates(
  names: readonly string[],
  word: string,
  { shell, breaks = '' }: { readonly shell: string; readonly breaks?: string },
): readonly string[] {
  const fitting = names.filter(
    (name) => name.startsWith(word) && name.length <= MAX_LENGTH && isVisible(name),
  );
  const unique = [...new Set(fitting)].slice(0, MAX_CANDIDATES);
  if (shell !== 'bash') return unique;
  const start = Math.max(...[':', '='].map((one) => (breaks.includes(one) ? word.lastIndexOf(one) + 1 : 0)));
  return unique.map((name) => shellWord(name.slice(start)));
}

function isVisible(name: string): boolean {
  return name !== '' && clean(name) === name && !/[\n\t]/.test(name);
}

/** Names of a server without those that would be read as options. */
export function withoutOptions(names: readonly string[]): readonly string[] {
  return names.filter((name) => !name.startsWith('-'));
}
