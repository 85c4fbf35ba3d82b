// Two values, printed so that they can be compared line by line: names are sorted, long strings broken, and what is new each time set apart.

import type { Story } from '../../../src/inspector/contract/story.js';
import { isObject, type JsonObject } from '../../../src/jsonrpc/message.js';
import { tryParse } from '../../../src/jsonrpc/try-parse.js';
import { isDuration, isTime, steady } from '../../../src/tooling/tape/fresh-values.js';
import { readOutcome } from '../../results/read-outcome.js';

export interface FreshValue {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

export interface ComparedTexts {
  readonly before: string;
  readonly after: string;
  readonly isEqual: boolean;
  /** Ids, times and durations that differ, and are not counted. */
  readonly fresh: readonly FreshValue[];
}

const MAX_JSON = 1_000_000;
const MAX_DEPTH = 100;
/** A longer line is broken after a sentence or a comma, so that an insertion changes one piece only. */
const LONG_LINE = 200;
const PIECE = 1000;

/** The values of fields that may be new each time, by path. */
type Fresh = Map<string, string>;

export function compareTexts(before: unknown, after: unknown): ComparedTexts {
  const [old, now]: [Fresh, Fresh] = [new Map(), new Map()];
  const into = (found: Fresh) => (path: string, value: string) => {
    found.set(path, value);
    return true;
  };
  print(before, into(old));
  print(after, into(now));
  const fresh = [...old].flatMap(([path, value]) => {
    const other = now.get(path);
    return other === undefined || other === value ? [] : [{ path, before: value, after: other }];
  });
  // A time that both have is a value like others.
  const masked = new Set(fresh.map(({ path }) => path));
  const [one, other] = [before, after].map((value) => print(value, (path) => masked.has(path)));
  return { before: one ?? '', after: other ?? '', isEqual: one === other, fresh };
}

/** The result of a call as a value: the same thing is not compared twice, and how it was carried does not count. */
export function resultOf(outcome: JsonObject): unknown {
  const { structured, value, text } = readOutcome(outcome);
  const content = [...value, ...text].map(({ content: block, role }) =>
    role === undefined ? block : { role, ...block },
  );
  if (structured === undefined && content.length === 0) {
    const { _meta, resultType, ...rest } = outcome;
    return rest;
  }
  return {
    ...(structured !== undefined && { value: structured }),
    ...(content.length > 0 && { content }),
    ...(outcome['isError'] === true && { isError: true }),
  };
}

/** The answers to the questions of a call. */
export function answersOf({ questions }: Story): unknown {
  return questions.map(({ key, message, answer, gone }) => ({
    question: key ?? message,
    ...(answer && { answer }),
    ...(gone !== undefined && answer === undefined && { gone }),
  }));
}

function print(root: unknown, isMasked: (path: string, value: string) => boolean): string {
  const lines: string[] = [];

  function add(value: unknown, path: string, before: string, indent: string): void {
    const inner = typeof value === 'string' ? fromJson(value) : value;
    if (typeof inner === 'object' && inner !== null && indent.length < 2 * MAX_DEPTH)
      return addAll(inner, path, before, indent);
    if (typeof value === 'string') return addText(value, path, before, indent);
    const word = isTime(value, path) ? '<time>' : isDuration(value, path) ? '<duration>' : undefined;
    const isHidden = word !== undefined && isMasked(path, String(value));
    lines.push(`${indent}${before}${isHidden ? word : jsonOf(value)}`);
  }

  function addAll(value: object, path: string, before: string, indent: string): void {
    const isList = Array.isArray(value);
    const names = isList ? Object.keys(value) : Object.keys(value).sort();
    const [open, close] = isList ? ['[', ']'] : ['{', '}'];
    if (names.length === 0) return void lines.push(`${indent}${before}${open}${close}`);
    lines.push(`${indent}${before}${open}`);
    for (const name of names) {
      const place = isList ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
      add((value as Record<string, unknown>)[name], place, isList ? '' : `${name}: `, `${indent}  `);
    }
    lines.push(`${indent}${close}`);
  }

  function addText(text: string, path: string, before: string, indent: string): void {
    const plain = steady(text);
    const shown = plain !== text && isMasked(path, text) ? plain : text;
    const pieces = piecesOf(shown);
    if (pieces.length === 1) return void lines.push(`${indent}${before}${JSON.stringify(shown)}`);
    lines.push(`${indent}${before}`.trimEnd() || `${indent}text`);
    for (const piece of pieces) lines.push(`${indent}  ${piece}`);
  }

  add(root, '', '', '');
  return lines.join('\n');
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'nothing';
  } catch {
    // It is nested more deeply than anybody could read.
    return '…';
  }
}

function piecesOf(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    if (line.length <= LONG_LINE) return [line];
    const sentences = line.split(/(?<=[.!?;,]) /);
    return sentences.flatMap((part) =>
      Array.from({ length: Math.ceil(part.length / PIECE) }, (_, at) =>
        part.slice(at * PIECE, (at + 1) * PIECE),
      ),
    );
  });
}

function fromJson(text: string): unknown {
  if (text.length > MAX_JSON || !/^\s{0,100}[[{]/.test(text)) return undefined;
  const value = tryParse(text);
  return isObject(value) || Array.isArray(value) ? value : undefined;
}
