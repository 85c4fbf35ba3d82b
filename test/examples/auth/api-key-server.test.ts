import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'fullmcp/client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { addKey } from '../../../examples/api-key-server/keys.js';

// Runs examples/api-key-server as it is.

let folder: string;
let url: string;
let close: () => Promise<void>;
const keys: Record<string, string> = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-keys-'));
  const file = join(folder, 'keys.json');
  keys['screen'] = await addKey(file, { subject: 'screen', scopes: ['visitors:read'] });
  keys['reception'] = await addKey(file, {
    subject: 'reception',
    scopes: ['visitors:read', 'visitors:write'],
  });
  vi.stubEnv('KEYS_FILE', file);
  vi.stubEnv('PORT', '0');
  const { serving } = await import('../../../examples/api-key-server/main.js');
  ({ url, close } = serving);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await close();
  await rm(folder, { recursive: true, force: true });
});

async function toolsOf(auth?: string): Promise<string[]> {
  await using client = await connect(url, { ...(auth !== undefined && { auth }) });
  return (await client.tools().all()).map(({ name }) => name);
}

describe('the server with API keys', () => {
  test('shows each caller the tools that its key has scopes for', async () => {
    expect(await toolsOf()).toEqual(['opening_hours']);
    expect(await toolsOf(keys['screen'])).toEqual(['opening_hours', 'list_visitors']);
    expect(await toolsOf(keys['reception'])).toEqual(['opening_hours', 'list_visitors', 'add_visitor']);
  });

  test('serves the public tool to everyone, and the protected ones to keys with their scopes', async () => {
    await using anybody = await connect(url);
    expect((await anybody.callTool('opening_hours')).text).toContain('Monday');
    await expect(anybody.callTool('add_visitor', { name: 'Eve' })).rejects.toMatchObject({
      code: 'unauthorized',
    });
    await using screen = await connect(url, { auth: keys['screen'] as string });
    await expect(screen.callTool('add_visitor', { name: 'Eve' })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await using reception = await connect(url, { auth: keys['reception'] as string });
    const added = await reception.callTool('add_visitor', { name: 'Ada' });
    expect(added.text).toBe('Ada was announced by reception');
    expect((await screen.callTool('list_visitors')).text).toBe('Ada');
  });

  test('refuses a key that it does not know, even for the public tool', async () => {
    await expect(connect(url, { auth: `${keys['screen']}x` })).rejects.toMatchObject({
      code: 'unauthorized',
    });
  });

  test('stores no key', async () => {
    const stored = await readFile(join(folder, 'keys.json'), 'utf8');
    expect(stored).toContain('sha256:');
    for (const key of Object.values(keys)) expect(stored).not.toContain(key.slice(7, 20));
  });
});
