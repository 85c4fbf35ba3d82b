// Edits the block of a server in a YAML file, and nothing else.

import { CommandError } from '../../command/failures.js';
import { type ConfigFormat, type HostFields, lineBreakOf, quoted, unreadable } from './format.js';
import { entriesOf, linesOf, type YamlEntry, type YamlLine, yamlValue } from './yaml-lines.js';

/** Servers in a block of a YAML file. */
export const yaml: ConfigFormat = {
  read(text, section) {
    const { lines, servers } = open(text, section);
    return new Map(
      servers.map((server) => {
        const value = yamlValue(text, lines, server);
        return [server.name, (typeof value === 'object' ? value : {}) as HostFields];
      }),
    );
  },
  write(text, { section, name, fields, managed }) {
    const { lines, servers, block } = open(text, section);
    const eol = lineBreakOf(text);
    const server = servers.find((one) => one.name === name);
    if (server) return changeServer(text, { lines, server, fields, managed });
    const indent = servers[0]?.indent ?? 2;
    const added = print(name, fields, indent).map((line) => `${line}${eol}`);
    if (block === undefined) {
      const isEnded = text.replace('\ufeff', '') === '' || text.endsWith('\n');
      return `${text}${isEnded ? '' : eol}${section.join('.')}:${eol}${added.join('')}`;
    }
    const start = lines[block.first] as YamlLine;
    // An empty block is written as {}, which cannot have lines below it.
    const head =
      block.rest === '{}' ? text.slice(0, start.start + start.text.lastIndexOf('{}')).trimEnd() : undefined;
    const at = lines[block.end]?.start ?? text.length;
    if (head !== undefined) return `${head}${eol}${added.join('')}${text.slice(at)}`;
    const before = text.slice(0, at);
    return `${before}${before.endsWith('\n') ? '' : eol}${added.join('')}${text.slice(at)}`;
  },
  remove(text, section, name) {
    const { lines, servers, block } = open(text, section);
    const server = servers.find((one) => one.name === name);
    if (server === undefined || block === undefined) return text;
    const from = lines[server.first]?.start ?? 0;
    const to = lines[server.end]?.start ?? text.length;
    const rest = `${text.slice(0, from)}${text.slice(to)}`;
    if (servers.length > 1) return rest;
    // Without an entry the block would be null, and not an empty object.
    const head = lines[block.first] as YamlLine;
    const colon = head.start + head.text.indexOf(':') + 1;
    return `${rest.slice(0, colon)} {}${rest.slice(colon)}`;
  },
};

interface Opened {
  readonly lines: readonly YamlLine[];
  readonly block: YamlEntry | undefined;
  readonly servers: readonly YamlEntry[];
}

function open(text: string, section: readonly string[]): Opened {
  const lines = linesOf(text);
  const marks = lines.filter((line) => /^(?:---|\.\.\.)(?:\s|$)/.test(line.text));
  const first = lines.findIndex(({ indent }) => indent !== -1);
  const isStart = marks[0] !== undefined && marks[0] === lines[first] && marks[0].text.trim() === '---';
  if (marks.length > (isStart ? 1 : 0))
    throw unreadable(text, marks.at(-1)?.start ?? 0, 'several documents in one file cannot be edited');
  const top = entriesOf(text, lines, [isStart ? first + 1 : 0, lines.length]);
  const block = top.find(({ name }) => name === section[0]);
  if (block === undefined) return { lines, block, servers: [] };
  const at = lines[block.first]?.start ?? 0;
  if (block.indent !== 0 || (block.rest !== '' && block.rest !== '{}'))
    throw unreadable(text, at, `${block.name} is not a block with one name per line, so change it by hand`);
  return { lines, block, servers: entriesOf(text, lines, [block.first + 1, block.end]) };
}

function changeServer(
  text: string,
  more: {
    readonly lines: readonly YamlLine[];
    readonly server: YamlEntry;
    readonly fields: HostFields;
    readonly managed: readonly string[];
  },
): string {
  const { lines, server, fields, managed } = more;
  if (server.rest !== '')
    throw new CommandError(
      'failed',
      `line ${server.first + 1}: ${server.name} is not a block, so change it by hand`,
    );
  const old = entriesOf(text, lines, [server.first + 1, server.end]);
  const indent = old[0]?.indent ?? server.indent + 2;
  const eol = lineBreakOf(text);
  const missing = new Map(Object.entries(fields));
  let result = text;
  const end = lines[server.end]?.start ?? text.length;
  const unseen = [...missing].filter(([field]) => !old.some(({ name }) => name === field));
  const added = unseen
    .flatMap(([field, value]) => print(field, value, indent))
    .map((line) => `${line}${eol}`);
  const before = result.slice(0, end);
  result = `${before}${before.endsWith('\n') ? '' : eol}${added.join('')}${result.slice(end)}`;
  for (const entry of old.toReversed()) {
    if (!managed.includes(entry.name)) continue;
    const value = missing.get(entry.name);
    if (JSON.stringify(yamlValue(text, lines, entry)) === JSON.stringify(value)) continue;
    const from = lines[entry.first]?.start ?? 0;
    const to = lines[entry.end]?.start ?? text.length;
    const printed =
      value === undefined ? [] : print(entry.name, value, indent).map((line) => `${line}${eol}`);
    result = `${result.slice(0, from)}${printed.join('')}${result.slice(to)}`;
  }
  return result;
}

/** A name and its value in lines. Strings are always in quotes, so that nothing in them means something to YAML. */
function print(name: string, value: unknown, indent: number): readonly string[] {
  const start = `${' '.repeat(indent)}${/^[A-Za-z_][\w-]*$/.test(name) && !isWord(name) ? name : quoted(name)}:`;
  if (Array.isArray(value)) return [`${start} [${value.map(scalar).join(', ')}]`];
  if (typeof value !== 'object' || value === null) return [`${start} ${scalar(value)}`];
  const inner = Object.entries(value).flatMap(([key, one]) => print(key, one, indent + 2));
  return inner.length === 0 ? [`${start} {}`] : [start, ...inner];
}

/** Words that YAML reads as something other than a string. */
function isWord(name: string): boolean {
  return /^(?:true|false|yes|no|on|off|y|n|null)$/i.test(name);
}

function scalar(value: unknown): string {
  return typeof value === 'string' ? quoted(value) : String(value);
}
