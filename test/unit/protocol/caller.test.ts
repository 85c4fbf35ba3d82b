import fc from 'fast-check';
import { expect, test } from 'vitest';
import { principalOf, toAuth } from '../../../src/protocol/caller.js';

interface Name {
  readonly subject: string;
  readonly issuer: string | undefined;
}

const part = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }),
  fc.constantFrom('[', ']', '"', '","', '["a","b"]', '\\', '\n', '\u0000', '__proto__'),
  // Halves of characters, which strings of JavaScript and claims of tokens can have.
  fc.constantFrom('\ud800', '\ud801', '\udfff', '\ufffd', 'a\ud800'),
);
const name: fc.Arbitrary<Name> = fc.record({
  subject: part,
  issuer: fc.option(part, { nil: undefined }),
});

const bytesOf = ({ subject, issuer }: Name): string => {
  const auth = toAuth({ subject, ...(issuer !== undefined && { issuer }) });
  return Buffer.from(new TextEncoder().encode(principalOf({ auth }))).toString('hex');
};

test('Two callers have the same principal, as bytes, only if they have the same issuer and subject', () => {
  fc.assert(
    fc.property(name, name, (one, other) => {
      const isSame = one.subject === other.subject && one.issuer === other.issuer;
      expect(bytesOf(one) === bytesOf(other)).toBe(isSame);
      expect(bytesOf(one)).not.toBe('');
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['\ud800', '\ud801'],
  ['\ud800', '\ufffd'],
  ['["a","b"]', '[["a","b"]]'],
])('The subjects %j and %j are different callers', (one, other) => {
  expect(bytesOf({ subject: one, issuer: undefined })).not.toBe(
    bytesOf({ subject: other, issuer: undefined }),
  );
});

test('An anonymous caller has the empty principal, which no name is', () => {
  expect(principalOf({ auth: undefined })).toBe('');
  expect(() => toAuth({ subject: '' })).toThrow(TypeError);
});
