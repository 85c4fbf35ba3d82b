import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readResourceChallenge } from '../../../../src/oauth/documents/resource-challenge.js';
import { parseChallenges } from '../../../../src/protocol/encoding/challenges.js';

const plain = (header: string): unknown =>
  parseChallenges(header).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)]);

test.each([
  ['', []],
  ['Bearer', [['bearer', {}]]],
  ['Bearer realm="a"', [['bearer', { realm: 'a' }]]],
  ['Bearer realm="a, b=\\"c\\", d", error=x', [['bearer', { realm: 'a, b="c", d', error: 'x' }]]],
  ['Bearer Realm="a", ERROR = "x"', [['bearer', { realm: 'a', error: 'x' }]]],
  ['Bearer a="1", a="2"', [['bearer', { a: '1' }]]],
  ['Bearer a="", b=""', [['bearer', { a: '', b: '' }]]],
  [
    'Basic realm="x", Bearer scope="a b", DPoP algs="ES256"',
    [
      ['basic', { realm: 'x' }],
      ['bearer', { scope: 'a b' }],
      ['dpop', { algs: 'ES256' }],
    ],
  ],
  [
    'Bearer, DPoP',
    [
      ['bearer', {}],
      ['dpop', {}],
    ],
  ],
  ['Bearer a=1,,, b=2 ,', [['bearer', { a: '1', b: '2' }]]],
  // Values without quotes, which the grammar does not allow.
  [
    'Bearer resource_metadata=https://a.example/x?y=1',
    [['bearer', { resource_metadata: 'https://a.example/x?y=1' }]],
  ],
  ['Bearer scope=a:b, error=invalid_token', [['bearer', { scope: 'a:b', error: 'invalid_token' }]]],
  ['Bearer scope=a b c, error=x', [['bearer', { scope: 'a b c', error: 'x' }]]],
  // No commas between parameters.
  ['Bearer realm="a" error="b" scope="c d"', [['bearer', { realm: 'a', error: 'b', scope: 'c d' }]]],
  ['Bearer error=a scope="b"', [['bearer', { error: 'a', scope: 'b' }]]],
  // Credentials instead of parameters.
  [
    'Negotiate YWJj==, Bearer realm="a"',
    [
      ['negotiate', {}],
      ['bearer', { realm: 'a' }],
    ],
  ],
  [
    'Negotiate YWJj, Bearer realm="a"',
    [
      ['negotiate', {}],
      ['bearer', { realm: 'a' }],
    ],
  ],
  ['Negotiate YWJj=', [['negotiate', {}]]],
  // Broken.
  ['Bearer realm="not ended', [['bearer', { realm: 'not ended' }]]],
  ['Bearer realm="ends with \\', [['bearer', { realm: 'ends with \\' }]]],
  ['realm="a"', []],
  ['"quoted" Bearer', []],
  ['"quoted", Bearer a=b', [['bearer', { a: 'b' }]]],
  ['= = =, Bearer a=b', [['bearer', { a: 'b' }]]],
  [
    'Bearer x=1, Bea(rer a=b',
    [
      ['bearer', { x: '1' }],
      ['bea(rer', { a: 'b' }],
    ],
  ],
  ['Bearer __proto__="x", constructor=y', [['bearer', { ['__proto__']: 'x', constructor: 'y' }]]],
])('%j is read', (header, expected) => {
  expect(plain(header)).toEqual(expected);
});

test('challenges that were printed by the rules are read back', () => {
  const token = fc.stringMatching(/^[a-z][a-z\d_-]{0,8}$/);
  const challenge = fc.tuple(
    token,
    fc.uniqueArray(fc.tuple(token, fc.string({ maxLength: 20 })), {
      selector: ([name]) => name,
      minLength: 1,
      maxLength: 5,
    }),
  );
  fc.assert(
    fc.property(fc.array(challenge, { minLength: 1, maxLength: 4 }), (challenges) => {
      const printed = challenges
        .map(
          ([scheme, parameters]) =>
            `${scheme} ${parameters.map(([name, value]) => `${name}="${value.replace(/[\\"]/g, '\\$&')}"`).join(', ')}`,
        )
        .join(', ');
      expect(plain(printed)).toEqual(
        challenges.map(([scheme, parameters]) => [scheme, Object.fromEntries(parameters)]),
      );
    }),
  );
});

test('any text is read without an error, within the bounds', () => {
  const hostile = fc.string({ unit: fc.constantFrom(...'aB=", \t\\é\n;'), maxLength: 300 });
  fc.assert(
    fc.property(fc.oneof(hostile, fc.string({ unit: 'binary' })), (header) => {
      const challenges = parseChallenges(header);
      expect(challenges.length).toBeLessThanOrEqual(16);
      for (const { scheme } of challenges) expect(scheme).not.toMatch(/[ \t,="]/);
    }),
    { numRuns: 2000 },
  );
});

test('a huge header costs no more than its first 16 KiB, with at most 16 challenges of 32 parameters', () => {
  expect(parseChallenges('Bearer, '.repeat(1_000_000))).toHaveLength(16);
  const long = parseChallenges(`Bearer a="${'x'.repeat(20_000)}", b="1"`)[0]?.parameters;
  expect([long?.get('a')?.length, long?.has('b')]).toEqual([16 * 1024 - 'Bearer a="'.length, false]);
  const wide = `Bearer ${Array.from({ length: 1000 }, (_, i) => `p${i}="x"`).join(', ')}`;
  expect(parseChallenges(wide)[0]?.parameters.size).toBe(32);
  for (const bad of ['"', '\\', '=', 'a=', 'a ', 'a="', '\t'])
    expect(() => parseChallenges(bad.repeat(1_000_000))).not.toThrow();
});

test('the challenge of an MCP server is read across schemes and headers', () => {
  const headers = new Headers();
  headers.append('www-authenticate', 'Basic realm="x", scope="not this"');
  headers.append('www-authenticate', 'DPoP algs="ES256", error="use_dpop_nonce"');
  headers.append(
    'www-authenticate',
    'Bearer resource_metadata=https://mcp.example/meta, scope="a b a  c\u00e4 d\\"e"',
  );
  expect(readResourceChallenge(headers.get('www-authenticate'))).toEqual({
    schemes: ['dpop', 'bearer'],
    error: 'use_dpop_nonce',
    errorDescription: undefined,
    scopes: ['a', 'b'],
    resourceMetadata: 'https://mcp.example/meta',
  });
  expect(readResourceChallenge(null)).toMatchObject({
    schemes: [],
    scopes: undefined,
    resourceMetadata: undefined,
  });
  expect(readResourceChallenge('Bearer scope=""').scopes).toBeUndefined();
});
