// Reads the part of a YAML file that a host writes: blocks by indentation, with simple values.

import { isObject } from '../../../jsonrpc/message.js';
import { unreadable } from './format.js';

export interface YamlLine {
  readonly start: number;
  readonly text: string;
  /** -1 for empty lines and comments. */
  readonly indent: number;
}

export interface YamlEntry {
  readonly name: string;
  /** The numbers of its first line, and of the line after its last one that is neither empty nor a comment. */
  readonly first: number;
  readonly end: number;
  readonly indent: number;
  /** The text behind the colon. */
  readonly rest: string;
}

const KEY = /^( *)(?:([^\s#:'"&*!|>%@`{}[\],?-][^\s#:'"{}[\],]*)|("(?:[^"\\]|\\.)*")|'([^']*)'):(?: (.*))?$/;

/** The lines of a file, without their line breaks. */
export function linesOf(text: string): readonly YamlLine[] {
  let start = 0;
  return text.split('\n').map((line) => {
    const at = start;
    start += line.length + 1;
    const own = line.replace(/\r$/, '').replace('\ufeff', '');
    const indent = /^\s*(?:#|$)/.test(own) ? -1 : own.length - own.trimStart().length;
    if (/^ *\t/.test(own) && indent !== -1) throw unreadable(text, at, 'tabs cannot indent YAML');
    return { start: at, text: own, indent };
  });
}

/** The entries of a block between two lines. They all have the indentation of the first one. */
export function entriesOf(
  text: string,
  lines: readonly YamlLine[],
  [from, to]: readonly [number, number],
): readonly YamlEntry[] {
  const entries: YamlEntry[] = [];
  let indent = -1;
  for (let n = from; n < to; n++) {
    const line = lines[n] as YamlLine;
    if (line.indent === -1) continue;
    if (indent === -1) indent = line.indent;
    const last = entries.at(-1);
    const isItem = line.indent === indent && /^-(?: |$)/.test(line.text.trimStart()) && last?.rest === '';
    if (line.indent > indent || isItem) {
      if (last) entries[entries.length - 1] = { ...last, end: n + 1 };
      continue;
    }
    const [whole, , bare, double, single, rest = ''] = KEY.exec(line.text) ?? [];
    if (whole === undefined || line.indent < indent)
      throw unreadable(text, line.start, 'this line is not a name and a value, so change the file by hand');
    const name = bare ?? (double === undefined ? single : String(flow(double))) ?? '';
    if (entries.some((entry) => entry.name === name))
      throw unreadable(text, line.start, 'the name is there twice, so remove one of them');
    entries.push({ name, first: n, end: n + 1, indent, rest: withoutComment(rest) });
  }
  return entries;
}

/** The value of an entry: a string, number or boolean, a list of these, or a block of them. Others are undefined. */
export function yamlValue(text: string, lines: readonly YamlLine[], entry: YamlEntry): unknown {
  if (entry.rest !== '') return scalar(entry.rest);
  const inner = lines.slice(entry.first + 1, entry.end).filter(({ indent }) => indent !== -1);
  if (inner.every((line) => /^-(?: |$)/.test(line.text.trimStart())))
    return inner.map((line) => scalar(withoutComment(line.text.trimStart().slice(1))));
  const entries = entriesOf(text, lines, [entry.first + 1, entry.end]);
  return Object.fromEntries(entries.map((one) => [one.name, yamlValue(text, lines, one)]));
}

function withoutComment(rest: string): string {
  const text = rest.trim();
  if (text.startsWith('#')) return '';
  const quote = text[0] === '"' || text[0] === "'" ? text[0] : undefined;
  const end = quote === undefined ? 0 : text.lastIndexOf(quote);
  const comment = text.indexOf(' #', end);
  return comment === -1 ? text : text.slice(0, comment).trim();
}

function scalar(written: string): unknown {
  const text = written.trim();
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === '' || text === 'null' || text === '~') return undefined;
  if (/^'.*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'");
  if (/^["[{]/.test(text)) return flow(text);
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  return /^[&*!|>%@`]/.test(text) ? undefined : text;
}

/** Lists and objects on one line are read if they are JSON as well. */
function flow(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' || Array.isArray(value) || isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
