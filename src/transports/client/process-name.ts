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
const OUR_COMMAND = /(^|[\\/])fullmcp(\.js|@[\w.-]+)?$/;
const PROGRAM = /\.(?:[cm]?[jt]sx?|py|jar|sh|rb|exe|php)$/i;

/**
 * The command and what it starts: `npx -y some-server`, `node dist/server.js`. Later arguments and the values of options may be
 * secrets and are left out.
 */
export function processName({ command, args = [] }: ProcessCommand): string {
  // A person has started the file, not our own command that runs it.
  const all = [command, ...args];
  const at = all.findIndex((word) => OUR_COMMAND.test(word));
  if (at >= 0 && all[at + 1] === 'run' && PROGRAM.test(all[at + 2] ?? ''))
    return shorten(String(all[at + 2]), 300);
  const words: string[] = [];
  for (const [index, arg] of args.entries()) {
    if (arg.startsWith('-')) {
      words.push(arg.replace(/=.*/s, '=…'));
      continue;
    }
    const before = args[index - 1];
    const isValue = before?.startsWith('-') && !flags.has(before) && !PROGRAM.test(arg);
    words.push(isValue ? '…' : arg);
    if (isValue) continue;
    if (index < args.length - 1) words.push('…');
    break;
  }
  return shorten([commandName(command), ...words].join(' '), 300);
}

/** The command as it may be shown: without arguments that were put there by mistake. */
export function commandName(command: string): string {
  return shorten(command.split(' -', 1)[0], 200);
}
