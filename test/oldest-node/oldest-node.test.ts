import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

// The library and the command, as they are built, on exactly the version that `engines` in package.json names.

const root = fileURLToPath(new URL('../../', import.meta.url));
const node = fileURLToPath(
  new URL(`node_modules/node/bin/${process.platform === 'win32' ? 'node.exe' : 'node'}`, import.meta.url),
);
const math = 'build/examples/basic-server/server.js';

/** Runs a program on the oldest Node, and returns its stdout. It fails if the program writes to stderr. */
async function run(...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(node, args, { cwd: root });
  expect(stderr).toBe('');
  return stdout;
}

const esm = (program: string): Promise<string> => run('--input-type=module', '-e', program);

test('the Node of these tests is exactly the oldest that package.json allows', async () => {
  const { engines } = JSON.parse(await readFile(`${root}package.json`, 'utf8')) as {
    engines: { node: string };
  };
  expect(`>=${(await run('--version')).trim().replace(/^v/, '')}`).toBe(`${engines.node}.0`);
});

test('every entry is loaded on the oldest Node, by import and by require', async () => {
  const { exports } = JSON.parse(await readFile(`${root}package.json`, 'utf8')) as { exports: object };
  const entries = Object.keys(exports)
    .filter((path) => !path.endsWith('.json'))
    .map((path) => `fullmcp${path.slice(1)}`);
  expect(entries.length).toBeGreaterThan(25);
  await esm(`for (const entry of ${JSON.stringify(entries)}) await import(entry);`);
  const required = await run(
    '--no-warnings',
    '-e',
    `for (const entry of ${JSON.stringify(entries)}) console.log(typeof require(entry));`,
  );
  expect(new Set(required.trim().split('\n'))).toEqual(new Set(['object']));
});

test.each(['2026-07-28', '2025-11-25'])(
  'on the oldest Node, a server over HTTP and stdio answers calls, asks, and announces changes in %s',
  async (revision) => {
    const stdout = await esm(`
      import { createServer, resource, tool, jsonSchema } from 'fullmcp';
      import { connect } from 'fullmcp/client';
      import { serve } from 'fullmcp/node';
      const name = jsonSchema({ type: 'object', properties: { name: { type: 'string' } }, required: ['name'] });
      const server = createServer({
        name: 'x',
        version: '1.0.0',
        logger: () => {},
        changes: ['resource'],
        tools: {
          greet: tool({
            run: async (_, ctx) => {
              const answer = await ctx.ask('who', { message: 'Who?', schema: name });
              return 'Hello, ' + answer.name + '!';
            },
          }),
        },
        resources: { 'note://1': resource({ name: 'note', read: () => 'text' }) },
      });
      const serving = await serve(server, { port: 0, signals: false });
      const elicit = () => ({ action: 'accept', content: { name: 'Ada' } });
      const client = await connect(serving.url, { revision: '${revision}', elicit });
      console.log((await client.callTool('greet', {})).text);
      const changes = await client.subscribe('note://1');
      server.changed.resource('note://1');
      for await (const change of changes) {
        console.log(change.uri ?? JSON.stringify(change));
        break;
      }
      await client.close();
      await serving.close();
      const piped = await connect('build/examples/basic-server/stdio.js', { revision: '${revision}' });
      console.log((await piped.callTool('add', { a: 2, b: 40 })).text);
      await piped.close();
    `);
    expect(stdout).toBe('Hello, Ada!\nnote://1\n42\n');
  },
);

test('the command calls a tool and prints the manifest of a server on the oldest Node', async () => {
  const command = 'dist/cli/fullmcp.js';
  expect(await run(command, '--version')).toMatch(/^\d+\.\d+\.\d+(?:-rc\.\d+)?\n$/);
  expect(await run(command, 'call', math, 'add', 'a=2', 'b=40')).toBe('42\n');
  expect(await run(command, 'manifest', math)).toContain('add');
});
