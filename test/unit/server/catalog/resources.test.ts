import { createServer, inProcess, resource, ToolError } from 'fullmcp';
import { describe, expect, it } from 'vitest';

const quiet = { name: 'test', version: '1.0.0', logger: () => undefined };

const server = createServer({
  ...quiet,
  resources: {
    'a://text': resource({ ttlMs: 1000, cacheScope: 'public', read: () => 'hello' }),
    'a://json': resource({ read: () => ({ a: 1 }) }),
    'a://bytes': resource({ mimeType: 'image/png', read: () => new Uint8Array([1, 2, 3]) }),
    'a://buffer': resource({ read: () => new Uint8Array([1]).buffer }),
    'a://ready': resource({ read: (_, { uri }) => ({ uri, text: 'x', mimeType: 'text/x' }) }),
    'a://many': resource({
      read: () => [
        { uri: 'a://1', text: '1' },
        { uri: 'a://2', blob: 'AA==' },
      ],
    }),
    'a://result': resource({ read: () => ({ contents: [{ uri: 'a://1', text: '1' }] }) }),
    'a://shown': resource({
      read: () => {
        throw new ToolError('The disk is full');
      },
    }),
    'a://hidden': resource({
      read: () => {
        throw new Error('secret');
      },
    }),
    'users://{id}/profile': resource({
      mimeType: 'text/plain',
      read: ({ id }) => (id === '404' ? undefined : `user ${id}`),
    }),
    'files:///{+path}': resource({ read: ({ path }) => `file ${path}` }),
  },
});
const call = inProcess(server);
const read = async (uri: unknown) => call('resources/read', { uri });

describe('the value of a resource', () => {
  it.each([
    ['a://text', { uri: 'a://text', mimeType: 'text/plain', text: 'hello' }],
    ['a://json', { uri: 'a://json', mimeType: 'application/json', text: '{"a":1}' }],
    ['a://bytes', { uri: 'a://bytes', mimeType: 'image/png', blob: 'AQID' }],
    ['a://buffer', { uri: 'a://buffer', mimeType: 'application/octet-stream', blob: 'AQ==' }],
    ['a://ready', { uri: 'a://ready', mimeType: 'text/x', text: 'x' }],
    ['a://result', { uri: 'a://1', text: '1' }],
    ['users://7/profile', { uri: 'users://7/profile', mimeType: 'text/plain', text: 'user 7' }],
    ['users://a%20b/profile', { uri: 'users://a%20b/profile', mimeType: 'text/plain', text: 'user a b' }],
    ['files:///x/y.txt', { uri: 'files:///x/y.txt', mimeType: 'text/plain', text: 'file x/y.txt' }],
  ])('is sent as contents: %s', async (uri, contents) => {
    expect((await read(uri))['contents']).toEqual([contents]);
  });

  it('may be several contents', async () => {
    expect((await read('a://many'))['contents']).toHaveLength(2);
  });

  it('is private and not cached unless the definition says otherwise', async () => {
    expect(await read('a://text')).toMatchObject({ ttlMs: 1000, cacheScope: 'public' });
    expect(await read('a://json')).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
  });
});

describe('a missing resource', () => {
  it.each([
    'a://nope',
    '__proto__',
    'users://404/profile',
    'users://../profile',
    'users://%2e%2e%2f/profile',
    'users://%2e%2e/profile',
    'files:///../etc/passwd',
    'files:///a/%2e%2e/%2e%2e/etc/passwd',
    'files:///a/..%2f..%2fetc',
    '',
  ])('is not found: %j', async (uri) => {
    await expect(read(uri)).rejects.toMatchObject({ code: 'resource_not_found', data: { uri } });
  });
});

it('a ToolError of a resource is shown, any other error is not', async () => {
  await expect(read('a://shown')).rejects.toMatchObject({
    code: 'internal_error',
    message: 'The disk is full',
  });
  await expect(read('a://hidden')).rejects.toMatchObject({
    message: expect.stringMatching(/^Internal error \(ref/),
  });
});

it('a URI that is not a string is rejected', async () => {
  await expect(read(7)).rejects.toMatchObject({ code: 'invalid_params' });
});
