import { stripVTControlCharacters } from 'node:util';
import { type Line, LineReader } from '../../../jsonrpc/ndjson.js';

/** Some programs print the reason first and a page of usage after it, others the reason last. */
const FIRST = 10;
const LAST = 20;
const LINE_LENGTH = 1000;
const MAX_BYTES = 65_536;

type Secrets = Readonly<Record<string, string | undefined>>;

export interface KeptLines {
  readonly keep: (line: string) => void;
  /** The lines, fit to be shown: no control characters in them, and none of the secrets. */
  readonly lines: () => string[];
}

/** Keeps the first and the last lines of an output that may never end. Secrets are shown by their names. */
export function keptLines(secrets: Secrets): KeptLines {
  const first: string[] = [];
  const last: string[] = [];
  let leftOut = 0;
  return {
    keep(line) {
      const text = line.slice(0, LINE_LENGTH);
      if (first.length < FIRST) return void first.push(text);
      last.push(text);
      if (last.length <= LAST) return;
      last.shift();
      leftOut++;
    },
    lines() {
      const gap = leftOut === 0 ? [] : [`… ${leftOut} line${leftOut === 1 ? '' : 's'} left out …`];
      const shown = (line: string): string => plain(withoutSecrets(line, secrets));
      return [...first.map(shown), ...gap, ...last.map(shown)];
    },
  };
}

export interface LastLines {
  readonly push: (chunk: Uint8Array) => void;
  /** The stream has ended: what came after the last newline is a line too. */
  readonly end: () => void;
  readonly lines: KeptLines['lines'];
}

export interface LastLinesParts {
  readonly line: (line: string) => void;
  /** Values that must not be shown, by the names that are shown in their place. */
  readonly secrets: Secrets;
}

/** Reads the lines of a stream, and keeps some of them. */
export function lastLines({ line: forward, secrets }: LastLinesParts): LastLines {
  const reader = new LineReader({ maxBytes: MAX_BYTES });
  const kept = keptLines(secrets);

  function take(line: Line): void {
    const text = line.tooLong ? `(a line of more than ${MAX_BYTES} bytes)` : line.text;
    kept.keep(text);
    forward(text);
  }

  return {
    push: (chunk) => reader.push(chunk).forEach(take),
    end() {
      const last = reader.end();
      if (last !== undefined) take(last);
    },
    lines: kept.lines,
  };
}

/** Puts names in the place of values. Short values are words that could stand anywhere. */
export function withoutSecrets(text: string, secrets: Secrets): string {
  return Object.entries(secrets).reduce(
    (line, [name, value = '']) => (value.length < 8 ? line : line.replaceAll(value, () => `[${name}]`)),
    text,
  );
}

function plain(line: string): string {
  return stripVTControlCharacters(line)
    .replace(/\p{Cc}/gu, ' ')
    .trimEnd();
}
