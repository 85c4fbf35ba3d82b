import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'fullmcp/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { certificates } from '../../examples/client/connecting.js';
import { serveMutualTls, serveTls } from '../../examples/guide/http.js';
import { type Authority, makeAuthority } from '../support/http/authority.js';

// Runs the code that the pages about HTTPS show, with real certificates.

let authority: Authority;
beforeAll(async () => {
  authority = await makeAuthority();
  const [server, client] = [await authority.issue('server'), await authority.issue('ada', 'client')];
  const files = {
    'cert.pem': server.certFile,
    'key.pem': server.keyFile,
    'clients.pem': authority.caFile,
    'client.pem': client.certFile,
    'client-key.pem': client.keyFile,
  };
  for (const [name, file] of Object.entries(files)) await copyFile(file, join(authority.folder, name));
}, 60_000);
afterAll(() => authority[Symbol.asyncDispose]());

test('the examples serve HTTPS with the files of a folder, with and without client certificates', async () => {
  await using serving = await serveTls(authority.folder, 0);
  await using mutual = await serveMutualTls(authority.folder, 0);
  await using client = await connect(serving.url, { ca: authority.ca });
  expect(await client.tool['add']?.({ a: 1, b: 2 })).toBe(3);
  expect(await certificates(mutual.url, authority.folder)).toBe('3');
});
