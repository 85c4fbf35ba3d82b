import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { createServer } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { serverCard } from 'fullmcp/server-card';
import { afterAll, describe, expect, it } from 'vitest';
import { folder, HOSTILE, UNSAFE } from '../check/support.js';
import { demoServer } from '../support/demo.js';
import { fullmcp } from '../support/run-cli.js';

const files = await folder();
const demo = demoServer();
let projects = 0;

/** A folder with these files. */
async function project(content: Readonly<Record<string, string | object>>): Promise<string> {
  const path = join(files, `project-${++projects}`);
  for (const [name, text] of Object.entries(content)) {
    await mkdir(join(path, name, '..'), { recursive: true });
    await writeFile(join(path, name), typeof text === 'string' ? text : JSON.stringify(text));
  }
  return path;
}

const manifest = {
  manifest_version: '0.3',
  name: 'shop',
  version: '1.2.3',
  description: 'A shop',
  author: { name: 'Ann' },
  server: {
    type: 'node',
    entry_point: 'server/index.js',
    mcp_config: {
      command: 'node',
      args: [`\${__dirname}/server/index.js`],
      env: { KEY: `\${user_config.key}` },
    },
  },
  user_config: { key: { type: 'string', title: 'Key', description: 'Your key', sensitive: true } },
};

/** The files of a zip, read by its directory at the end. */
function unzipped(bytes: Buffer): ReadonlyMap<string, { readonly text: string; readonly mode: number }> {
  const end = bytes.lastIndexOf(Buffer.from('PK\u0005\u0006'));
  const found = new Map<string, { text: string; mode: number }>();
  let at = bytes.readUInt32LE(end + 16);
  for (let count = bytes.readUInt16LE(end + 10); count > 0; count--) {
    expect(bytes.readUInt32LE(at)).toBe(0x02014b50);
    const [method, size, name] = [
      bytes.readUInt16LE(at + 10),
      bytes.readUInt32LE(at + 20),
      bytes.readUInt16LE(at + 28),
    ];
    const local = bytes.readUInt32LE(at + 42);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const data = bytes.subarray(start, start + size);
    const path = bytes.subarray(at + 46, at + 46 + name).toString();
    const mode = bytes.readUInt32LE(at + 38) >>> 16;
    found.set(path, { text: (method === 8 ? inflateRawSync(data) : data).toString(), mode });
    at += 46 + name;
  }
  return found;
}

describe('fullmcp bundle', () => {
  it('packs a project without what users do not need, and twice to the same bytes', async () => {
    const path = await project({
      ...{
        'manifest.json': manifest,
        'server/index.js': 'console.log("hello");\n'.repeat(100),
        'bin/run': '#!/bin/sh',
      },
      ...{
        'node_modules/ä/index.js': 'x',
        '.env': 'SECRET=PLANTED',
        '.git/config': 'PLANTED',
        'a.log': 'PLANTED',
      },
      ...{ 'drafts/one.md': 'PLANTED', 'notes.txt': 'PLANTED', '.mcpbignore': '# mine\ndrafts/\n*.txt\n' },
    });
    await chmod(join(path, 'bin/run'), 0o755);
    const file = join(files, 'shop.mcpb');
    const ran = await fullmcp(['publish', 'bundle', path, '-o', file, '--json']);
    const bytes = await readFile(file);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(ran.json()).toEqual({
      ...{ ok: true, file, bytes: bytes.length, files: 4, sha256, name: 'shop', version: '1.2.3' },
    });
    const packed = unzipped(bytes);
    expect([...packed.keys()]).toEqual([
      'bin/run',
      'manifest.json',
      'node_modules/ä/index.js',
      'server/index.js',
    ]);
    expect(packed.get('server/index.js')?.text).toBe('console.log("hello");\n'.repeat(100));
    expect(packed.get('bin/run')?.mode).toBe(0o100755);
    expect(bytes.toString('latin1')).not.toContain('PLANTED');
    const again = join(files, 'again.mcpb');
    expect(await fullmcp(['publish', 'bundle', path, '-o', again])).toMatchObject({
      exit: 0,
      stdout: `${again}\n`,
    });
    expect((await readFile(again)).equals(bytes)).toBe(true);
    expect(await fullmcp(['publish', 'bundle', path, '-o', again])).toMatchObject({ exit: 2 });
  });

  it.runIf(spawnSync('python3', ['--version']).status === 0)(
    'writes a zip that others can read',
    async () => {
      const path = await project({
        'manifest.json': manifest,
        'server/index.js': 'x'.repeat(10_000),
        'empty.js': '',
      });
      const file = join(files, 'others.mcpb');
      await fullmcp(['publish', 'bundle', path, '-o', file]);
      expect(String(execFileSync('python3', ['-m', 'zipfile', '-t', file]))).toContain('Done testing');
      expect(String(execFileSync('python3', ['-m', 'zipfile', '-l', file]))).toContain('server/index.js');
    },
  );

  it.each([
    ['a missing field', { description: undefined }, 'description'],
    ['an unknown field', { toolz: [] }, 'toolz'],
    ['a wrong type', { server: { ...manifest.server, type: 'ruby' } }, 'type'],
    [
      'an entry point that is not there',
      { server: { ...manifest.server, entry_point: 'main.js' } },
      'main.js',
    ],
    ['a setting that nobody is asked for', { user_config: {} }, 'user_config.key'],
    [
      'a secret with a default',
      { user_config: { key: { ...manifest.user_config.key, default: 'x' } } },
      'sensitive',
    ],
    ['no version of the manifest', { manifest_version: undefined }, 'manifest_version'],
    ['an icon that is not there', { icon: 'icon.png' }, 'icon.png'],
  ])('refuses a manifest with %s', async (_, change, says) => {
    const path = await project({ 'manifest.json': { ...manifest, ...change }, 'server/index.js': '' });
    const file = join(path, 'out.mcpb');
    const ran = await fullmcp(['publish', 'bundle', path, '-o', file]);
    expect(ran).toMatchObject({ exit: 1, stdout: expect.stringContaining(says) });
    const { ok, problems } = (await fullmcp(['publish', 'bundle', path, '-o', file, '--json'])).json<{
      ok: boolean;
      problems: string[];
    }>();
    expect({ ok, text: problems.join() }).toEqual({ ok: false, text: expect.stringContaining(says) });
    expect(await readdir(path)).not.toContain('out.mcpb');
  });

  it('refuses a link that leads out of the folder', async () => {
    const path = await project({ 'manifest.json': manifest, 'server/index.js': '' });
    await writeFile(join(files, 'outside.txt'), 'PLANTED');
    await symlink(join(files, 'outside.txt'), join(path, 'inside.js'));
    const ran = await fullmcp(['publish', 'bundle', path, '-o', join(path, 'out.mcpb')]);
    expect(ran).toMatchObject({ exit: 2, stderr: expect.stringContaining('inside.js is a link') });
  });

  it('writes a manifest out of package.json, with which the project can be packed', async () => {
    const path = await project({
      'package.json': {
        name: '@ann/shop',
        version: '2.0.0',
        description: 'A shop',
        main: './build/server.js',
        author: 'Ann <ann@example.com>',
      },
      'build/server.js': '',
    });
    expect(await fullmcp(['publish', 'bundle', path])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('--init'),
    });
    expect(await fullmcp(['publish', 'bundle', path, '--init'])).toMatchObject({ exit: 0 });
    expect(await fullmcp(['publish', 'bundle', path, '--init'])).toMatchObject({ exit: 2 });
    const ran = await fullmcp(['publish', 'bundle', path, '-o', join(path, 'out.mcpb'), '--json']);
    expect(ran.json()).toMatchObject({ ok: true, name: '@ann/shop', version: '2.0.0' });
    expect((await stat(join(path, 'out.mcpb'))).size).toBeGreaterThan(100);
  });
});

describe('fullmcp publish', () => {
  const found = {
    ...{ name: '@ann/shop', version: '1.0.0', description: 'A shop', mcpName: 'io.github.ann/shop' },
    repository: { type: 'git', url: 'git+https://github.com/ann/shop.git' },
  };
  const valid = {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: 'io.github.ann/shop',
    description: 'A shop',
    version: '1.0.0',
    packages: [
      { registryType: 'npm', identifier: '@ann/shop', version: '1.0.0', transport: { type: 'stdio' } },
    ],
  };

  it('writes a valid server.json out of package.json, and sends nothing', async () => {
    const path = await project({ 'package.json': found });
    const ran = await fullmcp([
      'publish',
      'registry',
      path,
      '--init',
      '--remote',
      'https://example.com/mcp',
      '--json',
    ]);
    expect(ran.json()).toEqual({
      ...{
        ok: true,
        file: join(path, 'server.json'),
        name: 'io.github.ann/shop',
        version: '1.0.0',
        sent: false,
      },
    });
    expect(JSON.parse(await readFile(join(path, 'server.json'), 'utf8'))).toEqual({
      ...valid,
      repository: { url: 'https://github.com/ann/shop', source: 'github' },
      remotes: [{ type: 'streamable-http', url: 'https://example.com/mcp' }],
    });
    expect(await fullmcp(['publish', 'registry', path])).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining('Nothing was sent'),
    });
    expect(await fullmcp(['publish', 'registry', path, '--init'])).toMatchObject({ exit: 2 });
  });

  const [npm] = valid.packages;
  it.each([
    ['a name without a namespace', { name: 'shop' }, 'name'],
    ['a long description', { description: 'x'.repeat(101) }, 'description'],
    ['a range', { version: '^1.0.0' }, 'range'],
    ['nothing to use', { packages: [] }, '"packages" or "remotes"'],
    [
      'a package without a version',
      { packages: [{ ...npm, version: undefined }] },
      'packages[0].version is missing',
    ],
    ['the latest version', { packages: [{ ...npm, version: 'latest' }] }, '"latest"'],
    [
      'another version than package.json',
      { packages: [{ ...npm, version: '9.0.0' }] },
      'package.json has "1.0.0"',
    ],
    ['another name than package.json', { name: 'io.github.ann/other' }, 'mcpName'],
    [
      'a bundle without a digest',
      {
        packages: [
          {
            registryType: 'mcpb',
            identifier: 'https://github.com/a/b/releases/x.mcpb',
            transport: { type: 'stdio' },
          },
        ],
      },
      'fileSha256',
    ],
    [
      'a bundle elsewhere',
      {
        packages: [
          {
            registryType: 'mcpb',
            identifier: 'https://example.com/x.mcpb',
            fileSha256: 'a'.repeat(64),
            transport: { type: 'stdio' },
          },
        ],
      },
      'github.com',
    ],
    [
      'a remote on this computer',
      { remotes: [{ type: 'streamable-http', url: 'https://localhost/mcp' }] },
      'not reachable',
    ],
    [
      'a remote without TLS',
      { remotes: [{ type: 'streamable-http', url: 'http://example.com/mcp' }] },
      'https://',
    ],
    [
      'a secret with a value',
      {
        remotes: [
          {
            type: 'streamable-http',
            url: 'https://example.com/mcp',
            headers: [{ name: 'X-Key', isSecret: true, value: 'abc' }],
          },
        ],
      },
      'secret',
    ],
    [
      'large metadata',
      { _meta: { 'io.modelcontextprotocol.registry/publisher-provided': { a: 'x'.repeat(5000) } } },
      '4096',
    ],
    ['other metadata', { _meta: { mine: {} } }, 'dropped'],
  ])('finds %s', async (_, change, says) => {
    const path = await project({ 'package.json': found, 'server.json': { ...valid, ...change } });
    const ran = await fullmcp(['publish', 'registry', path]);
    expect(ran).toMatchObject({ exit: 1, stdout: expect.stringContaining(says) });
    expect((await fullmcp(['publish', 'registry', path, '--json'])).json()).toMatchObject({
      ok: false,
      sent: false,
    });
  });

  it('says what is missing', async () => {
    const path = await project({ 'index.js': '' });
    expect(await fullmcp(['publish', 'registry', path])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('--init'),
    });
    expect(await fullmcp(['publish', 'registry', path, '--init'])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('--name'),
    });
    expect(await fullmcp(['publish', 'registry', join(path, 'none')])).toMatchObject({ exit: 2 });
    await writeFile(join(path, 'server.json'), '{');
    expect(await fullmcp(['publish', 'registry', path])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('not JSON'),
    });
  });
});

describe('fullmcp card', async () => {
  const weather = createServer({ name: 'weather', version: '1.0.0', description: 'Forecasts' });
  const running = await serve(weather, {
    port: 0,
    publicUrl: 'https://example.com/mcp',
    card: serverCard({ name: 'com.example/weather', title: HOSTILE.slice(0, 90) }),
  });
  afterAll(() => running.close());

  it('fetches and checks the card of a server', async () => {
    const ran = await fullmcp(['publish', 'card', `http://127.0.0.1:${running.port}/mcp`]);
    expect(ran.exit).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      name: 'com.example/weather',
      remotes: [{ url: 'https://example.com/mcp' }],
    });
    for (const character of UNSAFE) expect(ran.stdout).not.toContain(character);
    const none = await fullmcp(['publish', 'card', demo.url, '--json']);
    expect(none).toMatchObject({ exit: 1 });
    expect(none.json()).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('has no card') },
    });
    expect(await fullmcp(['publish', 'card', 'http://127.0.0.1:1/mcp'])).toMatchObject({ exit: 3 });
  });

  it('makes a card, which is valid', async () => {
    const file = join(files, 'card.json');
    const made = await fullmcp([
      ...['publish', 'card', demo.url, '--name', 'com.example/demo', '--url', 'https://example.com/mcp'],
      ...['--description', 'A demo', '-o', file, '--json'],
    ]);
    expect(made.json()).toMatchObject({
      ok: true,
      file,
      card: { name: 'com.example/demo', version: '1.0.0' },
    });
    expect(await fullmcp(['publish', 'card', file])).toMatchObject({ exit: 0 });
    const wrong = await fullmcp(['publish', 'card', demo.url, '--name', 'demo', '--description', 'A demo']);
    expect(wrong).toMatchObject({ exit: 2, stderr: expect.stringContaining('com.example') });
  });

  it.each([
    ['tools in it', { tools: [] }, 'tools'],
    [
      'a secret in it',
      {
        remotes: [
          {
            type: 'streamable-http',
            url: 'https://example.com/mcp',
            headers: [{ name: 'X-Key', value: 'abc' }],
          },
        ],
      },
      'X-Key',
    ],
    ['a query', { remotes: [{ type: 'streamable-http', url: 'https://example.com/mcp?key=abc' }] }, 'query'],
    ['no description', { description: undefined }, 'description'],
  ])('finds %s', async (_, change, says) => {
    const file = join(
      await project({ 'a.json': { name: 'com.example/a', version: '1', description: 'A', ...change } }),
      'a.json',
    );
    expect(await fullmcp(['publish', 'card', file])).toMatchObject({
      exit: 1,
      stdout: expect.stringContaining(says),
    });
    expect((await fullmcp(['publish', 'card', file, '--json'])).json()).toMatchObject({ ok: false });
  });
});
