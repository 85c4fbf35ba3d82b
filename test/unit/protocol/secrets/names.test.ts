import { describe, expect, it } from 'vitest';
import { secretNames } from '../../../../src/protocol/secrets/is-secret-name.js';

describe('the names of secrets', () => {
  const isSecret = secretNames(['Employee-ID']);

  it.each([
    ...['password', 'Password', 'userPassword', 'user[password]', 'new_password', 'PASSWD', 'db.pwd'],
    ...['token', 'accessToken', 'refresh_token', 'ID-TOKEN', 'accesstoken', 'tokens', 'csrfTokens'],
    ...['secret', 'client_secret', 'Authorization', 'Proxy-Authorization', 'Cookie', 'Set-Cookie', 'cookies'],
    ...[
      'apiKey',
      'api_key',
      'X-API-Key',
      'privateKey',
      'AWS_SECRET_ACCESS_KEY',
      'credentials',
      'auth',
      'pin',
      'otp',
    ],
    ...['employeeId', 'employee_id', `${'x'.repeat(5000)}_token`],
  ])('%s is one', (name) => {
    expect(isSecret(name, 'x')).toBe(true);
  });

  it.each([
    ...[
      'passwordHint',
      'tokenCount',
      'tokenizer',
      'secretary',
      'key',
      'keyboard',
      'author',
      'authority',
      'spin',
    ],
    ...['', 'constructor', '__proto__', 'toString', 'cookieless', 'myEmployeeId'],
  ])('%s is not one', (name) => {
    expect(isSecret(name, 'x')).toBe(false);
  });

  it('are not those of flags and of numbers of tokens', () => {
    expect(isSecret('maxTokens', 100)).toBe(false);
    expect(isSecret('tokens', ['a'])).toBe(true);
    expect(isSecret('pin', true)).toBe(false);
    expect(isSecret('pin', 1234)).toBe(true);
  });

  it('are decided the same way after ten thousand other names', () => {
    for (let n = 0; n < 10_000; n++) isSecret(`name ${n}`);
    expect([isSecret('token'), isSecret('name 7')]).toEqual([true, false]);
  });
});
