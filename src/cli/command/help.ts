// Help on the terminal, made from the definitions.

import type { Output } from '../terminal/output.js';
import type { Command, CommandSummary, Options } from './definition.js';
import { COMMON } from './parse.js';

/** The help of a command. */
export function commandHelp({ name, summary }: CommandSummary, command: Command, out: Output): string {
  const { usage, details, examples, options } = command;
  return [
    `${out.style('bold', `fullmcp ${name}`)} ${usage}`,
    '',
    `${capital(summary)}.`,
    ...(details ? ['', wrap(details, out.columns)] : []),
    '',
    ...examples.flatMap(({ line, says }) => [
      `  ${out.style('cyan', line)}`,
      out.style('dim', wrap(`      ${says}`, out.columns, '      ')),
    ]),
    '',
    ...optionLines({ ...options, ...COMMON }, out.columns),
  ].join('\n');
}

/** Commands, by what they are for. */
export type CommandGroups = Readonly<Record<string, readonly CommandSummary[]>>;

/** The help of the program. */
export function programHelp(groups: CommandGroups, out: Output): string {
  const all = Object.values(groups).flat();
  const width = Math.max(...all.map(({ name }) => name.length)) + 2;
  return [
    `${out.style('bold', 'fullmcp')}: everything that people do with MCP servers`,
    '',
    ...Object.entries(groups)
      .filter(([, commands]) => commands.length > 0)
      .flatMap(([title, commands]) => [
        out.style('bold', title),
        ...commands.map(({ name, summary }) => `  ${out.style('cyan', name.padEnd(width))}${summary}`),
        '',
      ]),
    'A target is a URL, a file, the name of a configured server, or a command after --.',
    `  ${out.style('cyan', 'fullmcp call http://localhost:3000/mcp add a=2 b=40')}`,
    `  ${out.style('cyan', 'fullmcp list -- npx -y @modelcontextprotocol/server-everything')}`,
    '`fullmcp <command> --help` explains a command. --json prints JSON.',
  ].join('\n');
}

/** The options in one column, and what they are for in another. */
function optionLines(options: Options, columns: number): readonly string[] {
  const rows = Object.entries(options).map(([name, { short, type, value, number, choices, help }]) => {
    const optional = number ? ` [${number}]` : '';
    const argument = type === 'string' ? ` <${value ?? choices?.join('|') ?? 'value'}>` : optional;
    return [`  ${short ? `-${short}, ` : ''}--${name}${argument}`, help] as const;
  });
  const width = Math.min(36, Math.max(...rows.map(([left]) => left.length)) + 2);
  const indent = ' '.repeat(width);
  return rows.map(([left, help]) => {
    const right = wrap(indent + help, columns, indent);
    return left.length + 2 > width ? `${left}\n${right}` : left.padEnd(width) + right.slice(width);
  });
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Longer lines are hard to read, however wide the terminal is. */
const MAX_WIDTH = 100;
const MIN_WIDTH = 40;

/** Breaks paragraphs, which are separated by empty lines, at the width of the terminal. Later lines begin with `indent`. */
function wrap(text: string, columns: number, indent = ''): string {
  const width = Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, columns || MAX_WIDTH));
  return text
    .split('\n\n')
    .map((paragraph) => wrapParagraph(paragraph, width, indent))
    .join('\n\n');
}

function wrapParagraph(text: string, width: number, indent: string): string {
  const [, first = ''] = /^( *)/.exec(text) ?? [];
  const lines: string[] = [];
  let line = first;
  for (const word of text.trim().split(/[ \n]+/)) {
    const isStart = line.trim() === '';
    if (!isStart && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else line += isStart ? word : ` ${word}`;
  }
  return [...lines, line].join('\n');
}
