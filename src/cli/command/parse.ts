// Reads what a user typed, by the definition of the command.

import { parseArgs } from 'node:util';
import { readDuration } from '../../protocol/checks/duration.js';
import { closestName } from '../../schema/explain/closest-name.js';
import type { Command, Option, Options, Typed } from './definition.js';
import { usageError } from './failures.js';
import { renamed } from './old-names.js';

/** The options that every command has. */
export const COMMON: Options = {
  json: { type: 'boolean', help: 'print one JSON object, also for errors' },
  debug: { type: 'boolean', help: 'print stack traces' },
  help: { type: 'boolean', short: 'h', help: 'print this help' },
};

type ParseParts = Pick<Typed, 'out' | 'person' | 'signal' | 'runLine'> & {
  /** The words before the name of the command, in errors. Default: those of a shell. */
  readonly program?: string;
};

/** Reads the words and options of a command. Throws an error that says what is wrong before anything is done. */
export function parseInput(
  name: string,
  command: Command,
  typed: readonly string[],
  { program = 'fullmcp ', ...more }: ParseParts,
): Typed {
  const at = typed.indexOf('--');
  const process = at === -1 ? undefined : typed.slice(at + 1);
  const own = at === -1 ? typed : typed.slice(0, at);
  const options = { ...command.options, ...COMMON };
  const { values, words } = read(name, options, own);
  if (process?.length === 0) throw usageError('A command must follow `--`.');
  const count = words.length + (process ? 1 : 0);
  const [least, most] = command.words;
  if (count < least)
    throw usageError(missingWords(program + name, command, words.length, process !== undefined));
  if (count > most)
    throw usageError(
      `${JSON.stringify(words.at(-1))} is one word too many. The command takes: ${program}${name} ${command.usage}`,
    );
  for (const [option, { now }] of Object.entries(command.options))
    if (now !== undefined && values[option] !== undefined)
      more.out.note(renamed(`fullmcp ${name} --${option}`, now));
  return {
    words,
    process,
    text: (option) => textsOf(values[option]).at(-1),
    texts: (option) => textsOf(values[option]),
    flag: (option) => values[option] !== undefined,
    ...more,
  };
}

/** A target in a usage, and the words that may stand for one. */
const TARGET = /^<target/;
export const WHAT_TARGETS_ARE =
  'A target is a URL, a file, the name of a configured server, or a command after `--`.';

/** Says which words of the usage are missing. A command after `--` stands for the target, or for the last word. */
function missingWords(name: string, command: Command, given: number, hasProcess: boolean): string {
  const places = placesOf(command.usage)
    .filter((place) => !place.startsWith('['))
    .slice(0, command.words[0]);
  const target = places.findIndex((place) => TARGET.test(place));
  if (hasProcess) places.splice(target === -1 ? places.length - 1 : target, 1);
  const missing = places.slice(given);
  const are = missing.length === 1 ? 'is' : 'are';
  const hint = missing.some((place) => TARGET.test(place)) ? `\n${WHAT_TARGETS_ARE}` : '';
  return `${missing.join(' and ')} ${are} missing: ${name} ${command.usage}${hint}`;
}

/** The words of a usage, as in `<target>`, `[name=value …]` and `bash|zsh`; options and their values are left out. */
export function placesOf(usage: string): string[] {
  const places = Array.from(
    usage.matchAll(/--?\w[\w-]* <[^>]*>|<[^>]*>|\[[^\]]*\]|\S+/g),
    ([place]) => place,
  );
  return places.filter((place) => !place.startsWith('-'));
}

/** A flag without its number has no text. */
function textsOf(value: Values[string]): readonly string[] {
  return [value ?? []].flat().filter((one) => typeof one === 'string');
}

type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

function read(name: string, options: Options, typed: readonly string[]): { values: Values; words: string[] } {
  const specs = Object.fromEntries(
    Object.entries(options).map(([key, { type, short, multiple }]) => [
      key,
      { type, ...(short && { short }), ...(multiple && { multiple }) },
    ]),
  );
  const { values, tokens, positionals } = parseArgs({
    args: withNumbers(options, typed),
    options: specs,
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  for (const token of tokens) if (token.kind === 'option') check(name, options, token);
  return { values: values as Values, words: positionals };
}

/** Joins a flag and the number after it, as `--http=8080`. */
function withNumbers(options: Options, typed: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of typed) {
    const last = joined.at(-1) ?? '';
    const name = last.startsWith('--') ? last.slice(2) : '';
    const takesNumber = Object.hasOwn(options, name) && options[name]?.number !== undefined;
    if (takesNumber && /^\d+$/.test(word)) joined[joined.length - 1] = `${last}=${word}`;
    else joined.push(word);
  }
  return joined;
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
}

function check(command: string, options: Options, { name, rawName, value }: OptionToken): void {
  const option: Option | undefined = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option === undefined) {
    const close = closestName(name, Object.keys(options));
    const hint = close ? ` Did you mean --${close}?` : ` \`fullmcp ${command} --help\` lists its options.`;
    throw usageError(`fullmcp ${command} has no option ${rawName}.${hint}`);
  }
  if (option.type === 'string' && value === undefined)
    throw usageError(`${rawName} needs a value: ${rawName} <${option.value ?? 'value'}>`);
  if (option.type === 'boolean' && value !== undefined && option.number === undefined)
    throw usageError(`${rawName} takes no value.`);
  if (option.choices && value !== undefined && !option.choices.includes(value))
    throw usageError(`${rawName} must be one of ${option.choices.join(', ')}, not ${JSON.stringify(value)}.`);
}

/** Reads a number of an option, within bounds. */
export function wholeNumber(
  input: Typed,
  option: string,
  [least, most]: readonly [number, number],
): number | undefined {
  const text = input.text(option);
  if (text === undefined) return undefined;
  const number = Number(text);
  if (/^\d{1,9}$/.test(text) && number >= least && number <= most) return number;
  throw usageError(
    `--${option} must be a whole number from ${least} to ${most}, not ${JSON.stringify(text)}.`,
  );
}

/** Reads a time such as `500ms`, `30s`, `5m`, `2h` or `1d`; a number alone is seconds. Returns milliseconds. */
export function duration(input: Typed, option: string): number | undefined {
  const text = input.text(option);
  if (text === undefined) return undefined;
  const ms = readDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (ms !== undefined) return ms;
  throw usageError(`--${option} must be a time such as 500ms, 30s or 5m, not ${JSON.stringify(text)}.`);
}
