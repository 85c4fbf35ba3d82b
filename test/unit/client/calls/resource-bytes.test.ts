import { createServer as createHttp } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, resource } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { everyWire } from 'fullmcp/testing';
import { expect, onTestFinished, test } from 'vitest';
import manifest from '../../../../package.json' with { type: 'json' };

const bytes = Uint8Array.from({ length: 300 }, (_, at) => at % 256);

test('bytes() of a resource decodes what the server read, over every transport and revision', async () => {
  const files = createServer({
    name: 'files',
    version: '1',
    resources: {
      'file:///photo': resource({ mimeType: 'image/png', read: () => bytes }),
      'file:///note': resource({ read: () => 'Grüße' }),
    },
  });
  await everyWire(files, async (client) => {
    const photo = await client.readResource('file:///photo');
    expect(photo.bytes()).toEqual(bytes);
    const note = await client.readResource('file:///note');
    expect(new TextDecoder().decode(note.bytes())).toBe('Grüße');
    expect(Object.keys(note).sort()).toEqual(['contents', 'meta', 'text']);
  });
});

test('bytes() joins several parts, and rejects one that is not base64', async () => {
  const contents = [
    { uri: 'a://b', text: 'ab' },
    { uri: 'a://b', blob: btoa('cd') },
  ];
  const parts = (more: object[]) => ({ contents: [...contents, ...more], ttlMs: 0, cacheScope: 'private' });
  const server = createServer({
    name: 'parts',
    version: '1',
    resources: { 'a://b': resource({ read: () => 'x' }) },
  });
  const lying = (more: object[]) => ({
    dispatch: async (call: Parameters<typeof server.dispatch>[0]) =>
      call.method === 'resources/read' ? { resultType: 'complete', ...parts(more) } : server.dispatch(call),
  });
  const read = async (more: object[]) => {
    await using client = await connect(lying(more) as never);
    return await client.readResource('a://b');
  };
  expect(new TextDecoder().decode((await read([])).bytes())).toBe('abcd');
  const broken = await read([{ uri: 'a://b', blob: 'not base64!' }]);
  expect(() => broken.bytes()).toThrow(expect.objectContaining({ code: 'bad_response' }));
  const empty = await read([{ uri: 'a://b' }]);
  expect(() => empty.bytes()).toThrow('neither text nor base64');
});

test('the User-Agent of the client has the version of the package, and can be replaced', async () => {
  const seen: (string | undefined)[] = [];
  const http = createHttp((request, reply) => {
    seen.push(request.headers['user-agent']);
    reply.writeHead(500).end();
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void http.close());
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  await expect(connect(url)).rejects.toThrow();
  expect(new Set(seen)).toEqual(new Set([`fullmcp/${manifest.version}`]));
  seen.length = 0;
  await expect(connect(url, { headers: { 'user-agent': 'shop/2' } })).rejects.toThrow();
  expect(seen).toContain('shop/2');
});
