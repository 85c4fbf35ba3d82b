import { rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { connect } from 'fullmcp/client';
import { describe, expect, it, vi } from 'vitest';
import { openTarget } from '../../../src/cli/inspecting/open-target.js';
import { UsedServers } from '../../../src/cli/inspecting/used-servers.js';
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
    const refused = await fullmcp(['call', file, 'admin', '--as', 'bob']);
    expect(refused.stderr).toContain('This needs the scope admin. Give it to the caller: --scopes admin\n');
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
    const scopes = await fullmcp(['list', 'http://localhost:1/mcp', '--scopes', 'a']);
    expect([scopes.exit, scopes.stderr]).toEqual([2, expect.stringContaining('--scopes is for a server in')]);
    for (const host of ['0.0.0.0', '::', 'example.com']) {
      const open = await fullmcp(['run', file, '--http', '0', '--host', host, '--as', 'ada']);
      expect([open.exit, open.stderr]).toEqual([
        2,
        expect.stringContaining(`On ${host}, everybody on the network would be "ada".`),
      ]);
    }
  });

  it('is served on this computer as the caller of --as, whatever its own auth and the environment say', async () => {
    const guarded = tracker('me').replace(
      "version: '1.0.0',",
      "version: '1.0.0', auth: () => { throw new McpError('unauthorized', 'No key.') },",
    );
    const file = join(await folderWith({ 'server.mjs': guarded }), 'server.mjs');
    vi.stubEnv('MCP_HOST', '0.0.0.0');
    const { url } = await serving(['run', file, '--http', '0', '--as', 'ada', '--scopes', 'admin,read']);
    expect(new URL(url).hostname).toMatch(/^(?:localhost|127\.0\.0\.1)$/);
    await using client = await connect(url);
    expect((await client.callTool('me')).data).toEqual({ user: 'ada', scopes: ['admin', 'read'] });
    expect((await client.callTool('admin')).text).toBe('done');
  });

  it('is served without the warning that its rules guard what nobody can use', async () => {
    const file = join(await folderWith({ 'server.mjs': tracker('me') }), 'server.mjs');
    const said = vi.spyOn(console, 'error').mockReturnValue(undefined);
    const { url, stop } = await serving(['run', file, '--http', '0', '--as', ada]);
    expect((await fullmcp(['call', url, 'admin'])).stdout).toBe('done\n');
    await stop();
    expect(said.mock.calls.flat().join('\n')).not.toContain('access rules');
    const unnamed = await serving(['run', file, '--http', '0']);
    await unnamed.stop();
    expect(said.mock.calls.flat().join('\n')).toContain('access rules');
  });

  it('is used as the caller whom the claims of a token in a file describe', async () => {
    const folder = await folderWith({
      'server.mjs': tracker('me'),
      'ada.json': '{"sub":"ada","scope":"read admin","iss":"https://login.example.com","exp":1}',
      'nobody.json': '{"scope":"read"}',
      'list.json': '[1]',
    });
    const me = (...words: string[]) => fullmcp(['call', join(folder, 'server.mjs'), 'me', ...words]);
    const claims = (name: string) => ['--claims', join(folder, name)];
    expect(JSON.parse((await me(...claims('ada.json'))).stdout)).toEqual({
      user: 'ada',
      scopes: ['read', 'admin'],
    });
    expect(JSON.parse((await me(...claims('nobody.json'), '--as', 'bob', '--scopes', 'x')).stdout)).toEqual({
      user: 'bob',
      scopes: ['x'],
    });
    expect((await me(...claims('nobody.json'))).stderr).toContain('add "sub", or name the caller with --as');
    expect((await me(...claims('list.json'))).stderr).toContain('must be a JSON object');
    expect((await me(...claims('none.json'))).stderr).toContain('none.json of --claims does not exist.');
    expect((await me('--scopes', 'read')).stderr).toContain('--scopes needs a caller: add --as');
  });

  it('is inspected in the page as a caller, by the command and by the form, and only a file is', async () => {
    const file = join(await folderWith({ 'server.mjs': tracker('me') }), 'server.mjs');
    const parts = { places: async () => [], used: new UsedServers(join(dirname(file), 'used.json')) };
    const opened = await openTarget({ text: file, as: 'ada', scopes: ['admin'] }, parts);
    expect(opened.typed).toBe(`${file} --as ada --scopes admin`);
    await using client = await connect(opened.target);
    expect((await client.callTool('me')).data).toEqual({ user: 'ada', scopes: ['admin'] });
    for (const place of [{ url: 'http://localhost:1/mcp' }, { command: 'node', args: [file] }])
      await expect(openTarget({ ...place, as: 'ada' }, parts)).rejects.toThrow('A caller is for a');
    await expect(openTarget({ text: file, scopes: ['a'] }, parts)).rejects.toThrow('Scopes need a caller');
    await parts.used.remember({ text: file, as: 'ada', scopes: ['admin'] }, file, undefined);
    expect((await parts.used.list())[0]?.spec).toEqual({ text: file, as: 'ada', scopes: ['admin'] });
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
