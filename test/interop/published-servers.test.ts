import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Client, connect } from 'fullmcp/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { soon, until } from '../support/until.js';
import {
  type ObservedServer,
  pathInPackage,
  processesWith,
  startObserved,
  untilNothingOpen,
} from './support/observed-server.js';

// Our client against servers as users install them. None of them needs a network or a credential.

const filesystem = pathInPackage('@modelcontextprotocol/server-filesystem/dist/index.js');
const everything = pathInPackage('@modelcontextprotocol/server-everything/dist/index.js');
const playwright = pathInPackage('@playwright/mcp/cli.js');
const withoutBrowser = ['--headless', '--isolated', '--executable-path', '/there/is/no/browser'];

let folder: string;
let browser: ObservedServer;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'published-servers-')));
  const address = ['--host', '127.0.0.1', '--port', '0', '--allowed-hosts', '*'];
  browser = await startObserved(playwright, ...address, ...withoutBrowser);
}, 20_000);

afterAll(async () => {
  await browser.stop();
  await rm(folder, { recursive: true, force: true });
});

async function newFolder(name: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(path, { recursive: true });
  return path;
}

describe('the filesystem server', () => {
  const tools = [
    'read_file',
    'read_text_file',
    'read_media_file',
    'read_multiple_files',
    'write_file',
    'edit_file',
    'create_directory',
    'list_directory',
    'list_directory_with_sizes',
    'directory_tree',
    'move_file',
    'search_files',
    'get_file_info',
    'list_allowed_directories',
  ];

  test('works only in its folder, and ends together with the package runner that started it', async () => {
    const own = await newFolder('own');
    await using client = await connect({
      command: 'npx',
      args: ['--no-install', 'mcp-server-filesystem', own],
      cwd: fileURLToPath(new URL('.', import.meta.url)),
    });
    expect(client.info()).toMatchObject({ transport: 'stdio', revision: '2025-11-25' });
    const allTools = await client.tools().all();
    expect(allTools.map(({ name }) => name)).toEqual(tools);

    const path = join(own, 'poem.txt');
    const call = async (name: string, args: object): Promise<string> =>
      String(((await client.callTool(name, args)).unwrap() as { content: unknown }).content);
    await call('write_file', { path, content: 'roses are red\nviolets are blue\n' });
    expect(await call('read_text_file', { path, head: 1 })).toBe('roses are red');
    const edits = [{ oldText: 'red', newText: 'white' }];
    expect(await call('edit_file', { path, edits })).toContain('+roses are white');
    expect(await readFile(path, 'utf8')).toBe('roses are white\nviolets are blue\n');
    await call('create_directory', { path: join(own, 'old') });
    await call('move_file', { source: path, destination: join(own, 'old', 'poem.txt') });
    expect(await call('list_directory', { path: own })).toBe('[DIR] old');
    expect(await call('search_files', { path: own, pattern: '**/*.txt' })).toBe(join(own, 'old', 'poem.txt'));
    expect(JSON.parse(await call('directory_tree', { path: own }))).toMatchObject([{ name: 'old' }]);
    expect(await call('get_file_info', { path: join(own, 'old') })).toContain('isDirectory: true');
    await writeFile(join(own, 'dot.png'), Buffer.from([0x89, 0x50]));
    const { content } = await client.callTool('read_media_file', { path: join(own, 'dot.png') });
    expect(content).toEqual([{ type: 'image', mimeType: 'image/png', data: 'iVA=' }]);

    const outside = await client.callTool('read_text_file', { path: join(folder, 'secret') });
    expect(outside).toMatchObject({ isError: true, text: expect.stringContaining('Access denied') });
    expect(() => outside.unwrap()).toThrow('Access denied');

    if (process.platform !== 'win32') expect((await processesWith(own)).length).toBeGreaterThan(1);
    expect(client.info().problems).toEqual([]);
    await client.close();
    expect(await processesWith(own)).toEqual([]);
  });

  test("works on the client's roots, and follows their changes", async () => {
    let roots = [pathToFileURL(await newFolder('first')).href];
    await using client = await connect(
      { command: process.execPath, args: [filesystem] },
      { roots: () => roots },
    );
    const allowed = async (): Promise<string> => (await client.callTool('list_allowed_directories')).text;
    await until('the first roots are known', async () => (await allowed()).endsWith(join(folder, 'first')));
    roots = [pathToFileURL(await newFolder('second')).href];
    await client.rootsChanged();
    await until('the second roots are known', async () => (await allowed()).endsWith(join(folder, 'second')));
    const path = join(folder, 'second', 'new');
    expect((await client.callTool('write_file', { path, content: 'new' })).isError).toBe(false);
    expect(await readFile(path, 'utf8')).toBe('new');
    await client.close();
    expect(await processesWith('server-filesystem')).toEqual([]);
  });
});

describe('the Playwright server', () => {
  test.each([
    { over: 'stdio', transport: 'stdio' },
    { over: '/mcp', transport: 'http' },
    { over: '/sse', transport: 'http+sse' },
  ])(
    'lists its tools, and reports a missing browser as a failed call, over $over',
    async ({ over, transport }) => {
      const isProcess = over === 'stdio';
      const target = { command: process.execPath, args: [playwright, ...withoutBrowser], cwd: folder };
      await using client: Client = await connect(isProcess ? target : `${browser.origin}${over}`);
      expect(client.info()).toMatchObject({ transport, revision: '2025-11-25', problems: [] });
      expect(client.server.info?.name).toBe('Playwright');
      const tools = await client.tools().all();
      expect(tools.length).toBeGreaterThan(20);
      expect(tools.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['browser_navigate', 'browser_snapshot', 'browser_click', 'browser_tabs']),
      );
      const result = await client.callTool('browser_tabs', { action: 'list' });
      expect(result).toMatchObject({
        isError: true,
        text: expect.stringContaining("executable doesn't exist"),
      });
      await client.close();
      if (!isProcess) await untilNothingOpen(browser);
      else expect(await processesWith(target.args.join(' '))).toEqual([]);
    },
  );
});

describe('the ESLint server', () => {
  test('reports the problems of a file', async () => {
    const project = await newFolder('project');
    const path = join(project, 'old.mjs');
    await writeFile(join(project, 'eslint.config.mjs'), "export default [{ rules: { 'no-var': 2 } }];\n");
    await writeFile(path, 'var answer = 42;\n');
    await using client = await connect({
      command: process.execPath,
      args: [pathInPackage('@eslint/mcp/src/mcp-cli.js')],
      cwd: project,
    });
    expect(client.server).toMatchObject({ info: { name: 'ESLint' }, revision: '2025-11-25' });
    expect(await client.tools().all()).toMatchObject([{ name: 'lint-files' }]);
    const { content, isError } = await client.callTool('lint-files', { filePaths: [path] });
    expect(isError).toBe(false);
    expect(JSON.parse((content[1] as { text: string }).text)).toMatchObject({
      filePath: path,
      messages: [{ ruleId: 'no-var', line: 1 }],
    });
    expect(client.info().problems).toEqual([]);
    await client.close();
    expect(await processesWith('@eslint/mcp')).toEqual([]);
  });
});

describe('several servers of one config file', () => {
  test('can be used as one server', async () => {
    const own = await newFolder('shared');
    const config = join(folder, 'config.json');
    const mcpServers = {
      everything: { command: process.execPath, args: [everything, 'stdio'] },
      files: { command: process.execPath, args: [filesystem] },
      browser: { type: 'http', url: `${browser.origin}/mcp` },
    };
    await writeFile(config, JSON.stringify({ mcpServers }));
    await using client = await connect(config, {
      roots: [pathToFileURL(own).href],
      sample: () => ({ role: 'assistant', model: 'small', content: { type: 'text', text: 'Ada adds up' } }),
    });
    const names = (await client.tools().all()).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['everything_echo', 'files_write_file', 'browser_browser_tabs']),
    );
    expect((await client.callTool('everything_echo', { message: 'hi' })).text).toBe('Echo: hi');
    const sampled = await client.callTool('everything_trigger-sampling-request', { prompt: 'A slogan' });
    expect(sampled.text).toContain('Ada adds up');
    const written = await client.callTool('files_write_file', { path: join(own, 'a'), content: 'A' });
    expect(written.unwrap()).toEqual({ content: `Successfully wrote to ${join(own, 'a')}` });
    expect(await client.callTool('browser_browser_tabs', { action: 'list' })).toMatchObject({
      isError: true,
    });
    expect((await client.readResource('demo://resource/dynamic/text/7')).text).toMatch(/^Resource 7/);
    const prompt = await client.getPrompt('everything_args-prompt', { city: 'Oslo' });
    expect(prompt.messages[0]?.content).toMatchObject({ text: "What's weather in Oslo?" });
    const uri = 'demo://resource/dynamic/text/1';
    const changes = (await client.subscribe(uri))[Symbol.asyncIterator]();
    await client.callTool('everything_toggle-subscriber-updates');
    expect(await soon('The change', changes.next())).toMatchObject({ value: { kind: 'resource', uri } });
    expect(client.info()).toMatchObject({ transport: 'group', problems: [], reconnects: 0 });
    await client.close();
    expect(await processesWith(`${everything} stdio`)).toEqual([]);
    expect(await processesWith(filesystem)).toEqual([]);
    await untilNothingOpen(browser);
  });
});
