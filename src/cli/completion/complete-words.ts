// Completes a command line: commands, options and their values from the definitions, other words from the server.

import type { Command, CommandSummary, Options, Typed } from '../command/definition.js';
import { commandsBelow, findCommand } from '../command/find-command.js';
import { currentLine } from '../command/old-names.js';
import { COMMON, parseInput, placesOf } from '../command/parse.js';
import { configuredServers } from '../target/configured.js';
import { candidates, joined } from './shell-words.js';

type Parts = Pick<Typed, 'out' | 'person' | 'signal' | 'runLine'>;

/** Prints the candidates for the last word, one per line: `fullmcp __complete <shell> [breaks] -- <words>`. Never fails. */
export async function completeWords(
  commands: readonly CommandSummary[],
  typed: readonly string[],
  parts: Parts,
): Promise<void> {
  const at = typed.indexOf('--');
  const [shell = '', breaks = ''] = typed.slice(0, at === -1 ? undefined : at);
  const words = at === -1 ? [] : typed.slice(at + 1);
  const whole = shell === 'bash' ? joined(words, breaks) : words;
  const word = whole.at(-1) ?? '';
  try {
    const names = await namesFor(commands, whole.slice(0, -1), word, parts);
    for (const line of candidates(names, word, { shell, breaks })) parts.out.value(line);
  } catch {
    // A person who presses Tab has asked for nothing that could fail.
  }
}

async function namesFor(
  commands: readonly CommandSummary[],
  typed: readonly string[],
  word: string,
  parts: Parts,
): Promise<readonly string[]> {
  const shown = commands.filter(({ isHidden }) => isHidden !== true);
  const firsts = shown.map(({ name }) => name.split(' ')[0] ?? name);
  if (typed.length === 0) return [...firsts, 'help', 'version'];
  const [first, ...others] = typed;
  if (first === 'help') return others.length === 0 ? firsts : namesFor(commands, others, '', parts);
  const below = commandsBelow(shown, typed);
  if (below.length > 0) return below.map(({ name }) => name.split(' ')[typed.length] ?? '');
  const { words: before } = currentLine(commands, typed);
  const found = findCommand(commands, before);
  if (found === undefined || before.includes('--')) return [];
  const command = await found.load();
  const rest = before.slice(found.name.split(' ').length);
  const options = currentOptions({ ...command.options, ...COMMON });
  const chosen = optionValues(options, rest.at(-1));
  if (chosen) return chosen;
  if (word.startsWith('-')) return Object.keys(options).map((name) => `--${name}`);
  return wordsOf(found.name, command, { rest, word, parts });
}

function currentOptions(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, { now }]) => now === undefined));
}

/** The values of the option that the word before names; undefined if it names none that takes a value. */
function optionValues(options: Options, word = ''): readonly string[] | undefined {
  const entry = Object.entries(options).find(
    ([name, { short }]) => word === `--${name}` || (short !== undefined && word === `-${short}`),
  );
  return entry?.[1].type === 'string' ? (entry[1].choices ?? []) : undefined;
}

async function wordsOf(
  name: string,
  command: Command,
  { rest, word, parts }: { readonly rest: readonly string[]; readonly word: string; readonly parts: Parts },
): Promise<readonly string[]> {
  // The line is not whole yet, so words may be missing.
  const input = parseInput(name, { ...command, words: [0, Number.POSITIVE_INFINITY] }, rest, parts);
  const place = placesOf(command.usage)[input.words.length] ?? '';
  const fixed = fixedWords(place);
  if (fixed.length > 0) return fixed;
  if (place === '<host>') return [...Object.keys((await import('../hosts/hosts.js')).hosts), 'json'];
  if (place.startsWith('[page')) return pageFiles();
  if (/^[<[]target/.test(place)) return [...(await configuredServers(input.text('config'))).keys()];
  if (!command.usage.startsWith('<target>')) return [];
  const { serverNames } = await import('./server-names.js');
  return serverNames(input, { command: name, word });
}

async function pageFiles(): Promise<readonly string[]> {
  const { ownDocumentation } = await import('../docs/documentation.js');
  return ownDocumentation().pages.map(({ file }) => file);
}

/** The words that a place of the usage names, as in `prompt|resource` or `[tools | prompts]`. */
function fixedWords(place: string): readonly string[] {
  const words = place.replaceAll(/[[\] ]/g, '');
  return /^[a-z]+(?:\|[a-z]+)+$/.test(words) ? words.split('|') : [];
}
