import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { questionDigest, sha256 } from '../../../../src/server/asking/question-digest.js';

const form = (message: string) =>
  ({ method: 'elicitation/create', params: { mode: 'form', message } }) as const;

test('the synchronous SHA-256 follows FIPS 180-4 for every length around its blocks', () => {
  const lengths = [...Array.from({ length: 300 }, (_, length) => length), 4095, 4096, 65_536, 1_000_003];
  for (const length of lengths) {
    const message = randomBytes(length);
    expect(Buffer.from(sha256(message)).toString('hex'), `${length} bytes`).toBe(
      createHash('sha256').update(message).digest('hex'),
    );
  }
});

test('a digest is the same for the same question of a run, whatever the order of its fields, and for no other', () => {
  const digest = questionDigest('run', form('Sure?'));
  expect(digest).toMatch(/^[A-Za-z0-9_-]{11}$/);
  expect(
    questionDigest('run', { params: { message: 'Sure?', mode: 'form' }, method: 'elicitation/create' }),
  ).toBe(digest);
  expect(questionDigest('run', form('Sure'))).not.toBe(digest);
  expect(questionDigest('other', form('Sure?'))).not.toBe(digest);
  expect(questionDigest('run', { method: 'roots/list' })).not.toBe(digest);
});
