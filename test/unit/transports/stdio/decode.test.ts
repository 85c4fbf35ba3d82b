import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineReader } from '../../../../src/jsonrpc/ndjson.js';
import { decodeUtf8 } from '../../../../src/transports/stdio/decode.js';

test('bytes on a pipe are decoded as TextDecoder decodes them, marks and invalid bytes included', () => {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const unit = fc.oneof(
    fc.constantFrom(0xef, 0xbb, 0xbf, 0xed, 0xa0, 0xf0, 0x9f, 0xc0, 0xff, 0xe2),
    fc.nat(255),
  );
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 40 }), fc.nat(10), fc.boolean(), (list, from, isBuffer) => {
      const bytes = isBuffer ? Buffer.from(list) : new Uint8Array(list);
      const start = Math.min(from, bytes.length);
      expect(decodeUtf8(bytes, start, bytes.length)).toBe(decoder.decode(bytes.subarray(start)));
    }),
    { numRuns: 5000 },
  );
});

test('a byte order mark after a first line that was too long stays', () => {
  const reader = new LineReader({ maxBytes: 4, decode: decodeUtf8 });
  const lines = reader.push(Buffer.from('too long\n\uFEFFa\n'));
  expect(lines.map((line) => (line.tooLong ? 'too long' : line.text))).toEqual(['too long', '\uFEFFa']);
  const dropping = new LineReader({ maxBytes: 4, decode: decodeUtf8 });
  dropping.push(Buffer.from('{ too long'));
  expect(dropping.push(Buffer.from(' still\n\uFEFFa\n')).at(-1)).toEqual({ tooLong: false, text: '\uFEFFa' });
});
