// Splits a command line into words as a shell would, without being one: nothing is expanded, and nothing else is started.

import { McpError } from '../../protocol/errors.js';

const MAX_LENGTH = 32_768;
/** Characters that only a shell understands. In quotes they are ordinary. */
const OF_A_SHELL = '|&;<>`$()';

export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
  /** The variables that were set before the command, as in `PORT=1 node server.js`. */
  readonly env: Readonly<Record<string, string>>;
}

/** Throws an error for the user if the line needs a shell, or has a quote that does not end. */
export function splitCommand(line: string): CommandLine {
  if (line.length > MAX_LENGTH) throw wrong('The command line is too long.');
  const words = splitWords(line, OF_A_SHELL);
  const start = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  const [command, ...args] = start === -1 ? [] : words.slice(start);
  if (command === undefined || command === '') throw wrong('A command is missing.');
  const env = words.slice(0, start).map((word) => {
    const at = word.indexOf('=');
    return [word.slice(0, at), word.slice(at + 1)] as const;
  });
  return { command, args, env: Object.fromEntries(env) };
}

/** The words of a line, with its quotes resolved. Throws if one of these characters stands outside of quotes, or a quote does not end. */
export function splitWords(line: string, refused = ''): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const one = line.charAt(at);
    if (quote !== '') {
      if (one === quote) quote = '';
      else if (one === '\\' && quote === '"' && '"\\$`'.includes(line.charAt(at + 1)))
        word = `${word ?? ''}${line.charAt(++at)}`;
      else word = `${word ?? ''}${one}`;
    } else if (one === '"' || one === "'") {
      quote = one;
      word ??= '';
    } else if (/\s/.test(one)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (refused.includes(one))
      throw wrong(
        `No shell is involved, so ${JSON.stringify(one)} has no meaning here. Put it in quotes if it belongs to a word.`,
      );
    // A path of Windows has backslashes in it.
    else if (one === '\\' && /["'\\\s]/.test(line.charAt(at + 1))) word = `${word ?? ''}${line.charAt(++at)}`;
    else word = `${word ?? ''}${one}`;
  }
  if (quote !== '') throw wrong(`The quote ${quote} does not end.`);
  return word === undefined ? words : [...words, word];
}

function wrong(message: string): McpError {
  return new McpError('invalid_params', message);
}
