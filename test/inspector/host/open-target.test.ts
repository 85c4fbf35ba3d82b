import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { configuredPlaces, foundServers } from '../../../src/cli/inspecting/found-servers.js';
import { hasBrowser } from '../../../src/cli/inspecting/inspect-page.js';
import { openTarget } from '../../../src/cli/inspecting/open-target.js';
import { splitCommand } from '../../../src/cli/inspecting/split-command.js';
import { sharedLogins } from '../../../src/cli/inspecting/start-inspector.js';
import { UsedServers } from '../../../src/cli/inspecting/used-servers.js';
import { loginStore } from '../../../src/cli/target/login/login-store.js';
import type { TargetSpec } from '../../../src/inspector/contract/connection.js';
import type { OpenedTarget } from '../../../src/inspector/contract/options.js';
import { expectMode } from '../../support/modes.js';

let folder: string;
let before: string;
beforeEach(async () => {
  before = process.cwd();
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-inspecting-'));
  for (const name of ['HOME', 'XDG_CONFIG_HOME', 'CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'APPDATA'])
    vi.stubEnv(name, join(folder, 'home'));
  process.chdir(folder);
});
afterEach(async () => {
  process.chdir(before);
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

function used(): UsedServers {
  return new UsedServers(join(folder, 'state', 'used.json'));
}

function open(spec: TargetSpec): Promise<OpenedTarget> {
  return openTarget(spec, { places: () => configuredPlaces(), used: used() });
}

describe('a command line in the page', () => {
  it('is split as a shell would, without being one', () => {
    expect(splitCommand(`A=1 B="two words" npx -y 'some server' --x="a \\"b\\"" C=3`)).toEqual({
      command: 'npx',
      args: ['-y', 'some server', '--x=a "b"', 'C=3'],
      env: { A: '1', B: 'two words' },
    });
    expect(splitCommand(String.raw`C:\tools\server.exe a\ b ''`).args).toEqual(['a b', '']);
    expect(splitCommand(String.raw`C:\tools\server.exe`).command).toBe(String.raw`C:\tools\server.exe`);
    expect(splitCommand(`node -e 'a; b | c'`).args).toEqual(['-e', 'a; b | c']);
  });

  it('is refused if it needs a shell, and nothing is started', async () => {
    for (const text of [
      'node a.js; rm -rf x',
      'a && b',
      'a | b',
      'a > b',
      'echo $(id)',
      'echo `id`',
      'echo $HOME',
    ])
      await expect(open({ text }), text).rejects.toThrow(/No shell is involved/);
    await expect(open({ text: `node 'a` })).rejects.toThrow("The quote ' does not end.");
    await expect(open({ text: 'A=1' })).rejects.toThrow('A command is missing.');
  });

  it('becomes a process with its variables, and without a hook', async () => {
    expect(await open({ text: 'A=1 node my.js --token abc', env: { B: '2' }, cwd: folder })).toEqual({
      target: { command: 'node', args: ['my.js', '--token', 'abc'], env: { A: '1', B: '2' }, cwd: folder },
      options: {},
      address: 'node my.js --token ••••',
      typed: '-- node my.js --token ••••',
    });
    await expect(open({ command: 'node', cwd: join(folder, 'none') })).rejects.toThrow('There is no folder');
  });
});

describe('a target that is typed in the page', () => {
  it('is a URL, with its token and headers', async () => {
    expect(
      await open({ text: ' https://example.com/mcp?key=s3cret ', token: 'abc', headers: { 'x-a': 'b' } }),
    ).toEqual({
      target: { url: 'https://example.com/mcp?key=s3cret', headers: { 'x-a': 'b' } },
      options: { auth: 'abc' },
      address: 'https://example.com/mcp?key=••••',
      typed: "'https://example.com/mcp?key=••••'",
    });
    await expect(open({ text: 'localhost:3000/mcp' })).rejects.toThrow('Write http://localhost:3000/mcp');
    await expect(open({ url: 'ftp://example.com' })).rejects.toThrow('begins with https:');
    await expect(open({ url: 'file:///etc/passwd.js' })).rejects.toThrow('without file://');
  });

  it('is a file, which fullmcp run starts and which reports its steps', async () => {
    await writeFile('server.mjs', '');
    const { target, address, typed, journalMark = '' } = await open({ text: 'server.mjs', env: { A: '1' } });
    expect({ address, typed }).toEqual({ address: 'server.mjs', typed: 'server.mjs' });
    expect(journalMark).toMatch(/^[0-9a-f]{32}$/);
    expect(target).toMatchObject({
      command: process.execPath,
      args: [expect.stringMatching(/fullmcp\.js$/), 'run', 'server.mjs'],
      env: { A: '1', FULLMCP_JOURNAL: journalMark },
    });
    await expect(open({ text: 'other.ts' })).rejects.toThrow('There is no file other.ts');
  });

  it('is a pasted configuration with one server, in all forms that people paste', async () => {
    const server = '{ "command": "node", "args": ["s.js"], /* why */ "env": { "KEY": "abc" } }';
    for (const text of [
      `{"mcpServers": {"a": ${server}}}`,
      `{"servers": {"a": ${server}}}`,
      server,
      `{"a": ${server}}`,
      `"a": ${server},`,
    ])
      expect(await open({ text }), text).toMatchObject({
        target: { command: 'node', args: ['s.js'], env: { KEY: 'abc' } },
        address: 'node s.js',
      });
    expect(
      await open({ text: '{"url":"http://localhost:1/mcp","headers":{"authorization":"x"}}' }),
    ).toMatchObject({
      target: { url: 'http://localhost:1/mcp', headers: { authorization: 'x' } },
    });
  });

  it('is refused if a pasted configuration has several servers, or none', async () => {
    const two = '{"mcpServers":{"a":{"command":"x"},"b":{"url":"http://localhost:1"}}}';
    await expect(open({ text: two })).rejects.toThrow('The text has 2 servers: a, b. Paste one of them.');
    const one = '{"mcpServers":{"a":{"command":"x","disabled":true},"b":{"url":"http://localhost:1"}}}';
    expect((await open({ text: one })).address).toBe('http://localhost:1');
    await expect(open({ text: '{"mcpServers":{}}' })).rejects.toThrow('no server');
    await expect(open({ text: '{"a":1}' })).rejects.toThrow('neither "mcpServers"');
    await expect(open({ text: '{"a":' })).rejects.toThrow('begins like JSON');
    await expect(open({ text: '{"command":"x","env":{"K":"$' + '{NOT_SET_ANYWHERE}"}}' })).rejects.toThrow(
      'NOT_SET_ANYWHERE',
    );
  });

  it('is refused without a place, or with two', async () => {
    for (const spec of [{}, { text: '' }, { url: 'http://localhost', command: 'x' }])
      await expect(open(spec)).rejects.toThrow(/Say where|Type a URL/);
    await expect(open({ url: 'http://localhost', revision: '2020-01-01' })).rejects.toThrow('must be one of');
  });
});

describe('the servers that are offered', () => {
  it('are those of this folder and of the hosts, with their secrets masked', async () => {
    const config = {
      mcpServers: { shop: { command: 'node', args: ['--token', 'abc'], env: { K: 's3cret' } } },
    };
    await writeFile('mcp.json', JSON.stringify(config));
    await mkdir('.cursor');
    await writeFile(
      '.cursor/mcp.json',
      JSON.stringify({ mcpServers: { web: { url: 'https://example.com/mcp?k=s3cret' } } }),
    );
    const found = await foundServers(await configuredPlaces(), used());
    expect(found).toEqual([
      { id: 'mcp.json:shop', name: 'shop', source: 'mcp.json', address: 'node --token ••••' },
      {
        id: '.cursor/mcp.json:web',
        name: 'web',
        source: '.cursor/mcp.json',
        address: 'https://example.com/mcp?k=••••',
      },
    ]);
    expect(JSON.stringify(found)).not.toContain('s3cret');
    expect((await open({ name: 'mcp.json:shop' })).target).toEqual({
      command: 'node',
      args: ['--token', 'abc'],
      env: { K: 's3cret' },
    });
    expect((await open({ name: 'mcp.json:shop' })).typed).toBe('shop');
    expect((await open({ text: 'shop' })).address).toBe('node --token ••••');
    await expect(open({ name: 'mcp.json:gone' })).rejects.toThrow('not in a configuration any more');
  });

  it('are those that were used before, without secrets, and can be forgotten', async () => {
    const servers = used();
    await servers.remember({ url: 'http://localhost:3000/mcp' }, 'http://localhost:3000/mcp', undefined);
    await servers.remember({ text: 'server.ts', cwd: folder }, 'server.ts', 'It ended.');
    // These have a secret in their address or command.
    await servers.remember({ url: 'https://u:p@example.com/mcp' }, 'x', undefined);
    await servers.remember({ url: 'https://example.com/mcp?key=abc' }, 'x', undefined);
    await servers.remember({ command: 'node', args: ['--api-key', 'abc'] }, 'x', undefined);
    await servers.remember({ text: 'node s.js --token=abc' }, 'x', undefined);
    const withEnv: TargetSpec = {
      command: 'node',
      args: ['s.js'],
      env: { KEY: 's3cret' },
      token: 's3cret',
      headers: { a: 's3cret' },
    };
    await servers.remember(withEnv, 'node s.js', undefined);
    const file = join(folder, 'state', 'used.json');
    expect(await readFile(file, 'utf8')).not.toContain('s3cret');
    expectMode(file, 0o600);
    const found = await foundServers([], servers);
    expect(found.map(({ address, source, lastFailure }) => [address, source, lastFailure])).toEqual([
      ['node s.js', 'used before', undefined],
      ['server.ts', 'used before', 'It ended.'],
      ['http://localhost:3000/mcp', 'used before', undefined],
    ]);
    const [, , web] = found;
    expect((await open({ name: web?.id ?? '', token: 'again' })).options).toEqual({ auth: 'again' });
    await servers.forget(web?.id ?? '');
    expect((await servers.list()).map(({ address }) => address)).toEqual(['node s.js', 'server.ts']);
  });

  it('are told apart by their folder and their caller where their address is the same, and listed once where nothing differs', async () => {
    const servers = used();
    await servers.remember({ text: 'server.ts', cwd: '/shop' }, 'server.ts', undefined);
    await servers.remember({ text: 'server.ts', cwd: '/bank' }, 'server.ts', undefined);
    await servers.remember({ text: 'server.ts', cwd: '/bank', as: 'ada' }, 'server.ts', undefined);
    await servers.remember({ command: 'npx', args: ['alone'] }, 'npx alone', undefined);
    await servers.remember({ text: 'npx twice' }, 'npx twice', undefined);
    await servers.remember({ command: 'npx', args: ['twice'] }, 'npx twice', undefined);
    const found = await foundServers([], servers);
    expect(found.map(({ name, address }) => [name, address])).toEqual([
      ['npx twice', 'npx twice'],
      ['npx alone', 'npx alone'],
      ['server.ts', 'in /bank as ada'],
      ['server.ts', 'in /bank'],
      ['server.ts', 'in /shop'],
    ]);
    const target = await servers.list();
    expect(target.find(({ id }) => id === found[0]?.id)?.spec).toEqual({ command: 'npx', args: ['twice'] });
  });

  it('are at most 20 that were used before, the latest first, each once', async () => {
    const servers = used();
    for (let port = 1; port <= 30; port++)
      await servers.remember({ url: `http://localhost:${port}` }, `${port}`, undefined);
    await servers.remember({ url: 'http://localhost:20' }, '20', undefined);
    const list = await servers.list();
    expect(list.map(({ address }) => address).slice(0, 3)).toEqual(['20', '30', '29']);
    expect(list).toHaveLength(20);
  });

  it('survive a file that is damaged or hostile', async () => {
    const file = join(folder, 'used.json');
    const servers = new UsedServers(file);
    for (const text of [
      '',
      '{',
      '[]',
      '{"servers":[1,{"id":1},{"id":"x","address":"y","at":1,"spec":{"command":["rm"]}}]}',
    ]) {
      await writeFile(file, text);
      expect(await servers.list(), text).toEqual([]);
    }
  });
});

describe('the logins of the command', () => {
  it('are shared with the inspector, and nothing is made before there is one to keep', async () => {
    const home = join(folder, 'logins');
    vi.stubEnv('FULLMCP_HOME', home);
    const logins = sharedLogins();
    expect(await logins.get('a')).toBeUndefined();
    await logins.delete('a');
    await expect(stat(home)).rejects.toThrow('ENOENT');
    expect(await logins.set('a', 's3cret')).toBe(true);
    expect(await loginStore().get('a')).toBe('s3cret');
    await logins.delete('a');
    expect(await loginStore().get('a')).toBeUndefined();
  });
});

describe('a browser', () => {
  it('is opened on a desktop only: not in CI, and not over SSH without a display', () => {
    expect(hasBrowser({ DISPLAY: ':0' }, 'linux')).toBe(true);
    expect(hasBrowser({ WAYLAND_DISPLAY: 'wayland-0' }, 'linux')).toBe(true);
    expect(hasBrowser({}, 'linux')).toBe(false);
    expect(hasBrowser({}, 'darwin')).toBe(true);
    expect(hasBrowser({ CI: 'true', DISPLAY: ':0' }, 'linux')).toBe(false);
    expect(hasBrowser({ SSH_CONNECTION: 'x' }, 'darwin')).toBe(false);
    expect(hasBrowser({ SSH_CONNECTION: 'x', DISPLAY: ':10' }, 'linux')).toBe(true);
  });
});
