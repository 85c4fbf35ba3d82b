// The failure of a command when a question came and nobody was there to answer.

import { cleanLine, shellWord } from '../../tooling/clean.js';
import { CommandError } from '../command/failures.js';
import { exampleOf, expectedOf, type FormField } from './form-fields.js';

const MAX_MESSAGE = 2000;
const MAX_EXAMPLES = 10;
const PLAIN = /^[\w-]{1,64}$/;

/** The call that a question belongs to. */
export interface TerminalQuestion {
  /** The tool, prompt or task that asks. */
  readonly subject: string;
  /** The words of a command that gives answers, without them; the command after `--` comes last. */
  readonly words: readonly string[];
  readonly process: readonly string[] | undefined;
  /** The effect of Ctrl+C. Default: it cancels the call. */
  readonly interrupting?: string;
}

/** The question in words, as it is shown in the terminal and in the failure. */
export function asks({ subject }: TerminalQuestion, message: string): string {
  const shown = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message;
  return `${cleanLine(subject, 80)} asks: ${shown.replaceAll('\n', '\n    ')}`;
}

export interface Unanswered {
  readonly key: string | undefined;
  readonly message: string;
  readonly fields: readonly FormField[];
  /** The answers that were given, as `name=value`. */
  readonly given: readonly string[];
  /** The reason why given answers do not count. */
  readonly problem?: string | undefined;
}

/** A form that nobody can fill in. The failure shows its fields, and a command that answers it. */
export function unansweredForm(asking: TerminalQuestion, question: Unanswered): CommandError {
  const { key, message, fields, given, problem } = question;
  const width = Math.min(30, Math.max(0, ...fields.map(({ name }) => cleanLine(name, 30).length))) + 2;
  const rows = fields.map((field) => `  ${cleanLine(field.name, 30).padEnd(width)}${expectedOf(field)}`);
  const line = lineToTry(asking, fields, given);
  return new CommandError(
    'unanswered',
    [
      asks(asking, message),
      ...rows,
      ...(problem ? [problem] : []),
      `${problem ? 'The answers that were given do not fit' : 'Nobody is here to answer'}.${line ? ' Try:' : ''}`,
      ...(line ? [`  ${line}`] : []),
    ].join('\n'),
    {
      question: {
        ...(key !== undefined && { key }),
        message,
        fields: Object.fromEntries(fields.map((field) => [field.name, expectedOf(field)])),
      },
      ...(line && { try: line }),
    },
  );
}

/** A command with an answer for each field; undefined if none of them can be written into one. */
export function lineToTry(
  { words, process }: TerminalQuestion,
  fields: readonly FormField[],
  given: readonly string[] = [],
): string | undefined {
  // The names and values are the server's: only plain ones become a part of a command.
  const added = fields
    .filter(({ name }) => PLAIN.test(name) && !given.some((one) => one.startsWith(`${name}=`)))
    .slice(0, MAX_EXAMPLES)
    .map((field) => `${field.name}=${cleanLine(exampleOf(field), 60)}`);
  if (added.length === 0) return undefined;
  const answers = [...given, ...added].flatMap((answer) => ['--answer', answer]);
  return ['fullmcp', ...words, ...answers, ...(process ? ['--', ...process] : [])].map(shellWord).join(' ');
}

/** A page that nobody is there to visit. An answer cannot be given before: the address must be seen. */
export function unansweredUrl(asking: TerminalQuestion, message: string, url: string): CommandError {
  const lines = [
    asks(asking, message),
    `  ${url}`,
    'Nobody is here to visit the page. Run the command in a terminal to agree to it.',
  ];
  return new CommandError('unanswered', lines.join('\n'), { question: { message, url } });
}
