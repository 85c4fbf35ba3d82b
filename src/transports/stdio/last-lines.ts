import { stripVTControlCharacters } from 'node:util';
import { type Line, LineReader } from '../../jsonrpc/ndjson.js';

const KEPT = 20;
const LINE_LENGTH = 1000;
const MAX_BYTES = 65_536;

export interface LastLines {
  readonly push: (chunk: Uint8Array) => void;
  /** The stream has ended: what came after the last newline is a line too. */
  readonly end: () => void;
  /** The last lines, fit to be shown: no control characters in them, and none of the secrets. */
  readonly lines: () => string[];
}

export interface LastLinesParts {
  readonly line: (line: string) => void;
  /** Values that must not be shown, by the names that are shown in their place. */
  readonly secrets: Readonly<Record<string, string | undefined>>;
}

/** Keeps the last lines of a stream that may go on for ever. */
export function lastLines({ line: forward, secrets }: LastLinesParts): LastLines {
  const reader = new LineReader({ maxBytes: MAX_BYTES });
  const kept: string[] = [];

  function take(line: Line): void {
    const text = line.tooLong ? `(a line of more than ${MAX_BYTES} bytes)` : line.text;
    kept.push(text.slice(0, LINE_LENGTH));
    if (kept.length > KEPT) kept.shift();
    forward(text);
  }

  return {
    push: (chunk) => reader.push(chunk).forEach(take),
    end() {
      const last = reader.end();
      if (last !== undefined) take(last);
    },
    lines: () => kept.map((line) => plain(withoutSecrets(line, secrets))),
  };
}

/** Puts names in the place of values. Short values are words that could stand anywhere. */
export function withoutSecrets(text: string, secrets: LastLinesParts['secrets']): string {
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
