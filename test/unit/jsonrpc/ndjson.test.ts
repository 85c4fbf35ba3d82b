import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Line, LineReader, printLine } from '../../../src/jsonrpc/ndjson.js';
import { PendingBytes } from '../../../src/jsonrpc/pending-bytes.js';

const encoder = new TextEncoder();
const bytes = (text: string): Uint8Array => encoder.encode(text);

/** Feeds `input` cut at the given places and returns all lines. */
function read(input: Uint8Array, cuts: readonly number[] = [], maxBytes = 1_000_000): Line[] {
  const reader = new LineReader({ maxBytes });
  const lines: Line[] = [];
  const ends = [...new Set(cuts.map((cut) => cut % (input.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const end of [...ends, input.length]) {
    lines.push(...reader.push(input.slice(from, end)));
    from = end;
  }
  const last = reader.end();
  return last === undefined ? lines : [...lines, last];
}

const texts = (lines: readonly Line[]): (string | 'too long')[] =>
  lines.map((line) => (line.tooLong ? 'too long' : line.text));

afterEach(() => {
  vi.restoreAllMocks();
});

describe('LineReader', () => {
  it('yields each line of a chunk', () => {
    expect(texts(read(bytes('{"a":1}\n{"b":2}\n')))).toEqual(['{"a":1}', '{"b":2}']);
  });

  it('yields the same lines however the bytes are cut', () => {
    const line = fc.string({ unit: 'binary' }).filter((text) => !/[\r\n]/.test(text));
    const newline = fc.constantFrom('\n', '\r\n');
    const cuts = fc.array(fc.nat(), { maxLength: 20 });
    fc.assert(
      fc.property(fc.array(fc.tuple(line, newline)), line, cuts, fc.boolean(), (lines, last, cuts, mark) => {
        const start = mark ? '\uFEFF' : '';
        const input = bytes(start + lines.flat().join('') + last);
        const all = [...lines.map(([text]) => text), last].map(wellFormed);
        // Without a byte order mark in front, one at the start of the first line would be dropped.
        if (!mark) all[0] = all[0]?.replace(/^\uFEFF/, '') ?? '';
        expect(texts(read(input, cuts))).toEqual(all.filter((text) => text !== ''));
      }),
    );
  });

  it('yields the same lines byte by byte', () => {
    const input = bytes('\uFEFF{"é":"😀"}\r\n\r\n\n"日本"\nlast');
    const everywhere = [...input.keys()];
    expect(texts(read(input, everywhere))).toEqual(['{"é":"😀"}', '"日本"', 'last']);
  });

  it('keeps a carriage return that is not before a newline', () => {
    expect(texts(read(bytes('a\rb\nc\r\r\n')))).toEqual(['a\rb', 'c\r']);
  });

  it('drops a byte order mark at the very start only', () => {
    expect(texts(read(bytes('\uFEFFa\n\uFEFFb\n')))).toEqual(['a', '\uFEFFb']);
    expect(texts(read(bytes('\n\uFEFFb\n')))).toEqual(['\uFEFFb']);
    expect(texts(read(bytes('\uFEFF\nb\n')))).toEqual(['b']);
  });

  it('replaces invalid UTF-8, and a sequence that the newline cuts off does not affect the next line', () => {
    const input = new Uint8Array([0x61, 0xff, 0x62, 0x0a, 0xe2, 0x82, 0x0a, 0x63, 0x0a]);
    expect(texts(read(input))).toEqual(['a\uFFFDb', '\uFFFD', 'c']);
  });

  it('yields a last line without a newline at the end, once', () => {
    const reader = new LineReader({ maxBytes: 100 });
    expect(reader.push(bytes('tail\r'))).toEqual([]);
    expect(reader.end()).toEqual({ tooLong: false, text: 'tail' });
    expect(reader.end()).toBeUndefined();
  });

  it('accepts a line of exactly maxBytes and no more', () => {
    expect(texts(read(bytes('12345\n'), [], 5))).toEqual(['12345']);
    expect(texts(read(bytes('123456\n12345\n'), [], 5))).toEqual(['too long', '12345']);
  });

  const long = 'x'.repeat(5000);
  it.each<[string, string, unknown]>([
    ['a result, id first', `{"jsonrpc":"2.0","id":7,"result":{"a":"${long}"}}`, { isRequest: false, id: 7 }],
    [
      'an error, with blanks',
      `{ "jsonrpc": "2.0", "id": "a-7", "error": {"a":"${long}"}}`,
      { isRequest: false, id: 'a-7' },
    ],
    [
      'a request',
      `{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":"${long}"}}`,
      { isRequest: true, id: 7 },
    ],
    ['a result, id last', `{"result":{"a":"${long}"},"jsonrpc":"2.0","id":7}`, { isRequest: false, id: 7 }],
    [
      'a result, id before the version',
      `{"result":{"a":"${long}"},"id":7,"jsonrpc":"2.0"}`,
      { isRequest: false, id: 7 },
    ],
    ['a request, id last', `{"method":"m","params":{"a":"${long}"},"id":7}\r`, { isRequest: true, id: 7 }],
    ['an id inside of a result', `{"result":{"a":"${long}","id":7}}`, undefined],
    ['an id inside of a string', `{"jsonrpc":"2.0","result":{"a":"${long},\\"id\\":7}"}}`, undefined],
    ['an id in the middle', `{"result":{"a":"${long}"},"id":7,"more":"${long}"}`, undefined],
    ['an id that is a fraction', `{"jsonrpc":"2.0","id":7.5,"result":{"a":"${long}"}}`, undefined],
    ['something else', long, undefined],
  ])('identifies a message that was too long if its ends show the id: %s', (_, line, ends) => {
    for (const cuts of [[], [10], [100], [3000], [line.length - 1], [line.length - 3, line.length - 2]])
      expect(read(bytes(`${line}\nnext\n`), cuts, 2000)).toEqual([
        { tooLong: true, bytes: expect.any(Number), ends },
        { tooLong: false, text: 'next' },
      ]);
  });

  it('reports a line that is too long as soon as the limit is exceeded, once, and yields the next', () => {
    const reader = new LineReader({ maxBytes: 10 });
    expect(reader.push(bytes('12345678'))).toEqual([]);
    expect(reader.push(bytes('9012'))).toEqual([{ tooLong: true, bytes: 12, ends: undefined }]);
    for (let more = 0; more < 100; more++) expect(reader.push(bytes('xxxxxxxxxxxxxxxxxxxx'))).toEqual([]);
    expect(reader.push(bytes('end\nnext\n'))).toEqual([{ tooLong: false, text: 'next' }]);
    expect(reader.end()).toBeUndefined();
  });

  it('reports nothing more if a line that is too long never ends', () => {
    const reader = new LineReader({ maxBytes: 3 });
    expect(reader.push(bytes('abcdef'))).toHaveLength(1);
    expect(reader.end()).toBeUndefined();
  });

  it('finds the same lines too long however the bytes are cut', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'é', '😀'), maxLength: 12 });
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), (lines, cuts) => {
        const input = bytes(lines.map((text) => `${text}\n`).join(''));
        const expected = lines
          .filter((text) => text !== '')
          .map((text) => (bytes(text).length > 12 ? 'too long' : text));
        expect(texts(read(input, cuts, 12))).toEqual(expected);
      }),
    );
  });

  it('does not copy a line that lies within one chunk', () => {
    const add = vi.spyOn(PendingBytes.prototype, 'add');
    const take = vi.spyOn(PendingBytes.prototype, 'take');
    const reader = new LineReader({ maxBytes: 100 });
    expect(reader.push(bytes('one\ntwo\n'))).toHaveLength(2);
    expect(add).not.toHaveBeenCalled();
    expect(take).not.toHaveBeenCalled();
  });
});

describe('PendingBytes', () => {
  it('joins the added chunks, whatever their sizes', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(0, 1, 100, 4095, 4096, 10_000)), (sizes) => {
        const pending = new PendingBytes();
        const pieces = sizes.map((size, index) => new Uint8Array(size).fill(index));
        for (const piece of pieces) pending.add(piece);
        expect(pending.length).toBe(sizes.reduce<number>((sum, size) => sum + size, 0));
        const tail = new Uint8Array([255]);
        expect(Buffer.concat([...pieces, tail]).equals(pending.take(tail))).toBe(true);
        expect(pending.length).toBe(0);
        expect(pending.take(new Uint8Array(0))).toEqual(new Uint8Array(0));
      }),
      { numRuns: 30 },
    );
  });

  it('copies a slice that would keep a much larger chunk alive, also of a Node Buffer', () => {
    const chunk = Buffer.alloc(100_000, 1);
    const pending = new PendingBytes();
    pending.add(chunk.subarray(95_000));
    chunk.fill(2);
    expect(pending.take(new Uint8Array(0)).every((byte) => byte === 1)).toBe(true);
  });

  it('does not copy a chunk that belongs entirely to the line', () => {
    const chunk = new Uint8Array(100_000).fill(1);
    const pending = new PendingBytes();
    pending.add(chunk);
    chunk.fill(2);
    expect(pending.take(new Uint8Array(0)).every((byte) => byte === 2)).toBe(true);
  });
});

/** The string after UTF-8 encoding: a lone surrogate becomes U+FFFD. */
function wellFormed(text: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes(text));
}

describe('printLine', () => {
  it('escapes every character that a reader could take for the end of a line', () => {
    const message = { text: 'a\u2028b\u2029c\n\r é' };
    const line = printLine(JSON.stringify(message));
    expect(line.split(/[\n\r\u2028\u2029]/)).toEqual([line.slice(0, -1), '']);
    expect(JSON.parse(line)).toEqual(message);
  });
});
