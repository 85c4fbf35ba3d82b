import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createServer, tool } from 'fullmcp';
import { afterEach, expect, test, vi } from 'vitest';
import { folder, served } from '../check/support.js';
import { fullmcp } from '../support/run-cli.js';

const program = fileURLToPath(new URL('../../../dist/cli/fullmcp.js', import.meta.url));
const files = await folder();
const url = await served(
  createServer({
    name: 'shop',
    version: '1.0.0',
    tools: { token: tool({ run: (_, { request }) => String(request?.header('authorization')) }) },
  }),
);

afterEach(() => vi.unstubAllEnvs());

async function config(name: string, mcpServers: object): Promise<string> {
  const path = join(files, name);
  await writeFile(path, JSON.stringify({ mcpServers }));
  return path;
}

test('the token of the environment reaches an address that was typed', async () => {
  vi.stubEnv('MCP_TOKEN', 'secret');
  expect((await fullmcp(['call', url, 'token'])).stdout).toContain('Bearer secret');
});

test('the token of the environment never reaches a server of a config, which may name any address', async () => {
  vi.stubEnv('MCP_TOKEN', 'secret');
  const path = await config('any.json', { shop: { url } });
  expect((await fullmcp(['call', 'shop', 'token', '--config', path])).stdout).toContain('undefined');
  const typed = await fullmcp(['call', 'shop', 'token', '--config', path, '--token', 'typed']);
  expect(typed.stdout).toContain('Bearer typed');
});

test('a configured server keeps the token that its config has for it', async () => {
  vi.stubEnv('SHOP_TOKEN', 'own');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the config
  const path = await config('own.json', { shop: { url, auth: '${SHOP_TOKEN}' } });
  expect((await fullmcp(['call', 'shop', 'token', '--config', path])).stdout).toContain('Bearer own');
});

test('--env and --cwd are refused for a server that is not started here', async () => {
  const path = await config('remote.json', { shop: { url } });
  for (const [target = '', ...more] of [[url], ['shop', '--config', path]])
    for (const option of [
      ['--env', 'A=b'],
      ['--cwd', files],
    ])
      expect(await fullmcp(['list', target, ...more, ...option])).toMatchObject({
        exit: 2,
        stderr: expect.stringContaining('--env and --cwd are for servers that are started here'),
      });
});

test('--env is added to the variables of a configured process', async () => {
  const script = join(files, 'print-env.mjs');
  await writeFile(script, `console.error('got ' + process.env.A + process.env.B); process.exit(1);`);
  const path = await config('process.json', {
    shop: { command: process.execPath, args: [script], env: { A: '1', B: '1' } },
  });
  const { stderr } = await fullmcp(['list', 'shop', '--config', path, '--env', 'B=2']);
  expect(stderr).toContain('got 12');
});

test('lock without words starts the servers of this folder and none of the hosts', async () => {
  const home = join(files, 'home');
  const project = join(files, 'project');
  await mkdir(join(home, '.cursor'), { recursive: true });
  await mkdir(project);
  const started = join(files, 'started.txt');
  const script = join(files, 'host.mjs');
  await writeFile(script, `import { writeFileSync } from 'node:fs'; writeFileSync(process.argv[2], '');`);
  const host = { mcpServers: { host: { command: process.execPath, args: [script, started] } } };
  await writeFile(join(home, '.cursor', 'mcp.json'), JSON.stringify(host));
  await writeFile(join(project, 'mcp.json'), JSON.stringify({ mcpServers: { shop: { url } } }));
  const { stderr } = await promisify(execFile)(process.execPath, [program, 'lock'], {
    cwd: project,
    env: { ...process.env, HOME: home },
  });
  expect(stderr).toContain('1 server is pinned');
  await expect(readFile(started)).rejects.toMatchObject({ code: 'ENOENT' });
});
