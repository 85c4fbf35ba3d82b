import { expect, test } from 'vitest';
import { conceal } from '../../../../src/protocol/secrets/values.js';

test('a secret is removed in every form that a server may repeat it in', () => {
  const secret = 'a "b" \\ c+d/é';
  const forms = [
    secret,
    JSON.stringify(secret),
    encodeURIComponent(secret),
    String(new URLSearchParams({ x: secret })),
  ];
  for (const form of forms) expect(conceal(`<${form}>`, [undefined, secret])).toMatch(/^<(?:x=)?"?…"?>$/);
});

test('a secret that contains another one is removed as a whole', () => {
  expect(conceal('token abcdef-more', ['abcdef', 'abcdef-more'])).toBe('token …');
});

test('a string that is too short for a secret is left alone, and one that is not valid Unicode does no harm', () => {
  expect(conceal('the cat', ['the', '', undefined])).toBe('the cat');
  expect(conceal('x \ud800abc y', ['\ud800abc'])).toBe('x … y');
});
