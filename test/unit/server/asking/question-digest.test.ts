import { expect, test } from 'vitest';
import { questionDigest } from '../../../../src/server/asking/question.js';

const form = (message: string) =>
  ({ method: 'elicitation/create', params: { mode: 'form', message } }) as const;

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
