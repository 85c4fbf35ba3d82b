import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeBase64,
  decodeBase64Url,
  encodeBase64,
  encodeBase64Url,
} from '../../../../src/protocol/encoding/base64.js';

const bytes = fc.uint8Array({ maxLength: 300 });

describe('base64', () => {
  it.each([
    ['', ''],
    ['f', 'Zg=='],
    ['fo', 'Zm8='],
    ['foo', 'Zm9v'],
    ['foobar', 'Zm9vYmFy'],
  ])('encodes %j as %j (RFC 4648, section 10)', (text, encoded) => {
    expect(encodeBase64(new TextEncoder().encode(text))).toBe(encoded);
    expect(new TextDecoder().decode(decodeBase64(encoded))).toBe(text);
  });

  it('agrees with Node on any bytes', () => {
    fc.assert(
      fc.property(bytes, (value) => {
        expect(encodeBase64(value)).toBe(Buffer.from(value).toString('base64'));
        expect(decodeBase64(encodeBase64(value))).toEqual(value);
      }),
    );
  });

  it('agrees with Node across chunk boundaries, and on a view into a larger buffer', () => {
    const large = Uint8Array.from({ length: 100_003 }, (_, at) => (at * 31) % 256);
    expect(encodeBase64(large)).toBe(Buffer.from(large).toString('base64'));
    expect(Buffer.from(decodeBase64(encodeBase64(large)) ?? []).equals(large)).toBe(true);
    expect(encodeBase64(large.subarray(5, 9))).toBe(Buffer.from(large.subarray(5, 9)).toString('base64'));
  });

  it.each([
    'A',
    'AA',
    'AAA',
    'AA=',
    'A===',
    '====',
    '=AAA',
    'AA=A',
    'AA==AAAA',
    'A A=',
    'AAA\n',
    'AA-_',
    'AAAé',
    'Zm9v\n',
  ])('rejects %j', (text) => {
    expect(decodeBase64(text)).toBeUndefined();
  });
});

describe('base64url', () => {
  it('agrees with Node on any bytes', () => {
    fc.assert(
      fc.property(bytes, (value) => {
        expect(encodeBase64Url(value)).toBe(Buffer.from(value).toString('base64url'));
        expect(decodeBase64Url(encodeBase64Url(value))).toEqual(value);
      }),
    );
  });

  it.each(['A', 'AAAAA', 'AA==', 'Zm8=', 'AA+/', 'A.AA', 'AA\n'])('rejects %j', (text) => {
    expect(decodeBase64Url(text)).toBeUndefined();
  });
});
