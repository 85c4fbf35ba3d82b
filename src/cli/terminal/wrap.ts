// Breaks lines between words, so that they fit the width of the terminal. The codes of colours take no room.

import { widthOf } from './text-width.js';

/** Longer lines of prose are hard to read, however wide the terminal is. */
const MAX_WIDTH = 100;
const MIN_WIDTH = 20;

/** Breaks paragraphs, which are separated by empty lines. Later lines of each begin with `indent`. */
export function wrapWords(text: string, columns: number, indent = ''): string {
  const width = Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, columns));
  return text
    .split('\n\n')
    .map((paragraph) => {
      const [first = ''] = /^ */.exec(paragraph) ?? [];
      return filled(paragraph.trim().split(/[ \n]+/), { first, indent, width }).join('\n');
    })
    .join('\n\n');
}

/** Breaks a signature after its commas, and a part that is too long for a line between its words. Later lines begin with `indent`. */
export function wrapParts(text: string, columns: number, indent: string): string {
  const width = Math.max(MIN_WIDTH, columns);
  if (widthOf(text) <= width) return text;
  const parts = text
    .split(/(?<=,) /)
    .flatMap((part) => (widthOf(part) > width - indent.length ? part.split(' ') : [part]));
  return filled(parts, { first: '', indent, width }).join('\n');
}

/** Breaks a line that is longer than the terminal between its words. Its spaces stay, and later lines begin with `indent`. */
export function wrapLine(text: string, columns: number, indent: string): string {
  const width = Math.max(MIN_WIDTH, columns);
  if (widthOf(text) <= width) return text;
  // An indent that leaves no room for words is not one.
  const room = width - indent.length < MIN_WIDTH ? indent.slice(0, 4) : indent;
  return filled(text.split(' '), { first: '', indent: room, width }).join('\n');
}

/** Puts items into lines, with three spaces between them. */
export function wrapItems(items: readonly string[], columns: number): string {
  const width = Math.max(MIN_WIDTH, columns);
  const lines: string[] = [];
  for (const item of items) {
    const line = lines.at(-1);
    const longer = `${line}   ${item}`;
    if (line !== undefined && widthOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(item);
  }
  return lines.join('\n');
}

/** A line of code with its number, or the mark below one. */
const CODE = /^[> ] +\d* \|/;

/** An indented line with the signature of a tool. */
const SIGNATURE = /^ +[\w./-]+\(/;

/**
 * Breaks the sentences of a message. Lines of code are cut, so that the mark below one stays in its place, and signatures are broken after
 * commas; other lines that are indented, such as commands to copy, stay whole.
 */
export function wrapMessage(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => {
      if (CODE.test(line)) return line.length > columns ? `${line.slice(0, columns - 1)}…` : line;
      if (SIGNATURE.test(line)) return wrapParts(line, columns, '    ');
      return line.startsWith(' ') ? line : wrapLine(line, columns, '');
    })
    .join('\n');
}

/** Breaks a line for a shell, with a backslash at the end of each line but the last. Words in quotes stay together. */
export function wrapCommand(line: string, columns: number, indent: string): string {
  const width = Math.max(MIN_WIDTH, columns);
  if (indent.length + line.length <= width) return indent + line;
  const words = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [line];
  const lines = filled(words, { first: indent, indent: `${indent}  `, width: width - 2 });
  return lines.join(' \\\n');
}

interface Room {
  readonly first: string;
  readonly indent: string;
  readonly width: number;
}

function filled(words: readonly string[], { first, indent, width }: Room): readonly string[] {
  const lines: string[] = [];
  let line = first;
  let columns = widthOf(first);
  let isStart = true;
  for (const word of words) {
    const own = widthOf(word);
    if (!isStart && line.trim() !== '' && columns + 1 + own > width) {
      lines.push(line);
      line = indent + word;
      columns = widthOf(indent) + own;
    } else {
      line += isStart ? word : ` ${word}`;
      columns += isStart ? own : own + 1;
    }
    isStart = false;
  }
  return [...lines, line];
}
