import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hosts } from '../../../src/cli/hosts/hosts.js';
import { expectMode } from '../../support/modes.js';
import { fullmcp } from '../support/run-cli.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-hosts-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function fileWith(text: string, name = 'config'): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

/** Installs a server named `added` and returns the new text. */
async function installed(host: string, before: string, target: readonly string[]): Promise<string> {
  const file = await fileWith(before);
  const { exit, stderr } = await fullmcp([
    'install',
    host,
    '--config-path',
    file,
    '--name',
    'added',
    '--yes',
    ...target,
  ]);
  expect({ exit, stderr }).toMatchObject({ exit: 0 });
  expect(await readFile(`${file}.fullmcp.bak`, 'utf8')).toBe(before);
  return readFile(file, 'utf8');
}

const COMMAND = ['--', 'npx', '-y', 'some-server'];
const ADDRESS = ['https://example.com/mcp', '--header', 'X-Key: abc'];

const JSON_BEFORE = `\ufeff{\r
\t// kept\r
\t"theme": "dark", /* kept too */\r
\t"mcpServers": {\r
\t\t"first": { "command": "a", "unknown": [1, 2,] } // the first\r
\t},\r
\t"last": 1.50e1\r
}\r
`;

describe('the question before a file is changed', () => {
  it.each([
    ['y\n', 0, 'added'],
    ['\n', 1, 'Nothing was changed.'],
    ['no\n', 1, 'Nothing was changed.'],
    ['\u0004', 1, 'Nothing was changed.'],
    ['\u0003', 130, '(y/N)'],
  ])('is answered with %j', async (keys, exit, said) => {
    const file = await fileWith('{}');
    const words = ['install', 'cursor', '--config-path', file, '--name', 'added', ...COMMAND];
    const ran = await fullmcp(words, { terminal: true, keys });
    expect([ran.exit, ran.stderr]).toEqual([exit, expect.stringContaining(said)]);
    expect(ran.stderr).not.toContain('Aborted');
    if (exit !== 0) expect(await readFile(file, 'utf8')).toBe('{}');
  });
});

describe('a name that the host already has', () => {
  const other = '{ "mcpServers": { "shop": { "url": "http://localhost:1/mcp?key=planted" } } }';

  it('is asked about before another server is replaced', async () => {
    const file = await fileWith(other);
    const words = ['install', 'cursor', '--config-path', file, '--name', 'shop', ...COMMAND];
    const kept = await fullmcp(words, { terminal: true, keys: '\n' });
    expect(kept.exit).toBe(1);
    expect(kept.stderr).toContain('Cursor already has another shop: http://localhost:1/mcp?key=••••\n');
    expect(await readFile(file, 'utf8')).toBe(other);
  });

  it('is named with what it was before, also for a program, and without secrets', async () => {
    const file = await fileWith(other);
    const words = ['install', 'cursor', '--config-path', file, '--name', 'shop', '--yes'];
    const ran = await fullmcp([...words, ...COMMAND]);
    expect(ran.stderr).toContain('shop was replaced in Cursor; before: http://localhost:1/mcp?key=••••\n');
    expect(ran.stderr).not.toContain('is installed');
    const back = await fullmcp([...words, '--json', 'http://localhost:2/mcp']);
    expect(back.json()).toMatchObject({
      changed: true,
      replaced: { command: 'npx', args: ['-y', 'some-server'] },
    });
  });

  it('is the same server if only a variable of it changes', async () => {
    const file = await fileWith('{}');
    const words = ['install', 'cursor', '--config-path', file, '--name', 'shop', '--yes'];
    await fullmcp([...words, ...COMMAND]);
    const ran = await fullmcp([...words, '--env', 'A=b', ...COMMAND]);
    expect(ran.stderr).toContain('shop is installed.');
    expect(ran.stderr).not.toContain('replaced');
  });
});

describe('install', () => {
  it('adds a server to JSON and keeps every other byte: comments, a BOM, tabs, line endings, numbers as written', async () => {
    expect(await installed('cursor', JSON_BEFORE, COMMAND)).toBe(
      JSON_BEFORE.replace(
        '] } // the first\r\n',
        '] }, // the first\r\n\t\t"added": {\r\n\t\t\t"command": "npx",\r\n\t\t\t"args": [\r\n\t\t\t\t"-y",\r\n\t\t\t\t"some-server"\r\n\t\t\t]\r\n\t\t}\r\n',
      ),
    );
  });

  it.each([
    [
      'claude-code',
      'mcpServers',
      { type: 'http', url: 'https://example.com/mcp', headers: { 'X-Key': 'abc' } },
    ],
    ['cursor', 'mcpServers', { url: 'https://example.com/mcp', headers: { 'X-Key': 'abc' } }],
    ['vscode', 'servers', { type: 'http', url: 'https://example.com/mcp', headers: { 'X-Key': 'abc' } }],
    ['windsurf', 'mcpServers', { serverUrl: 'https://example.com/mcp', headers: { 'X-Key': 'abc' } }],
    ['gemini-cli', 'mcpServers', { httpUrl: 'https://example.com/mcp', headers: { 'X-Key': 'abc' } }],
    [
      'opencode',
      'mcp',
      { type: 'remote', url: 'https://example.com/mcp', headers: { 'X-Key': 'abc' }, enabled: true },
    ],
    [
      'claude-desktop',
      'mcpServers',
      {
        command: 'npx',
        args: ['-y', 'fullmcp', 'proxy', 'https://example.com/mcp', '--header', 'X-Key: abc'],
      },
    ],
  ])('writes an address as %s reads it, also into an empty file', async (host, section, entry) => {
    expect(JSON.parse(await installed(host, '', ADDRESS))).toEqual({ [section]: { added: entry } });
    expect(JSON.parse(await installed(host, '{"a":{"b":1}}', ADDRESS))).toEqual({
      a: { b: 1 },
      [section]: { added: entry },
    });
  });

  it('adds a table to the TOML of Codex, and keeps every other byte', async () => {
    const before = `model = "o3" # kept\nnotes = """\n[mcp_servers.added]\n"""\n\n[mcp_servers.other]\ncommand = 'x'\n# the end\n`;
    expect(await installed('codex', before, ['--env', 'A=b"\n', ...COMMAND])).toBe(
      `${before}\n[mcp_servers.added]\ncommand = "npx"\nargs = ["-y", "some-server"]\nenv = { A = "b\\"\\n" }\n`,
    );
  });

  it('changes a table of Codex, and keeps its unknown fields and comments', async () => {
    const before = `[mcp_servers.added]\n# why\ncommand = "old" # gone\nstartup_timeout_sec = 20 # kept\n\n[mcp_servers.added.env]\nA = "1"\n\n# of the next\n[other]\nx = 1\n`;
    expect(await installed('codex', before, ['https://example.com/mcp'])).toBe(
      `[mcp_servers.added]\n# why\nstartup_timeout_sec = 20 # kept\nurl = "https://example.com/mcp"\n\n# of the next\n[other]\nx = 1\n`,
    );
  });

  it('adds a block to the YAML of Goose, and keeps every other byte', async () => {
    const before = `GOOSE_MODEL: gpt-4o # kept\nextensions:\n  developer:\n    enabled: true\n    args:\n    - -x\n    note: |\n      added:\n        cmd: no\n  # the last\nGOOSE_MODE: auto\n`;
    expect(await installed('goose', before, ['--env', 'A=#b', ...COMMAND])).toBe(
      before.replace(
        '        cmd: no\n',
        '        cmd: no\n  added:\n    enabled: true\n    type: "stdio"\n    name: "added"\n    cmd: "npx"\n    args: ["-y", "some-server"]\n    envs:\n      A: "#b"\n    timeout: 300\n    description: ""\n',
      ),
    );
  });

  it.each(['cursor', 'codex', 'goose', 'opencode'])(
    'changes nothing if %s has the server already',
    async (host) => {
      const file = join(folder, 'new');
      const line = ['install', host, '--config-path', file, '--name', 'added', '--yes', '--json', ...COMMAND];
      expect((await fullmcp(line)).json()).toMatchObject({
        ok: true,
        changed: true,
        host,
        name: 'added',
        file,
      });
      const text = await readFile(file, 'utf8');
      expect((await fullmcp(line)).json()).toMatchObject({ ok: true, changed: false });
      expect(await readFile(file, 'utf8')).toBe(text);
    },
  );

  it.each([
    ['cursor', '{ "mcpServers": { "a": 1 '],
    ['cursor', '{ "mcpServers": [] }'],
    ['cursor', '{ "mcpServers": {}, "mcpServers": {} }'],
    ['codex', '[mcp_servers.x\ncommand = 1'],
    ['codex', 'mcp_servers = { added = { command = "x" } }'],
    ['codex', '[mcp_servers]\nadded.command = "x"\n'],
    ['goose', 'extensions: { added: { cmd: x } }\n'],
    ['codex', 'mcp_servers = { shop = { command = "a" } }\n'],
    ['goose', 'extensions:\n\tadded: x\n'],
    ['goose', 'a: 1\n---\nextensions: {}\n'],
  ])('leaves a file of %s alone that it cannot read safely: %s', async (host, before) => {
    const file = await fileWith(before);
    const { exit, stderr } = await fullmcp([
      'install',
      host,
      '--config-path',
      file,
      '--name',
      'added',
      '--yes',
      ...COMMAND,
    ]);
    expect(exit).toBe(1);
    expect(stderr).toContain('It was left as it is.');
    expect(await readFile(file, 'utf8')).toBe(before);
    expect(await readdir(folder)).toEqual(['config']);
  });

  it('needs --yes without a terminal, and changes nothing with --dry-run', async () => {
    const file = await fileWith('{}');
    const line = ['install', 'cursor', '--config-path', file, ...COMMAND];
    expect(await fullmcp(line)).toMatchObject({ exit: 2 });
    const dry = await fullmcp([...line.slice(0, 4), '--dry-run', ...COMMAND]);
    expect(dry).toMatchObject({ exit: 0, stdout: '' });
    expect(dry.stderr).toContain('+     "some-server": {');
    expect(dry.stderr).toMatch(/\nNothing was written \(--dry-run\)\.\n$/);
    expect(await readFile(file, 'utf8')).toBe('{}');
  });

  it('prints no secret, neither the new ones nor those that are in the file', async () => {
    const file = await fileWith('{ "mcpServers": { "a": { "command": "x", "env": { "K": "planted-1" } } } }');
    const ran = await fullmcp([
      'install',
      'cursor',
      '--config-path',
      file,
      '--yes',
      'https://example.com/mcp',
      '--header',
      'Authorization: Bearer planted-2',
      '--json',
    ]);
    expect(await readFile(file, 'utf8')).toContain('Bearer planted-2');
    expect(ran.stdout + ran.stderr).not.toContain('planted');
    expect(ran.json()).toMatchObject({ server: { headers: { Authorization: '••••' } } });
  });

  it('escapes hostile values of another config in every format', async () => {
    const evil = '"]\n[evil]\nx = 1\n- y: z\u202e\u001b[2J';
    const config = await fileWith(
      JSON.stringify({ mcpServers: { shop: { command: evil, args: [evil], env: { [evil]: evil } } } }),
      'mcp.json',
    );
    for (const host of ['cursor', 'codex', 'goose']) {
      const file = join(folder, host);
      const line = ['install', host, 'shop', '--config', config, '--config-path', file, '--yes'];
      const { exit, stderr } = await fullmcp(line);
      expect({ exit, stderr }).toMatchObject({ exit: 0 });
      const text = await readFile(file, 'utf8');
      for (const unsafe of ['\u202e', '\u001b']) expect(text + stderr).not.toContain(unsafe);
      expect(text).not.toMatch(/^\[evil\]|^- y/m);
      const { format, section, shape } = hosts[host] as (typeof hosts)[string];
      const read = format.read(text, section(text)).get('shop');
      expect(shape.read(read ?? {})).toMatchObject({ command: evil, args: [evil] });
    }
  });

  it('loses none of many installations at the same time', async () => {
    const file = await fileWith('{}');
    const names = Array.from({ length: 12 }, (_, n) => `server-${n}`);
    await Promise.all(
      names.map((name) =>
        fullmcp(['install', 'cursor', '--config-path', file, '--name', name, '--yes', ...COMMAND]),
      ),
    );
    const { mcpServers } = JSON.parse(await readFile(file, 'utf8')) as { mcpServers: object };
    expect(Object.keys(mcpServers).sort()).toEqual([...names].sort());
    expect((await readdir(folder)).sort()).toEqual(['config', 'config.fullmcp.bak']);
  });

  it('keeps the mode of a file, and a link', async () => {
    const file = await fileWith('{}');
    await rm(file);
    await writeFile(file, '{}', { mode: 0o640 });
    await symlink(file, join(folder, 'link'));
    await fullmcp(['install', 'cursor', '--config-path', join(folder, 'link'), '--yes', ...COMMAND]);
    expectMode(file, 0o640);
    expect(await readFile(file, 'utf8')).toContain('some-server');
  });

  it('does not break the lines of the change, which would lose their signs', async () => {
    const words = ['install', 'goose', '--config-path', join(folder, 'new'), '--dry-run', '--', 'run'];
    const ran = await fullmcp([...words, 'one '.repeat(30), 'two'], { terminal: true, columns: 60 });
    expect(ran.stderr).toContain(`+     args: ["${'one '.repeat(30)}", "two"]\n`);
  });

  it('starts a file with the fullmcp of its own project, and otherwise says which folder must stay', async () => {
    const source = join(folder, 'shop', 'src', 'server.ts');
    const words = ['install', 'cursor', source, '--config-path', join(folder, 'new'), '--yes'];
    const without = await fullmcp(words);
    const repository = dirname(dirname(dirname(import.meta.dirname)));
    expect(without.stderr).toContain(`starts it with the fullmcp in ${repository}: keep that folder.`);
    const program = join(folder, 'shop', 'node_modules', 'fullmcp', 'dist', 'cli', 'fullmcp.js');
    await mkdir(dirname(program), { recursive: true });
    await writeFile(program, '');
    const own = await fullmcp(words);
    expect(own.stderr).not.toContain('keep that folder');
    expect(JSON.parse(await readFile(join(folder, 'new'), 'utf8'))).toMatchObject({
      mcpServers: { shop: { command: process.execPath, args: [program, 'run', source] } },
    });
  });

  it('starts a file that only defines a server, and names it by its project', async () => {
    const source = join(folder, 'shop', 'src', 'server.js');
    await mkdir(dirname(source), { recursive: true });
    const library = new URL('../../../dist/index.js', import.meta.url).href;
    await writeFile(
      source,
      `import { createServer, tool } from ${JSON.stringify(library)};
export default createServer({ name: 'shop', version: '1.0.0', tools: { buy: tool({ run: () => 'bought' }) } });`,
    );
    const file = await fileWith('{}');
    const ran = await fullmcp(['install', 'cursor', source, '--config-path', file, '--yes', '--json']);
    expect(ran.json()).toMatchObject({ ok: true, name: 'shop' });
    const called = await fullmcp(['call', 'shop', 'buy', '--config', file]);
    expect(called, called.stderr).toMatchObject({ exit: 0, stdout: 'bought\n' });
  });

  it('prints plain JSON for any other program', async () => {
    const { exit, stdout } = await fullmcp(['install', 'json', 'https://mcp.example.com/mcp']);
    expect({ exit, json: JSON.parse(stdout) }).toEqual({
      exit: 0,
      json: { mcpServers: { example: { url: 'https://mcp.example.com/mcp' } } },
    });
    expect((await fullmcp(['install', 'cursr', './x.js'])).stderr).toContain('Did you mean "cursor"?');
  });
});

describe('uninstall', () => {
  it.each([
    ['cursor', JSON_BEFORE],
    ['cursor', '{\n  "mcpServers": {\n    "a": {}\n  }\n}\n'],
    ['opencode', '{\n  "mcp": { "servers": { "x": { "type": "local", "command": ["x"] } } }\n}\n'],
    ['codex', '# start\n\n[mcp_servers.a]\ncommand = "x"\n'],
    ['goose', '# start\nextensions:\n  a:\n    cmd: "x"\nb: 1\n'],
    ['goose', 'extensions: {}\nb: 1\n'],
  ])('takes from %s exactly what install has added', async (host, before) => {
    await installed(host, before, COMMAND);
    const file = join(folder, 'config');
    const ran = await fullmcp(['uninstall', host, 'added', '--config-path', file, '--yes', '--json']);
    expect(ran.json()).toMatchObject({ ok: true, host, name: 'added', changed: true, file });
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  it.each([
    ['codex', '[mcp_servers.shop]\ncommand = "a"\n'],
    // Not one of its servers can be changed here, and none has to be.
    ['codex', 'mcp_servers = { shop = { command = "a" } }\n'],
    ['goose', 'extensions:\n  shop:\n    cmd: a\n'],
    ['cursor', '{}'],
    ['cursor', '{ "mcpServers": [] }'],
  ])('says that there is nothing to remove from the file of %s: %j', async (host, before) => {
    const file = await fileWith(before);
    const ran = await fullmcp(['uninstall', host, 'other', '--config-path', file, '--yes']);
    expect(ran).toMatchObject({ exit: 0, stderr: expect.stringContaining('nothing to remove') });
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  it('says that there is nothing to remove, and changes nothing, if there is no such server or no file', async () => {
    const before = '{ "mcpServers": { "shop": {} } }';
    const file = await fileWith(before);
    const words = ['uninstall', 'cursor', 'shp', '--config-path'];
    expect(await fullmcp([...words, file, '--yes'])).toMatchObject({
      exit: 0,
      stdout: '',
      stderr: 'Cursor has no server "shp", so there is nothing to remove. Did you mean "shop"?\n',
    });
    expect(await readFile(file, 'utf8')).toBe(before);
    expect((await fullmcp([...words, file, '--json'])).json()).toMatchObject({ ok: true, changed: false });
    const none = await fullmcp([...words, join(folder, 'none.json')]);
    expect(none).toMatchObject({ exit: 0, stderr: expect.stringContaining('nothing to remove') });
    expect(await readdir(folder)).not.toContain('none.json');
  });
});

describe('discover', () => {
  it('lists the servers of the hosts without their secrets, and commands find them by name', async () => {
    const home = process.env['HOME'];
    const xdg = process.env['XDG_CONFIG_HOME'];
    process.env['HOME'] = folder;
    delete process.env['XDG_CONFIG_HOME'];
    try {
      for (const name of ['.cursor', '.codex', '.config/goose', '.gemini'])
        await mkdir(join(folder, name), { recursive: true });
      await writeFile(
        join(folder, '.cursor/mcp.json'),
        '{ "mcpServers": { "found-here": { "url": "http://127.0.0.1:1/mcp?key=planted", "headers": { "A": "planted" } } } }',
      );
      await writeFile(
        join(folder, '.codex/config.toml'),
        '[mcp_servers.evil]\ncommand = "x\\u001b"\nargs = ["--api-key", "planted"]\nenv.K = "planted"\n',
      );
      await writeFile(
        join(folder, '.config/goose/config.yaml'),
        "extensions:\n  g:\n    cmd: 'it''s'\n    args:\n    - -y\n    envs:\n      K: planted\n",
      );
      await writeFile(join(folder, '.gemini/settings.json'), '{ broken');
      const ran = await fullmcp(['discover', '--json']);
      expect(ran.exit).toBe(0);
      expect(ran.stdout).not.toContain('planted');
      const { files } = ran.json<{ files: { host: string; scope: string }[] }>();
      expect(files.filter(({ scope }) => scope === 'user')).toMatchObject([
        { host: 'cursor', servers: [{ name: 'found-here', headers: { A: '••••' } }] },
        { host: 'gemini-cli', problem: expect.stringContaining('line 1'), servers: [] },
        { host: 'codex', servers: [{ name: 'evil', args: ['--api-key', '••••'], env: { K: '••••' } }] },
        { host: 'goose', servers: [{ name: 'g', command: "it's", args: ['-y'], env: { K: '••••' } }] },
      ]);
      const text = await fullmcp(['discover']);
      for (const unsafe of ['planted', '\u001b']) expect(text.stdout).not.toContain(unsafe);
      expect(text.stdout).toContain('found-here');
      expect((await fullmcp(['ping', 'found-here'])).exit).toBe(3);
      expect((await fullmcp(['ping', 'found-her'])).stderr).toContain('Did you mean "found-here"?');
    } finally {
      process.env['HOME'] = home;
      if (xdg !== undefined) process.env['XDG_CONFIG_HOME'] = xdg;
    }
  });

  it('works where the home of the user is not a folder, and install says why it cannot', async () => {
    const file = join(folder, 'not-a-home');
    await writeFile(file, '');
    const { HOME, XDG_CONFIG_HOME } = process.env;
    process.env['HOME'] = file;
    delete process.env['XDG_CONFIG_HOME'];
    try {
      const found = await fullmcp(['discover', '--json']);
      expect(found.exit).toBe(0);
      const { files } = found.json<{ files: { scope: string; problem?: string }[] }>();
      expect(files.filter(({ scope }) => scope === 'user')).toEqual([]);
      const refused = await fullmcp(['install', 'cursor', '--yes', '--name', 'x', 'https://example.com/mcp']);
      expect(refused).toMatchObject({
        exit: 1,
        stderr: expect.stringMatching(/cannot be written: .*not changed/),
      });
    } finally {
      process.env['HOME'] = HOME;
      if (XDG_CONFIG_HOME !== undefined) process.env['XDG_CONFIG_HOME'] = XDG_CONFIG_HOME;
    }
  });
});
