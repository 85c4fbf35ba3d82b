import { trustedProxy } from 'fullmcp/auth';
import { describe, expect, test } from 'vitest';
import { requestWith } from '../../../support/oauth/auth-request.js';

const header = 'X-User';
const value = 's'.repeat(32);

test.each([
  ['neither addresses nor a secret', {}],
  ['no address', { addresses: [] }],
  ['a range of everything', { addresses: ['0.0.0.0/0'] }],
  ['a range of everything in IPv6', { addresses: ['::/0'] }],
  ['a range that is too long', { addresses: ['10.0.0.0/33'] }],
  ['a name', { addresses: ['gateway.internal'] }],
  ['two slashes', { addresses: ['10.0.0.0/8/8'] }],
  ['an octal address', { addresses: ['010.0.0.1'] }],
  ['a short secret', { secret: { header: 'x-secret', value: 'short' } }],
  ['no secret', { secret: { header: 'x-secret', value: [] } }],
  ['a secret without a header', { secret: { value } as never }],
  ['a header that is not one', { addresses: ['10.0.0.1'], header: 'x user' }],
])('A gateway with %s is refused when the provider is made', (_name, wrong) => {
  expect(() => trustedProxy({ header, ...wrong })).toThrow(TypeError);
});

describe('By the address of the gateway,', () => {
  const provider = trustedProxy({
    header,
    addresses: ['10.1.0.0/16', 'fd00::/8', '192.0.2.7'],
    scopesHeader: 'x-scopes',
    emailHeader: 'x-email',
    issuer: 'https://gateway.example',
  });
  const from = async (
    remoteAddress: string | undefined,
    headers: Record<string, string> = { 'x-user': 'ann' },
  ) => provider.check(requestWith(headers, { remoteAddress }));

  test.each(['10.1.2.3', '::ffff:10.1.2.3', 'fd12::1', '192.0.2.7', 'fd00::1%eth0'])(
    'a request from %s names its caller',
    async (address) => {
      expect(await from(address)).toMatchObject({ subject: 'ann', issuer: 'https://gateway.example' });
    },
  );

  test.each([
    '10.2.0.1',
    '192.0.2.8',
    '::1',
    '127.0.0.1',
    'fe80::1',
    '::10.1.2.3',
    '64:ff9b::10.1.2.3',
    '',
    'x',
    undefined,
  ])('a request from %s that names a caller is rejected', async (address) => {
    await expect(from(address)).rejects.toMatchObject({ status: 401, challenge: { error: 'invalid_token' } });
  });

  test('a request that names nobody has no credentials of this kind', async () => {
    expect(await from('10.1.2.3', {})).toBeUndefined();
    expect(await from('203.0.113.1', { 'x-user': '' })).toBeUndefined();
    expect(await from('203.0.113.1', { 'x-scopes': 'admin' })).toBeUndefined();
  });

  test('scopes and the email address come from their headers', async () => {
    const headers = { 'x-user': 'ann', 'x-scopes': 'a, b  a', 'x-email': 'ann@example.com' };
    expect(await from('10.1.2.3', headers)).toEqual({
      subject: 'ann',
      issuer: 'https://gateway.example',
      scopes: ['a', 'b'],
      claims: {},
      email: 'ann@example.com',
    });
  });

  test('a header that the client and the gateway have both set is rejected', async () => {
    await expect(from('10.1.2.3', { 'x-user': 'mallory, ann' })).rejects.toThrow('several names');
    await expect(from('10.1.2.3', { 'x-user': 'a'.repeat(9000) })).rejects.toThrow('several names');
  });
});

describe('By a secret,', () => {
  const provider = trustedProxy({ header, secret: { header: 'X-Secret', value: [value, 't'.repeat(40)] } });
  const check = async (headers: Record<string, string>) =>
    provider.check(requestWith({ 'x-user': 'ann', ...headers }));

  test.each([value, 't'.repeat(40)])('a request with the secret %j names its caller', async (secret) => {
    expect(await check({ 'x-secret': secret })).toMatchObject({ subject: 'ann' });
  });

  test.each(['', value.slice(1), `${value}s`, `${value}, ${value}`, 't'.repeat(39), 'x'.repeat(10_000)])(
    'a request with the secret %j is rejected',
    async (secret) => {
      await expect(check({ 'x-secret': secret })).rejects.toMatchObject({ status: 401 });
    },
  );

  test('with addresses too, a request needs both', async () => {
    const both = trustedProxy({ header, addresses: ['10.0.0.1'], secret: { header: 'x-secret', value } });
    const headers = { 'x-user': 'ann', 'x-secret': value };
    expect(await both.check(requestWith(headers, { remoteAddress: '10.0.0.1' }))).toMatchObject({
      subject: 'ann',
    });
    await expect(
      Promise.resolve(both.check(requestWith(headers, { remoteAddress: '10.0.0.2' }))),
    ).rejects.toThrow();
    await expect(
      Promise.resolve(both.check(requestWith({ 'x-user': 'ann' }, { remoteAddress: '10.0.0.1' }))),
    ).rejects.toThrow();
  });
});
