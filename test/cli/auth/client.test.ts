import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOSTILE, UNSAFE } from '../check/support.js';
import { fullmcp } from '../support/run-cli.js';

const URL_OF_CLIENT = 'https://app.example.com/mcp-client.json';
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-cimd-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('fullmcp auth client create', () => {
  it('prints a document that validate accepts', async () => {
    const file = join(folder, 'created.json');
    const words = ['auth', 'client', 'create', URL_OF_CLIENT, '--name', 'My app', '--scope', 'mcp:read'];
    const printed = await fullmcp(words);
    expect(printed.exit).toBe(0);
    expect(JSON.parse(printed.stdout)).toEqual({
      client_id: URL_OF_CLIENT,
      client_name: 'My app',
      scope: 'mcp:read',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
    const saved = await fullmcp([...words, '-o', file]);
    expect(saved).toMatchObject({ exit: 0, stdout: '' });
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(JSON.parse(printed.stdout));
    expect((await fullmcp([...words, '-o', file])).exit).toBe(2);
    const { exit, json } = await fullmcp(['auth', 'client', 'validate', file, '--json']);
    expect(exit).toBe(0);
    expect(json()).toMatchObject({ ok: true, clientId: URL_OF_CLIENT, name: 'My app', authMethod: 'none' });
  });

  it.each([
    ['an http URL', ['http://app.example.com/client.json', '--name', 'x']],
    ['a URL without a path', ['https://app.example.com/', '--name', 'x']],
    ['no name', [URL_OF_CLIENT]],
    [
      'a redirect over http to another computer',
      [URL_OF_CLIENT, '--name', 'x', '--redirect-uri', 'http://a.example/'],
    ],
    [
      'a redirect with a scheme of a script',
      [URL_OF_CLIENT, '--name', 'x', '--redirect-uri', 'javascript:alert(1)'],
    ],
  ])('refuses %s', async (_, words) => {
    expect(await fullmcp(['auth', 'client', 'create', ...words])).toMatchObject({ exit: 2, stdout: '' });
  });
});

describe('fullmcp auth client validate', () => {
  const right = {
    client_id: URL_OF_CLIENT,
    client_name: 'My app',
    redirect_uris: ['https://app.example.com/back'],
  };

  it.each([
    ['a secret', { ...right, client_secret: 'x' }, /client_secret/],
    ['no redirect', { ...right, redirect_uris: [] }, /redirect_uris/],
    ['another id', { ...right, client_id: 'https://app.example.com/' }, /path/],
    ['a secret key', { ...right, jwks: { keys: [{ kty: 'EC', d: 'x' }] } }, /secret key/],
    [
      'more bytes than servers read',
      { ...right, client_uri: `https://a.example/${'x'.repeat(6000)}` },
      /bytes/,
    ],
    ['text for a terminal', { ...right, client_id: HOSTILE }, /client id|client_id/],
  ])('finds %s', async (_, document, problem) => {
    const file = join(folder, 'wrong.json');
    await writeFile(file, JSON.stringify(document));
    const { exit, json, stdout } = await fullmcp(['auth', 'client', 'validate', file, '--json']);
    expect(exit).toBe(1);
    expect(json()).toMatchObject({ ok: false, source: file, problem: expect.stringMatching(problem) });
    for (const unsafe of UNSAFE) expect(stdout).not.toContain(unsafe);
  });

  it('finds a file that is not JSON, and one that is not there', async () => {
    const file = join(folder, 'text.json');
    await writeFile(file, '{');
    expect((await fullmcp(['auth', 'client', 'validate', file])).exit).toBe(1);
    expect((await fullmcp(['auth', 'client', 'validate', join(folder, 'nothing.json')])).exit).toBe(2);
  });

  it('does not fetch from this computer or over http', async () => {
    for (const url of ['https://127.0.0.1:1/client.json', 'http://example.com/client.json'])
      expect((await fullmcp(['auth', 'client', 'validate', url])).exit).toBe(1);
  });
});

it('fullmcp auth alone names its commands, with all their words', async () => {
  const alone = await fullmcp(['auth']);
  expect(alone.exit).toBe(2);
  expect(alone.stderr).toContain('fullmcp auth login');
  const cimd = await fullmcp(['auth', 'client']);
  expect(cimd.stderr).toBe('Say which: fullmcp auth client create, fullmcp auth client validate.\n');
  expect((await fullmcp(['auth', 'client', 'create', '--help'])).stdout).toContain(
    'fullmcp auth client create <url>',
  );
});
