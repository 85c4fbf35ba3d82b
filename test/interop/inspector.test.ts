import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type HttpProcess, run, startHttp } from '../support/processes.js';

// The published Inspector against the demo as it is built. The Inspector needs a newer Node than the package does.

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const demo = here('../../build/examples/demo/main.js');
const inspector = here('./node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const newerNode = here('./node_modules/.bin/node');

let home: string;
let server: HttpProcess;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'inspector-'));
  server = await startHttp(demo);
});

afterAll(async () => {
  await rm(home, { recursive: true, force: true });
  expect(await server.stop()).toBe(0);
});

const targets: Readonly<Record<string, () => string[]>> = {
  stdio: () => [process.execPath, demo, '--stdio'],
  http: () => [server.url, '--transport', 'http'],
  sse: () => [new URL('/sse', server.url).href, '--transport', 'sse'],
};
const rows = [
  { over: 'stdio', era: 'legacy' },
  { over: 'stdio', era: 'auto' },
  { over: 'http', era: 'legacy' },
  { over: 'http', era: 'auto' },
  { over: 'sse', era: 'legacy' },
];

describe.each(rows)('the Inspector over $over, era $era', ({ over, era }) => {
  async function inspect(...args: string[]): Promise<unknown> {
    const target = targets[over]?.() ?? [];
    const { code, stdout, stderr } = await run(
      newerNode,
      [inspector, '--cli', ...target, '--protocol-era', era, ...args],
      { PATH: process.env['PATH'], HOME: home },
    );
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return JSON.parse(stdout);
  }

  test('lists the tools', async () => {
    expect(await inspect('--method', 'tools/list')).toMatchObject({
      tools: expect.arrayContaining([expect.objectContaining({ name: 'add' })]),
    });
  });

  test('calls a tool', async () => {
    const call = ['--method', 'tools/call', '--tool-name', 'add', '--tool-arg', 'a=2', 'b=40'];
    expect(await inspect(...call)).toMatchObject({ content: [{ type: 'text', text: '42' }] });
  });
});
