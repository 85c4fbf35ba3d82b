import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { fullmcp } from '../support/run-cli.js';
import { folderWith, plainEnv, program, serving } from './support.js';

const SERVER = `
import { createServer, tool } from 'fullmcp';
import { z } from 'zod';
import { plus } from './plus.js';
console.log('noise that must not reach the protocol');
enum Kind { Sum = 'sum' }
export default createServer({
  name: Kind.Sum,
  version: '1.0.0',
  tools: {
    add: tool({ input: z.object({ a: z.number(), b: z.number() }), run: ({ a, b }): string => String(plus(a, b)) }),
  },
});
`;
const PLUS = 'export const plus = (a: number, b: number): number => a + b;';
const PLAIN = `
import { createServer, tool } from 'fullmcp';
export const server = createServer({ name: 'plain', version: '1.0.0', tools: { hi: tool({ run: () => 'hello' }) } });
`;

describe('fullmcp run', { timeout: 60_000 }, () => {
  it('serves a TypeScript file that only exports a server, on stdio', async () => {
    const folder = await folderWith({ 'server.ts': SERVER, 'plus.ts': PLUS });
    const called = await fullmcp(['call', join(folder, 'server.ts'), 'add', 'a=2', 'b=40']);
    expect(called).toMatchObject({ exit: 0, stdout: '42\n' });
  });

  it('listens for HTTP, prints the URL alone, and exits with 0 when it is stopped', async () => {
    const folder = await folderWith({ 'server.mjs': PLAIN });
    const { url, stop } = await serving(['run', join(folder, 'server.mjs'), '--http', '--port', '0']);
    expect(url).toMatch(/^http:\/\/localhost:\d+\/mcp$/);
    expect((await fullmcp(['call', url, 'hi'])).stdout).toBe('hello\n');
    expect((await fullmcp(['call', url.replace('http', 'ws'), 'hi'])).exit).not.toBe(0);
    expect(await stop()).toBe(0);
  });

  it('listens for WebSocket, and prints one JSON object with --json', async () => {
    const folder = await folderWith({ 'server.mjs': PLAIN });
    const { url } = await serving(['run', join(folder, 'server.mjs'), '--ws', '--port', '0', '--json']);
    expect(url).toMatch(/^ws:/);
    expect((await fullmcp(['call', url, 'hi'])).stdout).toBe('hello\n');
  });

  it('serves a URL through a proxy, and a config through a gateway', async () => {
    const folder = await folderWith({ 'server.mjs': PLAIN });
    const { url } = await serving(['run', join(folder, 'server.mjs'), '--http', '--port', '0']);
    const remote = await serving(['run', url, '--http', '--port', '0']);
    expect((await fullmcp(['call', remote.url, 'hi'])).stdout).toBe('hello\n');
    const config = join(folder, 'mcp.json');
    await writeFile(config, JSON.stringify({ mcpServers: { plain: { type: 'http', url } } }));
    const all = await serving(['run', config, '--http', '--port', '0']);
    expect((await fullmcp(['list', all.url, 'tools'])).stdout).toContain('plain_hi()');
  });

  it('leaves the process to a program that serves by itself, and does not serve it twice', async () => {
    const folder = await folderWith({
      'own.mjs': `${PLAIN}\nimport { serveStdio } from 'fullmcp/stdio';\nserveStdio(server);`,
    });
    expect((await fullmcp(['call', join(folder, 'own.mjs'), 'hi'])).stdout).toBe('hello\n');
  });

  it('takes the port after --http or --ws, and refuses two different ones', async () => {
    const folder = await folderWith({ 'server.mjs': PLAIN });
    const file = join(folder, 'server.mjs');
    const { url } = await serving(['run', '--http', '0', file, '--json']);
    expect((await fullmcp(['call', url, 'hi'])).stdout).toBe('hello\n');
    const { port } = new URL(url);
    const taken = await fullmcp(['run', file, '--ws', port]);
    expect(taken).toMatchObject({ exit: 3, stdout: '' });
    expect(taken.stderr).toBe(
      `Port ${port} is taken. Choose another port with --port; 0 takes a free one.\n`,
    );
    expect(await fullmcp(['run', file, '--http', '1', '--port', '2'])).toMatchObject({
      exit: 2,
      stderr: 'Choose one port: 1 or 2.\n',
    });
    expect((await fullmcp(['run', file, '--http', '70000'])).exit).toBe(2);
  });

  it('passes arguments, variables and a folder on to a file', async () => {
    const folder = await folderWith({
      'inner/server.mjs': `import { createServer, tool } from 'fullmcp';
const seen = [process.argv[2], process.env.SHOP, process.cwd().endsWith('inner')].join(' ');
export default createServer({ name: 'seen', version: '1.0.0', tools: { seen: tool({ run: () => seen }) } });`,
    });
    const command = [process.execPath, program, 'run', 'server.mjs', '--cwd', join(folder, 'inner')];
    const words = [...command, '-e', 'SHOP=pears', '--', 'first'];
    expect((await fullmcp(['call', 'seen', '--', ...words])).stdout).toBe('first pears true\n');
  });

  it.each([
    ['server.mjs', '--token', 'x'],
    ['server.mjs', '--header', 'A: b'],
    ['server.mjs', '--revision', '2026-07-28'],
    ['mcp.json', '--token', 'x', '--http'],
    ['http://localhost:1/mcp', '--http', '--watch'],
    ['server.mjs', '--watch', '--http', '--host', '0.0.0.0'],
    ['http://localhost:1/mcp', '--http', '--', 'argument'],
    ['none.json', '--http'],
  ])('refuses options that would have no effect: %s %s %s', async (...words) => {
    const { exit, stdout, stderr } = await fullmcp(['run', ...words]);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr.split('\n').length).toBeLessThanOrEqual(3);
  });

  it('reloads a file on save with --watch', async () => {
    const folder = await folderWith({ 'server.mjs': PLAIN });
    const file = join(folder, 'server.mjs');
    let isReloaded!: () => void;
    const reloaded = new Promise<void>((resolve) => {
      isReloaded = resolve;
    });
    const { url } = await serving(['run', file, '--http', '0', '--watch'], (stderr) => {
      if (stderr.includes('is reloaded')) isReloaded();
    });
    await writeFile(file, PLAIN.replace('hello', 'hello again'));
    await reloaded;
    expect((await fullmcp(['call', url, 'hi'])).stdout).toBe('hello again\n');
  });

  it('says what to do if a file has no server, does not exist or has a syntax error', async () => {
    const folder = await folderWith({ 'none.mjs': 'export const x = 1;', 'broken.mjs': 'const = 1;' });
    const run = (...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
      promisify(execFile)(process.execPath, [program, 'run', ...words], { env: plainEnv, cwd: folder }).then(
        ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
        (error) => error,
      );
    expect(await run('none.mjs')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'none.mjs neither exports a server nor serves one. Add: export default createServer({ … })\n',
    });
    expect(await run('missing.ts', '--http', '--json')).toMatchObject({ code: 2, stderr: '' });
    const broken = await run('broken.mjs');
    expect(broken).toMatchObject({ code: 1, stdout: '' });
    expect(broken.stderr).toContain('broken.mjs:1');
    expect(await run('none.mjs', '--json')).toMatchObject({ code: 2 });
    expect(await run('none.mjs', '--port', '1')).toMatchObject({ code: 2 });
  });
});
