// Edits JSON with comments in place.

import { isObject } from '../../../jsonrpc/message.js';
import {
  type ConfigFormat,
  type HostFields,
  hiddenEscaped,
  lineBreakOf,
  quoted,
  unreadable,
} from './format.js';
import { afterSpace, type JsonMember, type JsonNode, readJsonTree } from './json-tree.js';

/** Servers in an object of a JSON file. */
export const json: ConfigFormat = {
  read(text, section) {
    if (isEmpty(text)) return new Map();
    const servers = section.reduce<unknown>(
      (inside, name) => (isObject(inside) ? inside[name] : undefined),
      readJsonTree(text).value,
    );
    const entries = isObject(servers) ? Object.entries(servers) : [];
    return new Map(entries.filter((entry): entry is [string, HostFields] => isObject(entry[1])));
  },
  write(text, { section, name, fields, managed }) {
    const start = isEmpty(text) ? `${text.startsWith('\ufeff') ? '\ufeff' : ''}{}\n` : text;
    const path = [...section, name];
    if (!isObject(valueAt(start, path))) return setAt(start, path, fields);
    const stale = managed.filter((field) => !Object.hasOwn(fields, field));
    const kept = stale.reduce((now, field) => removeAt(now, [...path, field]), start);
    return Object.entries(fields).reduce((now, [field, value]) => {
      const isSame = JSON.stringify(valueAt(now, [...path, field])) === JSON.stringify(value);
      return isSame ? now : setAt(now, [...path, field], value);
    }, kept);
  },
  remove: (text, section, name) => (isEmpty(text) ? text : removeAt(text, [...section, name])),
};

function isEmpty(text: string): boolean {
  return text.replace('\ufeff', '').trim() === '';
}

function valueAt(text: string, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inside, name) => (isObject(inside) ? inside[name] : undefined),
    readJsonTree(text).value,
  );
}

function setAt(text: string, path: readonly string[], value: unknown): string {
  let object = objectOf(text, readJsonTree(text));
  for (const [depth, name] of path.entries()) {
    const member = object.members.find((one) => one.name === name);
    const rest = path.slice(depth + 1);
    if (member === undefined) {
      const nested = rest.reduceRight<unknown>((inside, key) => ({ [key]: inside }), value);
      return addMember(text, object, name, nested);
    }
    if (rest.length === 0) return replaceValue(text, member, value);
    object = objectOf(text, member.node);
  }
  return text;
}

type ObjectNode = JsonNode & { readonly members: readonly JsonMember[] };

function objectOf(text: string, node: JsonNode): ObjectNode {
  if (node.members === undefined) throw unreadable(text, node.start, 'an object is expected here');
  return node as ObjectNode;
}

function replaceValue(text: string, { start, node }: JsonMember, value: unknown): string {
  const isInline = !text.slice(node.start, node.end).includes('\n') && node.members !== undefined;
  const printed = print(text, value, isInline ? undefined : indentAt(text, start));
  return `${text.slice(0, node.start)}${printed}${text.slice(node.end)}`;
}

function addMember(text: string, object: ObjectNode, name: string, value: unknown): string {
  const last = object.members.at(-1);
  const eol = lineBreakOf(text);
  if (last === undefined) {
    const outer = indentAt(text, object.start);
    const inner = `${outer}${unitOf(text)}`;
    const member = `${eol}${inner}${quoted(name)}: ${print(text, value, inner)}`;
    // Comments in an empty object stay in front of what is added.
    const inside = text.slice(object.start + 1, object.end - 1).trimEnd();
    return `${text.slice(0, object.start + 1)}${inside}${member}${eol}${outer}${text.slice(object.end - 1)}`;
  }
  const isInline = !text.slice(object.start, last.start).includes('\n');
  const end = last.comma === undefined ? last.node.end : last.comma + 1;
  const at = isInline ? end : endOfLine(text, end);
  const indent = indentAt(text, last.start);
  const member = isInline
    ? ` ${quoted(name)}: ${print(text, value, undefined)}`
    : `${eol}${indent}${quoted(name)}: ${print(text, value, indent)}`;
  const [comma, trailing] = last.comma === undefined ? [',', ''] : ['', ','];
  return `${text.slice(0, end)}${comma}${text.slice(end, at)}${member}${trailing}${text.slice(at)}`;
}

function removeAt(text: string, path: readonly string[]): string {
  let object: JsonNode = readJsonTree(text);
  for (const name of path.slice(0, -1)) {
    const member = object.members?.find((one) => one.name === name);
    if (member === undefined) return text;
    object = member.node;
  }
  const members = object.members ?? [];
  const index = members.findIndex(({ name }) => name === path.at(-1));
  const member = members[index];
  if (member === undefined) return text;
  const before = members[index - 1];
  const [from, to] = wholeLines(text, member.start, (member.comma ?? member.node.end - 1) + 1);
  const rest = text.slice(to);
  // The one before is now the last one, and strict JSON allows no comma after it.
  if (member.comma === undefined && before?.comma !== undefined)
    return `${text.slice(0, before.comma)}${text.slice(before.comma + 1, from)}${rest}`;
  return `${text.slice(0, from)}${rest}`;
}

/** The range with its lines, if nothing else is on them. */
function wholeLines(text: string, start: number, end: number): readonly [number, number] {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const nextLine = text.indexOf('\n', end);
  const lineEnd = nextLine === -1 ? text.length : nextLine + 1;
  if (text.slice(lineStart, start).trim() === '' && text.slice(end, lineEnd).trim() === '')
    return [lineStart, lineEnd];
  return [start, text[end] === ' ' ? end + 1 : end];
}

/** The end of the line, if only comments follow; otherwise the position itself. */
function endOfLine(text: string, from: number): number {
  const found = text.indexOf('\n', from);
  const end = found === -1 ? text.length : found;
  const next = afterSpace(text, from);
  if (next < end) return from;
  // A comment that continues in the next line belongs to that line.
  const comment = text.slice(from, end);
  if (comment.includes('/*') && !comment.includes('*/')) return from;
  return text[end - 1] === '\r' ? end - 1 : end;
}

function indentAt(text: string, at: number): string {
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart, at).replace('\ufeff', ''))?.[0] ?? '';
}

/** One level of indentation, as the file has it. */
function unitOf(text: string): string {
  return /\n([ \t]+)["/]/.exec(text.slice(0, 10_000))?.[1] ?? '  ';
}

function print(text: string, value: unknown, indent: string | undefined): string {
  if (indent === undefined) return hiddenEscaped(JSON.stringify(value));
  const lines = hiddenEscaped(JSON.stringify(value, undefined, unitOf(text)) ?? 'null').split('\n');
  return lines.join(`${lineBreakOf(text)}${indent}`);
}
