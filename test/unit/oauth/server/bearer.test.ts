import { bearer } from 'fullmcp/auth';
import { expect, test } from 'vitest';
import { requestWith } from '../../../support/oauth/auth-request.js';

const provider = bearer((token) => (token === 'abc' ? { subject: 'ada' } : undefined));

test('A request without an Authorization header, or with another scheme, has no credentials of this kind', async () => {
  expect(await provider.check(requestWith({}))).toBeUndefined();
  expect(await provider.check(requestWith({ authorization: '' }))).toBeUndefined();
  expect(await provider.check(requestWith({ authorization: 'Basic YTpi' }))).toBeUndefined();
  expect(await provider.check(requestWith({ authorization: 'BearerX abc' }))).toBeUndefined();
});

test.each(['Bearer abc', 'bearer abc', 'BEARER   abc  '])(
  'The header %j has the token',
  async (authorization) => {
    expect(await provider.check(requestWith({ authorization }))).toEqual({
      subject: 'ada',
      scopes: [],
      claims: {},
    });
  },
);

test.each([
  ['an unknown token', 'Bearer xyz'],
  ['no token', 'Bearer'],
  ['two tokens', 'Bearer abc abc'],
  ['two headers', 'Bearer abc, Bearer abc'],
  ['a quoted token', 'Bearer "abc"'],
  ['a token with a line break', 'Bearer abc\r\nx: y'],
  ['a token with padding in the middle', 'Bearer a=bc'],
  ['a token of another alphabet', 'Bearer аbс'],
  ['a token that is too long', `Bearer ${'a'.repeat(16_385)}`],
])('A header with %s is an invalid token', async (_name, authorization) => {
  await expect(Promise.resolve(provider.check(requestWith({ authorization })))).rejects.toMatchObject({
    code: 'unauthorized',
    status: 401,
    challenge: { error: 'invalid_token' },
  });
});

test('The error for a long hostile header is made at once, and does not contain the token', async () => {
  const authorization = `Bearer ${'a='.repeat(8000)}`;
  const failure = await Promise.resolve(provider.check(requestWith({ authorization }))).catch(String);
  expect(failure).not.toContain('a=a=');
});

test('A caller without a valid subject, issuer or time of expiry is a mistake of the program', async () => {
  for (const caller of [
    { subject: '' },
    { subject: 'ada', issuer: '' },
    { subject: 'ada', expiresAt: Number.NaN },
  ])
    await expect(
      Promise.resolve(bearer(() => caller).check(requestWith({ authorization: 'Bearer abc' }))),
    ).rejects.toThrow(TypeError);
});
