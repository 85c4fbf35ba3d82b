import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkAddresses, checkUrl, type UrlPolicy } from '../../../../src/oauth/fetch/check-url.js';
import { readPrivateHosts } from '../../../../src/oauth/fetch/private-hosts.js';
import { SafeFetchError } from '../../../../src/oauth/fetch/safe-fetch.js';
import { displayUrl } from '../../../../src/protocol/secrets/display-url.js';

const strict: UrlPolicy = { loopback: false, privateHosts: readPrivateHosts() };
const onLoopback: UrlPolicy = { ...strict, loopback: true };

test.each([
  'https://as.example',
  'https://as.example:8443/a?b=c',
  'https://8.8.8.8/',
  'https://[2606:4700::1]/',
])('%s may be requested', (url) => {
  expect(checkUrl(url, strict)).toMatchObject({ reach: 'public' });
});

test.each([
  'javascript:alert(1)',
  'file:///etc/passwd',
  'data:text/plain,x',
  'ftp://as.example/',
  'gopher://as.example/',
  'blob:https://x/1',
  'ws://as.example/',
  'about:blank',
  'JaVaScRiPt:alert(1)',
  'https://user@as.example/',
  'https://user:pass@as.example/',
  'https://256.0.0.1/',
  'https://[fe80::1%25eth0]/',
  'as.example',
  '//as.example',
  '',
  'https://',
  'https://a b/',
  `https://as.example/${'x'.repeat(9000)}`,
])('%s is not a usable URL, whatever the policy', (url) => {
  for (const policy of [strict, onLoopback]) expect(codeOf(() => checkUrl(url, policy))).toBe('bad_url');
});

test.each(['http://as.example/', 'http://8.8.8.8/', 'http://10.0.0.1/'])(
  '%s is rejected for its http',
  (url) => {
    for (const policy of [strict, onLoopback]) expect(codeOf(() => checkUrl(url, policy))).toBe('bad_url');
  },
);

const spellingsOfLoopback = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '127.0.0.1.',
  '１２７.0.0.1',
  '127。0。0。1',
  '[::1]',
  '[0:0::1]',
  'localhost',
  'localhost.',
  'LOCALHOST',
  'a.localhost',
  'a.b.localhost.',
  'ｌocalhost',
  '%6cocalhost',
];

test.each(spellingsOfLoopback)('https://%s/ means this computer and is rejected', (host) => {
  expect(codeOf(() => checkUrl(`https://${host}/`, strict))).toBe('private_address');
});

test.each(spellingsOfLoopback)(
  'http://%s/ is allowed where loopback is, and may only lead to loopback',
  (host) => {
    const checked = checkUrl(`http://${host}/`, onLoopback);
    expect(checked.reach).toBe('loopback');
    expect(() => checkAddresses(checked, ['127.0.0.1', '::1'])).not.toThrow();
    expect(codeOf(() => checkAddresses(checked, ['127.0.0.1', '8.8.8.8']))).toBe('private_address');
  },
);

test.each([
  '169.254.169.254',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '[::ffff:169.254.169.254]',
  '[fd00:ec2::254]',
  '0.0.0.0',
  '0',
  '[::]',
  '10.0.0.1',
  '192.168.1.1',
  '[::ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a9fe:a9fe]',
  '[fe80::1]',
  '[fc00::1]',
  '255.255.255.255',
  'metadata.google.internal',
  'printer.local',
  'router.home.arpa',
  'intranet',
  'intranet.',
  'kubernetes.default.svc.cluster.local',
])('https://%s/ is private and is rejected even where loopback is allowed', (host) => {
  for (const policy of [strict, onLoopback]) {
    expect(codeOf(() => checkUrl(`https://${host}/`, policy))).toBe('private_address');
  }
});

test('a name with one private address among public ones is rejected', () => {
  const checked = checkUrl('https://as.example/', strict);
  expect(() => checkAddresses(checked, ['8.8.8.8', '2606:4700::1'])).not.toThrow();
  for (const bad of ['127.0.0.1', '::1', '10.0.0.1', '::ffff:8.8.8.8', '64:ff9b::7f00:1', 'not an address']) {
    expect(codeOf(() => checkAddresses(checked, ['8.8.8.8', bad]))).toBe('private_address');
  }
  expect(codeOf(() => checkAddresses(checked, []))).toBe('name_not_found');
});

test('where loopback is allowed, another name that resolves to a loopback address is still rejected', () => {
  const checked = checkUrl('https://as.example/', onLoopback);
  expect(codeOf(() => checkAddresses(checked, ['127.0.0.1']))).toBe('private_address');
});

test('a host that the operator names may have any address, over https on any port', () => {
  const policy = {
    ...strict,
    privateHosts: readPrivateHosts(['idp.corp.internal', '10.1.2.3', '[fd00::1]', 'Intranet']),
  };
  for (const url of [
    'https://idp.corp.internal/',
    'https://IDP.corp.internal.:8443/',
    'https://10.1.2.3/',
    'https://[fd00::1]/',
    'https://intranet/',
  ]) {
    const checked = checkUrl(url, policy);
    expect(() => checkAddresses(checked, ['10.9.9.9', '127.0.0.1'])).not.toThrow();
  }
  for (const url of [
    'https://evil.idp.corp.internal/',
    'https://10.1.2.4/',
    'https://idp.corp.internal.evil.local/',
  ]) {
    expect(codeOf(() => checkUrl(url, policy))).toBe('private_address');
  }
  expect(codeOf(() => checkUrl('http://idp.corp.internal/', policy))).toBe('bad_url');
});

test('an origin that the operator names is allowed exactly, and over http if it says so', () => {
  const policy = {
    ...strict,
    privateHosts: readPrivateHosts(['http://keycloak:8080', 'https://idp.corp.internal:8443/']),
  };
  expect(checkUrl('http://keycloak:8080/realms/a', policy).reach).toBe('any');
  expect(checkUrl('https://idp.corp.internal:8443/', policy).reach).toBe('any');
  expect(codeOf(() => checkUrl('http://keycloak:8081/', policy))).toBe('bad_url');
  expect(codeOf(() => checkUrl('https://keycloak/', policy))).toBe('private_address');
  expect(codeOf(() => checkUrl('https://idp.corp.internal/', policy))).toBe('private_address');
});

test.each([
  '*',
  '*.corp.internal',
  'https://*.corp.internal',
  '',
  'a b',
  'idp:8443',
  'idp/path',
  'https://idp/path',
  'ftp://idp',
  'fd00::1',
  'user:secret@idp',
  'https://user:secret@idp',
  'https://idp?x',
  'idp#x',
  'https://',
])('%j is not one host or one origin, and the error does not contain a password', (entry) => {
  const read = (): unknown => readPrivateHosts([entry]);
  expect(read).toThrow(/Each entry must be one host name/);
  expect(read).not.toThrow(/secret/);
});

test('a message contains the host and the path of a URL, and none of its secrets', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(
        'https://u:SECRET@h.example/p',
        'https://h.example/p?k=SECRET',
        'https://h.example/p#SECRET',
        'https://u:SECRET@h h/p?SECRET',
        'nonsense?SECRET',
        'u:SECRET@',
      ),
      (url) => {
        expect(displayUrl(url)).not.toContain('SECRET');
      },
    ),
  );
  expect(displayUrl('https://h.example:8443/p?k=SECRET')).toBe('https://h.example:8443/p');
  expect(displayUrl('javascript:alert(1)')).toBe('"javascript:alert(1)"');
  expect(displayUrl(`https://h.example/${'x'.repeat(1000)}`)).toHaveLength(200);
});

function codeOf(action: () => unknown): string | undefined {
  try {
    action();
  } catch (error) {
    if (error instanceof SafeFetchError) return error.code;
    throw error;
  }
  return undefined;
}
