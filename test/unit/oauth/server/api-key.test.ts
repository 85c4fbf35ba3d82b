import { createHash } from 'node:crypto';
import { apiKey, hashApiKey } from 'fullmcp/auth';
import { describe, expect, test } from 'vitest';
import { isSameDigest } from '../../../../src/protocol/encoding/same-digest.js';
import { requestWith } from '../../../support/oauth/auth-request.js';

const [ann, bob] = ['key-of-ann-0123456789', 'key-of-bob-0123456789'];
const keys = [
  { hash: await hashApiKey(ann), subject: 'ann', scopes: ['read', 'write'] },
  { hash: await hashApiKey(bob), subject: 'bob' },
  { hash: await hashApiKey(`${bob}-new`), subject: 'bob', issuer: 'https://keys.example' },
];
const withBearer = (token: string) => requestWith({ authorization: `Bearer ${token}` });
const check = async (provider: ReturnType<typeof apiKey>, request: ReturnType<typeof requestWith>) =>
  provider.check(request);

describe('hashApiKey', () => {
  test('makes the SHA-256 of the key, which anybody can compute', async () => {
    const digest = createHash('sha256').update(ann).digest('base64url');
    expect(await hashApiKey(ann)).toBe(`sha256:${digest}`);
  });

  test('refuses keys that could be guessed', async () => {
    await expect(hashApiKey('short')).rejects.toThrow(/^hashApiKey: .*openssl rand -hex 32/);
    await expect(hashApiKey(undefined as never)).rejects.toThrow(TypeError);
  });
});

describe('apiKey', () => {
  test('knows each key by its hash, with its subject and scopes', async () => {
    const provider = apiKey({ keys });
    expect(await provider.check(withBearer(ann))).toEqual({
      subject: 'ann',
      scopes: ['read', 'write'],
      claims: {},
    });
    expect(await provider.check(withBearer(bob))).toMatchObject({ subject: 'bob', scopes: [] });
    expect(await provider.check(withBearer(`${bob}-new`))).toMatchObject({ issuer: 'https://keys.example' });
    expect(await provider.check(requestWith({}))).toBeUndefined();
    expect(JSON.stringify(await provider.check(withBearer(ann)))).not.toContain('hash');
  });

  test.each(['', 'key-of-ann-012345678', `${ann}x`, `x${ann}`, ann.toUpperCase(), 'a'.repeat(2000)])(
    'rejects the key %j with an error that does not contain it',
    async (key) => {
      const failure = await check(
        apiKey({ keys, header: 'X-Api-Key' }),
        requestWith({ 'x-api-key': key }),
      ).catch((error: unknown) => error);
      expect(failure).toMatchObject({ status: 401, message: 'The API key is not valid.' });
    },
  );

  test('is not fooled by the hash of a key', async () => {
    const hash = String(keys[0]?.hash);
    await expect(
      check(apiKey({ keys, header: 'x-api-key' }), requestWith({ 'x-api-key': hash })),
    ).rejects.toThrow();
    await expect(check(apiKey({ keys }), withBearer(hash.replace('sha256:', '')))).rejects.toThrow();
  });

  test('reads a header of its own, and leaves the Authorization header to others', async () => {
    const provider = apiKey({ keys, header: 'X-Api-Key' });
    expect(provider.schemes).toEqual(['ApiKey']);
    expect(await provider.check(requestWith({ 'x-api-key': ann }))).toMatchObject({ subject: 'ann' });
    expect(await provider.check(withBearer(ann))).toBeUndefined();
  });

  test.each([
    ['no keys', []],
    ['a key that is not hashed', [{ hash: 'key-of-ann-0123456789', subject: 'ann' }]],
    ['a truncated hash', [{ hash: String(keys[0]?.hash).slice(0, -2), subject: 'ann' }]],
    ['no subject', [{ hash: keys[0]?.hash }]],
    ['a missing hash', [{ subject: 'ann' }]],
    ['a hash twice', [keys[0], keys[0]]],
  ])('cannot be made with %s, and the error does not show it', (_name, wrong) => {
    const failure = (() => {
      try {
        return apiKey({ keys: wrong as never });
      } catch (error) {
        return String(error);
      }
    })();
    expect(failure).toMatch(/^TypeError: apiKey: /);
    expect(failure).not.toContain('key-of-ann');
  });

  test('compares with every key, of 10,000 too, in an order that does not matter', async () => {
    const many = await Promise.all(
      Array.from({ length: 10_000 }, async (_, i) => ({
        hash: await hashApiKey(`key-number-${i}-0123456`),
        subject: `s${i}`,
      })),
    );
    const provider = apiKey({ keys: many });
    for (const i of [0, 5000, 9999])
      expect(await provider.check(withBearer(`key-number-${i}-0123456`))).toMatchObject({ subject: `s${i}` });
    expect(() => apiKey({ keys: [...many, ...keys] })).toThrow('10000');
  });
});

test('Digests are compared to the end, wherever they differ', () => {
  const digest = 'A'.repeat(43);
  const reads = (different: number): number => {
    let count = 0;
    const counting = {
      length: 43,
      charCodeAt(at: number) {
        count++;
        return at === different ? 66 : 65;
      },
    };
    expect(isSameDigest(counting as string, digest)).toBe(different === 43);
    return count;
  };
  expect(new Set([0, 1, 15, 42, 43].map(reads))).toEqual(new Set([43]));
  expect(isSameDigest('A'.repeat(42), digest)).toBe(false);
  expect(isSameDigest(digest, 'A'.repeat(42))).toBe(false);
  expect(isSameDigest('', digest)).toBe(false);
});

test('A hash is the same whatever the unused bits of its last character are, and a key is found with each digest', async () => {
  const hash = await hashApiKey(ann);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet.indexOf(hash.at(-1) ?? '');
  const other = `${hash.slice(0, -1)}${alphabet[last ^ 1]}`;
  const provider = apiKey({ keys: [{ hash: other, subject: 'ann' }] });
  expect(await provider.check(withBearer(ann))).toMatchObject({ subject: 'ann' });
  await provider.start?.(undefined as never);
  // With the digest of the runtime, a key is known without waiting.
  expect(provider.check(withBearer(ann))).toMatchObject({ subject: 'ann' });
});
