// Edits the tables of servers in a TOML file, and nothing else.

import { CommandError } from '../../command/failures.js';
import { type ConfigFormat, type HostChange, type HostFields, lineBreakOf, quoted } from './format.js';
import { readToml, type TomlStatement } from './toml-read.js';

/** Servers in the tables `[section.name]` of a TOML file. */
export const toml: ConfigFormat = {
  read(text, section) {
    const servers = new Map<string, Record<string, unknown>>();
    for (const statement of readToml(text)) {
      const full = statement.kind === 'pair' ? [...statement.table, ...statement.path] : statement.path;
      if (!startsWith(full, section)) continue;
      assign(servers, full.slice(section.length), statement);
    }
    return servers;
  },
  write(text, change) {
    const path = [...change.section, change.name];
    const statements = readToml(text);
    checkEditable(text, statements, change.section, change.name);
    const own = statements.findIndex(({ kind, table }) => kind === 'table' && isSame(table, path));
    if (own !== -1) return changeTable(text, statements, own, change);
    const rest = sectionsOf(statements, path).reduceRight((now, range) => cut(now, range), text);
    return append(rest, table(path, change.fields, lineBreakOf(text)));
  },
  remove(text, section, name) {
    const statements = readToml(text);
    checkEditable(text, statements, section, name);
    return sectionsOf(statements, [...section, name]).reduceRight((now, range) => cut(now, range), text);
  },
};

/** Puts a value where its path leads: `name`, then a field, then a key of a table such as `env`. */
function assign(
  servers: Map<string, Record<string, unknown>>,
  [name, field, ...rest]: readonly string[],
  { kind, value }: TomlStatement,
): void {
  if (name === undefined) return;
  const server = servers.get(name) ?? {};
  servers.set(name, server);
  if (field === undefined) {
    if (kind === 'pair' && typeof value === 'object') Object.assign(server, value);
    return;
  }
  if (kind !== 'pair') return;
  if (rest.length === 0) server[field] = value;
  else server[field] = { ...(server[field] as object | undefined), [rest.join('.')]: value };
}

/** A server may also be written without a table of its own. Such a one is not edited. */
function checkEditable(
  text: string,
  statements: readonly TomlStatement[],
  section: readonly string[],
  name: string,
): void {
  const path = [...section, name];
  for (const { kind, table, path: own, start } of statements) {
    const full = kind === 'pair' ? [...table, ...own] : own;
    const isWhole = kind === 'pair' && startsWith(path, full) && full.length <= path.length;
    const isOutside = kind === 'pair' && startsWith(full, path) && !startsWith(table, path);
    const isArray = kind === 'tables' && (startsWith(path, own) || startsWith(own, path));
    if (!isWhole && !isOutside && !isArray) continue;
    const line = text.slice(0, start).split('\n').length;
    throw new CommandError(
      'failed',
      `line ${line}: ${full.join('.')} is not written as the table [${path.join('.')}], so change it by hand`,
    );
  }
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** The tables of a server, each from its header to its last pair. Comments behind them belong to what follows. */
function sectionsOf(statements: readonly TomlStatement[], path: readonly string[]): readonly Range[] {
  const ranges: { start: number; end: number }[] = [];
  let isInside = false;
  for (const { kind, table, start, end } of statements) {
    if (kind !== 'pair') isInside = startsWith(table, path);
    if (!isInside) continue;
    const last = ranges.at(-1);
    if (kind === 'pair' && last) last.end = end;
    else ranges.push({ start, end });
  }
  return ranges;
}

function changeTable(
  text: string,
  statements: readonly TomlStatement[],
  index: number,
  { section, name, fields, managed }: HostChange,
): string {
  const path = [...section, name];
  const header = statements[index] as TomlStatement;
  const following = statements.slice(index + 1).findIndex(({ kind }) => kind !== 'pair');
  const pairs = statements.slice(index + 1, following === -1 ? undefined : index + 1 + following);
  const edits: { start: number; end: number; text?: string }[] = [];
  const missing = new Map(Object.entries(fields));
  for (const pair of pairs) {
    const [field = ''] = pair.path;
    if (!managed.includes(field)) continue;
    const isWhole = pair.path.length === 1;
    if (isWhole && missing.has(field)) {
      const isUnchanged = JSON.stringify(pair.value) === JSON.stringify(missing.get(field));
      if (!isUnchanged)
        edits.push({ start: pair.start, end: pair.end, text: line(field, missing.get(field)) });
      missing.delete(field);
    } else edits.push(pair);
  }
  for (const field of managed) edits.push(...sectionsOf(statements, [...path, field]));
  const last = pairs.at(-1) ?? header;
  const eol = lineBreakOf(text);
  const added = [...missing].map(([field, value]) => `${eol}${line(field, value)}`).join('');
  if (added !== '')
    edits.push({ start: endOfLine(text, last.end), end: endOfLine(text, last.end), text: added });
  edits.sort((a, b) => b.start - a.start || b.end - a.end);
  return edits.reduce(
    (now, edit) =>
      edit.text === undefined
        ? cut(now, edit)
        : `${now.slice(0, edit.start)}${edit.text}${now.slice(edit.end)}`,
    text,
  );
}

/** Removes statements with the rest of their last line. */
function cut(text: string, { start, end }: Range): string {
  const lineEnd = text.indexOf('\n', end);
  const rest = lineEnd === -1 ? '' : text.slice(lineEnd + 1);
  const before = text.slice(0, start);
  // An empty line before a table goes with it, unless the file begins there.
  const isTable = text[start] === '[';
  const emptyLine = isTable && (rest === '' || /^\r?\n|^\[/.test(rest)) ? /\r?\n$/.exec(before) : null;
  const isAfterEmpty = emptyLine !== null && /\n\r?\n$/.test(before);
  return `${isAfterEmpty ? before.slice(0, emptyLine.index) : before}${rest}`;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  if (end === -1) return text.length;
  return text[end - 1] === '\r' ? end - 1 : end;
}

function append(text: string, added: string): string {
  const eol = lineBreakOf(text);
  if (text.replace('\ufeff', '') === '') return `${text}${added}`;
  return `${text}${text.endsWith('\n') ? '' : eol}${eol}${added}`;
}

function table(path: readonly string[], fields: HostFields, eol: string): string {
  const lines = Object.entries(fields).map(([field, value]) => line(field, value));
  return [`[${path.map(key).join('.')}]`, ...lines, ''].join(eol);
}

function line(field: string, value: unknown): string {
  return `${key(field)} = ${print(value)}`;
}

function print(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(print).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const pairs = Object.entries(value).map(([name, inner]) => `${key(name)} = ${print(inner)}`);
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
}

function key(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : quoted(name);
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((part, at) => path[at] === part);
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && startsWith(a, b);
}
