import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'fullmcp/client';
import { describe, expect, it } from 'vitest';
import { fullmcp } from '../support/run-cli.js';
import { folderWith, serving } from './support.js';
import { Told } from './told.js';

/** A server that answers nobody whom it does not know. */
function tracker(tool: string): string {
  return `
import { defineWith, McpError } from 'fullmcp';
const { createServer, resource, tool } = defineWith({
  user: ({ auth }) => {
    if (auth === undefined) throw new McpError('unauthorized', 'Log in first.');
    return auth.subject;
  },
});
export default createServer({
  name: 'tracker',
  version: '1.0.0',
  tools: {
    ${tool}: tool({ run: (_, { user, auth }) => ({ user, scopes: auth.scopes }) }),
    admin: tool({ scopes: ['admin'], run: () => 'done' }),
  },
  resources: {
    'issue://{id}': resource({
      list: (ctx) => [{ uri: 'issue://1', name: 'of ' + ctx.user }],
      read: ({ id }, { user }) => user + id,
    }),
  },
});
`;
}

const ada = '{"subject":"ada","scopes":["admin"]}';

describe('a server in a file that needs a caller', { timeout: 120_000 }, () => {
  it('is used as the caller that --as names, by its subject or with its scopes', async () => {
    const file = join(await folderWith({ 'server.mjs': tracker('me') }), 'server.mjs');
    const call = await fullmcp(['call', file, 'me', '--as', ada, '--json']);
    expect(call.json()).toMatchObject({ ok: true, text: '{"user":"ada","scopes":["admin"]}' });
    const manifest = await fullmcp(['manifest', file, '--as', 'bob', '--json']);
    expect(manifest.json()).toMatchObject({
      manifest: { resources: [{ name: 'of bob' }], tools: [{ name: 'me' }] },
    });
    expect((await fullmcp(['lint', file, '--as', ada])).stderr).not.toContain('Log in first');
    expect((await fullmcp(['read', file, 'issue://1', '--as', 'bob'])).stdout).toBe('bob1\n');
  });

  it('says that a caller can be named if none is', async () => {
    const file = join(await folderWith({ 'server.mjs': tracker('me') }), 'server.mjs');
    for (const words of [
      ['manifest', file],
      ['lint', file],
      ['call', file, 'me'],
    ]) {
      const { exit, stderr } = await fullmcp(words);
      expect(exit, words[0]).toBeGreaterThan(0);
      expect(stderr).toContain('Log in first.');
      expect(stderr).toContain('name a caller with --as, as in: --as ada');
    }
    expect((await fullmcp(['manifest', file, '--as', 'ada'])).exit).toBe(0);
  });

  it.each([
    [['--as', '{"subject":'], '--as is not JSON.'],
    [['--as', '{"subject":"ada","scope":["a"]}'], '--as has "scope". Did you mean "scopes"?'],
    [['--as', '{"subject":"ada","scopes":"a"}'], '--as.scopes must be an array of strings.'],
    [['--as', ''], '--as.subject must be a string of 1 to 1024 characters.'],
  ])('refuses the caller of %j', async (words, reason) => {
    const file = join(await folderWith({ 'server.mjs': tracker('me') }), 'server.mjs');
    const { exit, stderr } = await fullmcp(['call', file, 'me', ...words]);
    expect([exit, stderr]).toEqual([2, expect.stringContaining(reason)]);
  });

  it('cannot be given a caller if it runs elsewhere, or for everybody who reaches a port', async () => {
    const file = join(await folderWith({ 'server.mjs': tracker('me') }), 'server.mjs');
    const elsewhere = await fullmcp(['call', 'http://localhost:1/mcp', 'me', '--as', 'ada']);
    expect([elsewhere.exit, elsewhere.stderr]).toEqual([2, expect.stringContaining('--token or --header')]);
    const port = await fullmcp(['run', file, '--http', '0', '--as', 'ada']);
    expect([port.exit, port.stderr]).toEqual([2, expect.stringContaining('would be that caller')]);
  });

  it('is served and reloaded by dev even if it lists nothing for nobody, and as the caller of --as', async () => {
    const folder = await folderWith({ 'server.mjs': tracker('me') });
    const file = join(folder, 'server.mjs');
    const told = new Told();
    const { url, stop } = await serving(['dev', file, '--port', '0', '--no-inspector'], told.set);
    await told.next(/Not everything could be listed: Log in first\. If the server needs .* --as ada/);
    await writeFile(join(folder, 'next.mjs'), tracker('whoami'));
    await rename(join(folder, 'next.mjs'), file);
    await told.next(/is reloaded: 2 tools/);
    const anonymous = await connect(url);
    await expect(anonymous.callTool('whoami')).rejects.toThrow('Log in first.');
    await anonymous.close();
    await stop();
    const named = new Told();
    const second = await serving(['dev', file, '--port', '0', '--no-inspector', '--as', ada], named.set);
    const client = await connect(second.url);
    expect((await client.callTool('whoami')).data).toEqual({ user: 'ada', scopes: ['admin'] });
    expect(named.text).not.toContain('Not everything');
    await client.close();
    await second.stop();
  });
});
