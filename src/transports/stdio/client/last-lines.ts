import { stripVTControlCharacters } from 'node:util';
import { type Line, LineReader } from '../../../jsonrpc/ndjson.js';

/** Some programs print the reason first and a page of usage after it, others the reason last. */
const FIRST = 10;
const LAST = 20;
const LINE_LENGTH = 1000;
const MAX_BYTES = 65_536;

type Secrets = Readonly<Record<string, string | undefined>>;

export interface LineExcerpt {
  readonly add: (line: string) => void;
  /** The lines for messages: without control characters and secrets. */
  readonly lines: () => string[];
}

/** Keeps the first and the last lines of an output that may never end. Secrets are replaced by their names. */
export function lineExcerpt(secrets: Secrets): LineExcerpt {
  const first: string[] = [];
  const last: string[] = [];
  let skipped = 0;
  return {
    add(line) {
      const text = line.slice(0, LINE_LENGTH);
      if (first.length < FIRST) return void first.push(text);
      last.push(text);
      if (last.length <= LAST) return;
      last.shift();
      skipped++;
    },
    lines() {
      const gap = skipped === 0 ? [] : [`… ${skipped} line${skipped === 1 ? '' : 's'} left out …`];
      const toDisplay = (line: string): string => withoutControlCharacters(withoutSecrets(line, secrets));
      return [...first.map(toDisplay), ...gap, ...last.map(toDisplay)];
    },
  };
}

export interface LastLines {
  readonly push: (chunk: Uint8Array) => void;
  /** Ends the stream: the rest after the last newline is a line too. */
  readonly end: () => void;
  readonly lines: LineExcerpt['lines'];
}

/** The part of a line that messages may show. A listener of stderr returns it for a line that is not only the program's own. */
export class ShownPart {
  readonly text: string | undefined;

  constructor(text: string | undefined) {
    this.text = text;
  }
}

export interface LastLinesParts {
  /** Called with each line. */
  readonly line: (line: string) => ShownPart | undefined;
  /** Values that must not be shown, by the names that replace them. */
  readonly secrets: Secrets;
}

/** Reads the lines of a stream, and keeps some of them. */
export function lastLines({ line: forward, secrets }: LastLinesParts): LastLines {
  const reader = new LineReader({ maxBytes: MAX_BYTES });
  const excerpt = lineExcerpt(secrets);

  function take(line: Line): void {
    const text = line.tooLong ? `(a line of more than ${MAX_BYTES} bytes)` : line.text;
    const part = forward(text);
    if (part === undefined) excerpt.add(text);
    else if (part.text !== undefined) excerpt.add(part.text);
  }

  return {
    push: (chunk) => reader.push(chunk).forEach(take),
    end() {
      const last = reader.end();
      if (last !== undefined) take(last);
    },
    lines: excerpt.lines,
  };
}

/** Replaces secrets by their names. Short values are kept: they may be ordinary words. */
export function withoutSecrets(text: string, secrets: Secrets): string {
  return Object.entries(secrets).reduce(
    (line, [name, value = '']) => (value.length < 8 ? line : line.replaceAll(value, () => `[${name}]`)),
    text,
  );
}

function withoutControlCharacters(line: string): string {
  return stripVTControlCharacters(line)
    .replace(/\p{Cc}/gu, ' ')
    .trimEnd();
}
