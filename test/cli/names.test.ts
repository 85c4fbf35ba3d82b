import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allCommands, commandGroups } from '../../src/cli/commands.js';
import { demoServer } from './support/demo.js';
import { fullmcp } from './support/run-cli.js';

const demo = demoServer();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-names-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('fullmcp', () => {
  it('alone shows eight commands, and where the others are', async () => {
    const { exit, stdout } = await fullmcp([]);
    expect(exit).toBe(0);
    const names = Array.from(stdout.matchAll(/^ {2}(\w+) {2,}/gm), ([, name]) => name);
    expect(names).toEqual(['new', 'dev', 'call', 'list', 'inspect', 'doctor', 'install', 'lint']);
    const others = Object.values(commandGroups).flat().length - 8;
    expect(stdout).toContain(`${others} more: \`fullmcp help\`\n`);
  });

  it('alone also names the line that opens a prompt', async () => {
    const { stdout } = await fullmcp([]);
    expect(stdout).toMatch(/^ {2}<target> {2,}open a prompt to a server/m);
  });

  it('prints help as one JSON object with --json', async () => {
    const names = Object.values(commandGroups).flatMap((group) => group.map(({ name }) => name));
    for (const words of [['--json'], ['help', '--json'], ['--help', '--json'], ['-h', '--json']]) {
      const { exit, json } = await fullmcp(words);
      expect(exit).toBe(0);
      const { ok, commands } = json<{ ok: boolean; commands: { name: string; summary: string }[] }>();
      expect([ok, commands.map(({ name }) => name)]).toEqual([true, names]);
      expect(commands.every(({ summary }) => summary.length > 0)).toBe(true);
    }
    const below = (await fullmcp(['help', 'auth', '--json'])).json<{ commands: { name: string }[] }>();
    expect(below.commands.map(({ name }) => name)).toContain('auth login');
    for (const words of [
      ['help', 'call', '--json'],
      ['call', '--help', '--json'],
    ])
      expect((await fullmcp(words)).json()).toMatchObject({
        ok: true,
        command: { name: 'call', usage: '<target> [tool] [name=value …]' },
        options: expect.arrayContaining([expect.objectContaining({ name: 'detach', type: 'boolean' })]),
        json: expect.stringContaining('ok: true'),
      });
  });

  it('lists all commands but the hidden ones with help, --help and -h', async () => {
    for (const word of ['help', '--help', '-h']) {
      const { exit, stdout } = await fullmcp([word]);
      expect(exit).toBe(0);
      for (const { name, isHidden = false } of allCommands)
        expect(stdout.includes(`  ${name} `), name).toBe(!isHidden);
    }
  });

  it('explains a command with help as with --help, in one form', async () => {
    const { exit, stdout } = await fullmcp(['help', 'publish', 'card']);
    expect(exit).toBe(0);
    expect(stdout).toBe((await fullmcp(['publish', 'card', '--help'])).stdout);
    const headings = stdout.split('\n').filter((line) => /^[A-Z][a-z ]+$/.test(line));
    expect(headings).toEqual(['Examples', 'Options', 'Options of the target', 'Options of every command']);
    expect(await fullmcp(['help', 'cal'])).toMatchObject({
      exit: 2,
      stderr: 'fullmcp has no command "cal". Did you mean "call"?\n',
    });
    expect((await fullmcp(['help', 'help'])).stdout).toBe((await fullmcp(['help'])).stdout);
  });

  it('lists the commands below a word with help and --help', async () => {
    const { exit, stdout } = await fullmcp(['help', 'auth']);
    expect(exit).toBe(0);
    expect(stdout.split('\n')).toHaveLength(6);
    expect(stdout).toContain('  auth client create ');
    expect((await fullmcp(['auth', '--help'])).stdout).toBe(stdout);
    expect((await fullmcp(['publish', '--help'])).stdout).toContain('  publish registry ');
  });

  it('prints its version with version and --version, also as JSON', async () => {
    const { stdout } = await fullmcp(['version']);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+(?:-rc\.\d+)?\n$/);
    expect((await fullmcp(['--version'])).stdout).toBe(stdout);
    expect((await fullmcp(['version', '--json'])).json()).toEqual({ ok: true, version: stdout.trim() });
  });

  it('says which words are missing, and what a target is', async () => {
    expect((await fullmcp(['read', demo.url])).stderr).toBe(
      '<uri> is missing: fullmcp read <target> <uri>\n',
    );
    expect((await fullmcp(['tasks'])).stderr).toBe(
      '<target> is missing: fullmcp tasks <target> [id]\nA target is a URL, a file, the name of a configured server, or a command after `--`.\n',
    );
    expect((await fullmcp(['install', '--', 'node', 'x.js'])).stderr).toMatch(/^<host> is missing: /);
    expect((await fullmcp(['diff', '--', 'node', 'x.js'])).stderr).toMatch(/^<before> is missing: /);
    expect((await fullmcp(['completion'])).stderr).toMatch(/^bash\|zsh\|fish is missing: /);
    expect(await fullmcp(['list', 'localhost:9/mcp'])).toMatchObject({
      exit: 2,
      stderr: '"localhost:9/mcp" has no scheme. Write http://localhost:9/mcp\n',
    });
    expect(await fullmcp(['list', './x.txt'])).toMatchObject({
      exit: 2,
      stderr:
        '"./x.txt" is not a target. A target is a URL, a file, the name of a configured server, or a command after `--`.\n',
    });
  });
});

describe('a name of earlier versions', () => {
  it.each([
    [['conformance', 'x', '--help'], 'conformance', 'doctor --conformance'],
    [['card', '--help'], 'card', 'publish card'],
    [['bundle', '--help'], 'bundle', 'publish bundle'],
    [['publish', '--init', '--help'], 'publish', 'publish registry'],
    [['auth', 'cimd', 'create', '--help'], 'auth cimd create', 'auth client create'],
    [['auth', 'cimd', 'validate', '--help'], 'auth cimd validate', 'auth client validate'],
    [['verify', '--help'], 'verify', 'lock --check'],
  ])('in %j works, and says the new one on stderr', async (words, old, now) => {
    const { exit, stdout, stderr } = await fullmcp(words);
    expect(exit).toBe(0);
    expect(stderr).toBe(
      `[FMDEP006] \`fullmcp ${old}\` is now \`fullmcp ${now}\`. The old form works until 2.0. See docs/deprecations/fmdep006.md.\n`,
    );
    expect(stdout).toContain(`fullmcp ${now.replace(/ --.*/, '')} `);
  });

  it('does what the new one does: verify, publish, inspect into a pipe or a file, and replay --against', async () => {
    const lock = join(folder, 'old.lock.json');
    await fullmcp(['lock', `demo=${demo.url}`, '--lock', lock]);
    const verified = await fullmcp(['verify', `demo=${demo.url}`, '--lock', lock, '--json']);
    expect(verified.json()).toMatchObject({ ok: true, servers: ['demo'] });
    expect(await fullmcp(['publish', folder])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('server.json does not exist'),
    });
    const piped = await fullmcp(['inspect', demo.url]);
    expect(piped.json()).toMatchObject({ fullmcp: 'manifest' });
    expect(piped.stderr).toContain('is now `fullmcp manifest <target>`');
    const file = join(folder, 'old.manifest.json');
    const saved = await fullmcp(['inspect', demo.url, '-o', file], { terminal: true });
    expect(saved).toMatchObject({ exit: 0, stderr: expect.stringContaining('`fullmcp manifest -o`') });
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ fullmcp: 'manifest' });
    const tape = join(folder, 'old.tape');
    await fullmcp(['record', demo.url, '-o', tape, '--', 'ping']);
    expect(await fullmcp(['replay', tape, '--against', demo.url])).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining('`fullmcp replay <tape> <target>`'),
    });
  });

  it('is not in the help, the completion or the JSON', async () => {
    const { stdout } = await fullmcp(['inspect', '--help']);
    expect(stdout).not.toMatch(/--ui|--output/);
    expect((await fullmcp(['__complete', 'zsh', '--', 'ver'])).stdout).toBe('version\n');
    expect((await fullmcp(['__complete', 'zsh', '--', 'inspect', '--u'])).stdout).toBe('');
    expect((await fullmcp(['__complete', 'zsh', '--', 'verify', '--loc'])).stdout).toBe('--lock\n');
  });

  it('does not hide a misspelled new one, nor a folder of that name', async () => {
    expect(await fullmcp(['publish', 'crad'])).toMatchObject({
      exit: 2,
      stderr: 'fullmcp publish has no command "crad". Did you mean "publish card"?\n',
    });
    expect(await fullmcp(['generate', 'anything'])).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(/^Say which: fullmcp generate client, .*\n$/),
    });
    await mkdir(join(folder, 'shop'));
    await writeFile(join(folder, 'shop', 'server.json'), '{}');
    expect((await fullmcp(['publish', join(folder, 'shop')])).stderr).toContain('fullmcp publish registry');
  });
});

describe('fullmcp ping', () => {
  it('is another name of info, which measures the round trip', async () => {
    const { exit, stdout, stderr } = await fullmcp(['ping', demo.url, '--count', '3']);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(/^name /);
    expect(stdout).toMatch(/^round trip {4}[\d.]+ ms, [\d.]+ ms, [\d.]+ ms$/m);
    const { ms } = (await fullmcp(['info', demo.url, '--json'])).json<{ ms: number[] }>();
    expect(ms).toEqual([expect.any(Number)]);
  });
});

describe('completion', () => {
  it('offers hosts, the commands after help, and configured servers for any target', async () => {
    const completed = async (...words: string[]): Promise<string> =>
      (await fullmcp(['__complete', 'zsh', '--', ...words])).stdout;
    expect(await completed('install', 'c')).toBe('claude-desktop\nclaude-code\ncursor\ncodex\n');
    expect(await completed('uninstall', 'goo')).toBe('goose\n');
    expect(await completed('help', 'li')).toBe('list\nlint\n');
    expect(await completed('help', 'publish', '')).toBe('card\nbundle\nregistry\n');
    expect(await completed('publish', 'b')).toBe('bundle\n');
    const config = join(folder, 'mcp.json');
    await writeFile(config, JSON.stringify({ mcpServers: { shop: { url: demo.url } } }));
    expect(await completed('inspect', '--config', config, 's')).toBe('shop\n');
    expect(await completed('install', '--config', config, 'cursor', 's')).toBe('shop\n');
  });
});
