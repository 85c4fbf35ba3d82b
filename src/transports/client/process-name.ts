import { shorten } from '../../protocol/encoding/shorten.js';

// The name of a process in messages. This does not need Node: clients in browsers name processes too.

/** The words between what happened to a process and the lines that it wrote. */
export const IT_WROTE = ' It wrote to standard ';

interface ProcessCommand {
  readonly command: string;
  readonly args?: readonly string[];
}

/** Options without a value: the argument after one of them may be the program to start. */
const flags: ReadonlySet<string> = new Set([
  '-y',
  '--yes',
  '-q',
  '--quiet',
  '--silent',
  '-m',
  '-u',
  '-i',
  '--rm',
]);
const OUR_COMMAND = /(?:^|[\\/])fullmcp(?:\.js|@[\w.-]+)?$/;
const PROGRAM = /\.(?:[cm]?[jt]sx?|py|jar|sh|rb|exe|php)$/i;

/**
 * The command and what it starts: `npx -y some-server`, `node dist/server.js`. Later arguments and the values of options may be
 * secrets and are left out.
 */
export function processName({ command, args = [] }: ProcessCommand): string {
  const file = fileOf([command, ...args]);
  if (file !== undefined) return shorten(file, 300);
  const words: string[] = [];
  for (const [at, arg] of args.entries()) {
    if (arg.startsWith('-')) {
      words.push(arg.replace(/=.*/s, '=…'));
      continue;
    }
    const before = args[at - 1];
    const isValue = before?.startsWith('-') && !flags.has(before) && !PROGRAM.test(arg);
    words.push(isValue ? '…' : arg);
    if (isValue) continue;
    if (at < args.length - 1) words.push('…');
    break;
  }
  return shorten([commandName(command), ...words].join(' '), 300);
}

/** The file that our own command runs, alone or as an argument of `node` or `npx`: a person has started the file, not the command. */
function fileOf(words: readonly string[]): string | undefined {
  const isFirst = OUR_COMMAND.test(words[0] ?? '');
  const at = isFirst ? 0 : words.findIndex((word, index) => index > 0 && !word.startsWith('-'));
  const [program = '', name, file] = at < 0 ? [] : words.slice(at);
  const isOurs = OUR_COMMAND.test(program) && name === 'run';
  return isOurs && file !== undefined && PROGRAM.test(file) ? file : undefined;
}

/** The command as it may be shown: without arguments that were put there by mistake. */
export function commandName(command: string): string {
  return shorten(command.split(' -', 1)[0], 200);
}
