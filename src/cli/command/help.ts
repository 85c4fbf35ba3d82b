// Help on the terminal, made from the definitions.

import type { Output } from '../terminal/output.js';
import { wrapCommand, wrapWords } from '../terminal/wrap.js';
import type { Command, CommandSummary, Options } from './definition.js';
import { COMMON, WHAT_TARGETS_ARE } from './parse.js';

/** The help of a command. `shared` has the options that all commands with a target have. */
export function commandHelp(
  { name, summary }: CommandSummary,
  command: Command,
  { shared, out }: { readonly shared: Options; readonly out: Output },
): string {
  const { usage, details, examples, options } = command;
  const listed = Object.entries(options).filter(([, { now }]) => now === undefined);
  const isShared = ([key, option]: (typeof listed)[number]): boolean => shared[key] === option;
  const own = listed.filter((entry) => !isShared(entry));
  const { columns } = out;
  return [
    wrapWords(`${out.style('bold', `fullmcp ${name}`)} ${usage}`, columns, '  '),
    '',
    wrapWords(`${capital(summary)}.`, columns),
    ...(details ? ['', wrapWords(details, columns)] : []),
    '',
    out.style('bold', 'Examples'),
    ...examples.flatMap(({ line, says }) => [
      out.style('cyan', wrapCommand(line, columns, '  ')),
      out.style('dim', wrapWords(`      ${says}`, columns, '      ')),
    ]),
    ...optionPart('Options', Object.fromEntries(own), out),
    ...optionPart('Options of the target', Object.fromEntries(listed.filter(isShared)), out),
    ...optionPart('Options of every command', COMMON, out),
  ].join('\n');
}

/** The same as an object, for `--json`. */
export function commandJson({ name, summary }: CommandSummary, command: Command): object {
  const { usage, details, examples, options, json } = command;
  const listed = Object.entries({ ...options, ...COMMON }).filter(([, { now }]) => now === undefined);
  return {
    ok: true,
    command: { name, summary, usage, ...(details !== undefined && { details: oneLine(details) }) },
    options: listed.map(([option, { now: _, ...about }]) => ({ name: option, ...about })),
    examples,
    json,
  };
}

/** The names of commands and what they are for, as an object for `--json`. */
export function commandsJson(groups: CommandGroups): object {
  const commands = Object.entries(groups).flatMap(([group, listed]) =>
    listed.map(({ name, summary }) => ({ name, summary, group })),
  );
  return { ok: true, commands };
}

/** Paragraphs whose lines are not broken. */
function oneLine(text: string): string {
  return text.replaceAll(/(?<!\n)\n(?!\n)/g, ' ');
}

/** Commands, by what they are for. */
export type CommandGroups = Readonly<Record<string, readonly CommandSummary[]>>;

const TITLE = 'everything that people do with MCP servers';

/** The help of the program: all commands. */
export function programHelp(groups: CommandGroups, out: Output): string {
  const all = Object.values(groups).flat();
  return [
    wrapWords(`${out.style('bold', 'fullmcp')}: ${TITLE}`, out.columns),
    '',
    ...Object.entries(groups)
      .filter(([, commands]) => commands.length > 0)
      .flatMap(([title, commands]) => [
        out.style('bold', title),
        ...commandLines(commands, widthOf(all), out),
        '',
      ]),
    ...closing(out),
  ].join('\n');
}

/** A line without a command. */
const PROMPT: NamedSummary = {
  name: '<target>',
  summary: 'open a prompt to a server: list, call with completion, answer, tasks',
};

/** The help that `fullmcp` alone prints: the commands to begin with, and where the others are. */
export function shortHelp(groups: CommandGroups, first: readonly string[], out: Output): string {
  const all = Object.values(groups).flat();
  const shown = first.flatMap((name) => all.find((command) => command.name === name) ?? []);
  return [
    wrapWords(`${out.style('bold', 'fullmcp')}: ${TITLE}`, out.columns),
    '',
    ...commandLines([...shown, PROMPT], widthOf([...shown, PROMPT]), out),
    '',
    wrapWords(`${all.length - shown.length} more: \`fullmcp help\``, out.columns),
    ...closing(out),
  ].join('\n');
}

/** The help of several commands whose names begin with the same word. */
export function groupHelp(commands: readonly CommandSummary[], out: Output): string {
  return commandLines(commands, widthOf(commands), out).join('\n');
}

function closing(out: Output): readonly string[] {
  return [
    wrapWords('`fullmcp help <command>` explains a command. --json prints JSON.', out.columns),
    '',
    wrapWords(WHAT_TARGETS_ARE, out.columns),
    out.style('cyan', wrapCommand('fullmcp call http://localhost:3000/mcp add a=2 b=40', out.columns, '  ')),
    out.style(
      'cyan',
      wrapCommand('fullmcp list -- npx -y @modelcontextprotocol/server-everything', out.columns, '  '),
    ),
  ];
}

type NamedSummary = Pick<CommandSummary, 'name' | 'summary'>;

function widthOf(commands: readonly NamedSummary[]): number {
  return Math.max(...commands.map(({ name }) => name.length)) + 4;
}

function commandLines(commands: readonly NamedSummary[], width: number, out: Output): readonly string[] {
  return commands.map(({ name, summary }) =>
    beside(`  ${out.style('cyan', name)}`, { length: name.length + 2, text: summary, width, out }),
  );
}

function optionPart(title: string, options: Options, out: Output): readonly string[] {
  const rows = Object.entries(options).map(([name, { short, type, value, number, choices, help }]) => {
    const optional = number ? ` [${number}]` : '';
    const argument = type === 'string' ? ` <${value ?? choices?.join('|') ?? 'value'}>` : optional;
    return [`  ${short ? `-${short}, ` : ''}--${name}${argument}`, help] as const;
  });
  if (rows.length === 0) return [];
  const width = Math.min(36, Math.max(...rows.map(([left]) => left.length)) + 2);
  const lines = rows.map(([left, text]) => beside(left, { length: left.length, text, width, out }));
  return ['', out.style('bold', title), ...lines];
}

/** A narrow terminal has no room for two columns. */
const MIN_TEXT = 24;

interface RightColumn {
  /** The length of the left column, without colours. */
  readonly length: number;
  readonly text: string;
  readonly width: number;
  readonly out: Output;
}

/** A name in one column, and what it is for in another, or below it if there is no room. */
function beside(left: string, { length, text, width, out }: RightColumn): string {
  const isNarrow = out.columns - width < MIN_TEXT;
  const indent = ' '.repeat(isNarrow ? 6 : width);
  const right = wrapWords(indent + text, out.columns, indent);
  return isNarrow || length + 2 > width
    ? `${left}\n${right}`
    : left + ' '.repeat(width - length) + right.slice(width);
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
