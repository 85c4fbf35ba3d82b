import { expect, test } from 'vitest';
import { chooseScopes, type ScopeSources, scopesToRegister } from '../../../../src/oauth/client/scopes.js';

const none: ScopeSources = { challenge: undefined, resource: [], wanted: [], asked: [] };
const issuer = 'https://as.example';

test.each<[string, Partial<ScopeSources>, readonly string[] | undefined, readonly string[]]>([
  ['no scopes, if nobody names any', {}, undefined, []],
  ['those of the challenge', { challenge: ['a'] }, undefined, ['a']],
  [
    'those of the challenge and not those of the resource',
    { challenge: ['a'], resource: ['b'] },
    undefined,
    ['a'],
  ],
  ['those of the resource, if the challenge names none', { resource: ['b', 'c'] }, undefined, ['b', 'c']],
  [
    'none of the resource, if the challenge names an empty list',
    { challenge: [], resource: ['b'] },
    undefined,
    [],
  ],
  [
    'those of earlier logins as well',
    { challenge: ['b'], asked: ['a'], resource: ['c'] },
    undefined,
    ['a', 'b'],
  ],
  [
    'those that the program wants as well, each once',
    { challenge: ['a'], wanted: ['a', 'd'] },
    undefined,
    ['a', 'd'],
  ],
  [
    'offline_access, where the server lists it',
    { challenge: ['a'] },
    ['offline_access'],
    ['a', 'offline_access'],
  ],
  ['offline_access never alone', {}, ['offline_access'], []],
  [
    'no offline_access, where the server does not list it, though the resource and the program do',
    { resource: ['a', 'offline_access'], wanted: ['offline_access'], asked: ['offline_access'] },
    ['a'],
    ['a'],
  ],
])('a login asks for %s', (_, sources, supported, expected) => {
  const metadata = { issuer, ...(supported !== undefined && { scopes_supported: [...supported] }) };
  expect(chooseScopes({ ...none, ...sources }, metadata)).toEqual(expected);
});

test('a client is registered for all scopes that a login may ask for later, each once', () => {
  expect(scopesToRegister(['a', 'offline_access'], ['a', 'b'])).toEqual(['a', 'offline_access', 'b']);
});
