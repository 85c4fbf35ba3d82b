import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createServer, tool } from 'fullmcp';
import { expect, test } from 'vitest';
import { folder, served } from '../check/support.js';
import { fullmcp } from '../support/run-cli.js';

// The schema of a function in Python, as Pydantic writes it: models, enums and aliases are references to `$defs`.
const input = {
  type: 'object',
  title: 'shipArguments',
  properties: {
    code: { $ref: '#/$defs/Code' },
    tags: { $ref: '#/$defs/Tags', default: [] },
    many: { items: { $ref: '#/$defs/Code' }, title: 'Many', type: 'array' },
    size: { $ref: '#/$defs/Size', default: 'm' },
    weight: { anyOf: [{ $ref: '#/$defs/Weight' }, { type: 'null' }], default: null },
    address: { anyOf: [{ $ref: '#/$defs/Address' }, { type: 'null' }], default: null },
  },
  required: ['code'],
  $defs: {
    Code: { type: 'string', title: 'Code', description: 'A postal code' },
    Tags: { type: 'array', items: { type: 'string' } },
    Size: { enum: ['s', 'm', 'l'], title: 'Size', type: 'string' },
    Weight: { type: 'integer', minimum: 1, maximum: 30 },
    Address: {
      type: 'object',
      title: 'Address',
      properties: { zip: { $ref: '#/$defs/Code' }, floor: { type: 'integer' } },
      required: ['zip'],
    },
  },
};

const url = await served(
  createServer({
    name: 'shop',
    version: '1.0.0',
    tools: { ship: tool({ input, run: (args) => JSON.stringify(args) }) },
  }),
);

test('fullmcp call reads words by the schemas that references lead to', async () => {
  const words = ['code=5', 'tags=a', 'many=1,2', 'size=l', 'weight=7', 'address.zip=0123', 'address.floor=2'];
  const ran = await fullmcp(['call', url, 'ship', ...words]);
  expect(ran.stderr).toBe('');
  expect(JSON.parse(ran.stdout)).toEqual({
    code: '5',
    tags: ['a'],
    many: ['1', '2'],
    size: 'l',
    weight: 7,
    address: { zip: '0123', floor: 2 },
  });
});

test('fullmcp call passes null for an optional model', async () => {
  const ran = await fullmcp(['call', url, 'ship', 'code=5', 'weight=null', 'address=null']);
  expect(JSON.parse(ran.stdout)).toMatchObject({ code: '5', weight: null, address: null });
});

test('fullmcp list prints the types that references lead to', async () => {
  const { stdout } = await fullmcp(['list', url]);
  expect(stdout).toContain(
    'ship(code: string, tags?: string[] = [], many?: string[], size?: "s" | "m" | "l" = "m", weight?: 1..30 | null = null, address?: { zip: string, floor?: int } | null = null)',
  );
});

test('the completion of fullmcp call offers the values of enums that references lead to', async () => {
  const { stdout } = await fullmcp(['__complete', 'fish', '--', 'call', '--timeout', '30s', url, 'ship', '']);
  expect(stdout.split('\n')).toEqual(
    expect.arrayContaining(['code=', 'tags=', 'size=s', 'size=m', 'size=l', 'address=']),
  );
});

test('fullmcp generate types, docs and cli agree about the types that references lead to', async () => {
  const files = await folder();
  await mkdir(join(files, 'node_modules'));
  await symlink(
    fileURLToPath(new URL('../../../', import.meta.url)),
    join(files, 'node_modules', 'fullmcp'),
    'dir',
  );
  await writeFile(join(files, 'package.json'), '{ "type": "module" }');
  const types = (await fullmcp(['generate', 'types', url])).stdout.replaceAll(/\s+/g, ' ');
  expect(types).toContain(
    '/** A postal code */ code: string; tags?: readonly (string)[]; many?: readonly (string)[];',
  );
  expect(types).toContain('size?: ("s" | "m" | "l"); weight?: (number | null); address?: ({');
  const docs = (await fullmcp(['generate', 'docs', url])).stdout;
  expect(docs).toContain('| `code` | `string` | yes | A postal code |');
  expect(docs).toContain('| `size` | `"s" \\| "m" \\| "l"` |  |  |');
  const file = join(files, 'shop.mjs');
  expect((await fullmcp(['generate', 'cli', url, '-o', file])).exit).toBe(0);
  const [, json = ''] = /^const COMMANDS = JSON\.parse\((.*)\);$/m.exec(await readFile(file, 'utf8')) ?? [];
  expect(JSON.parse(JSON.parse(json))).toMatchObject([
    {
      command: 'ship',
      options: [
        { flag: 'code', type: 'string', multiple: false, required: true, about: 'A postal code' },
        { flag: 'tags', type: 'string', multiple: true, required: false },
        { flag: 'many', type: 'string', multiple: true },
        { flag: 'size', type: 'string', multiple: false },
        { flag: 'weight', type: 'number', multiple: false },
        { flag: 'address', type: 'json', multiple: false },
      ],
    },
  ]);
  const run = promisify(execFile);
  const words = [
    'ship',
    '--code',
    '5',
    '--tags',
    'a',
    '--tags',
    '6',
    '--weight',
    '7',
    '--address',
    '{"zip":"1"}',
  ];
  const { stdout } = await run(process.execPath, [file, ...words, '--target', url], { cwd: files });
  expect(JSON.parse(stdout)).toMatchObject({ code: '5', tags: ['a', '6'], weight: 7, address: { zip: '1' } });
});

/** A server on stdio that is written with nothing but JSON, as a program in Python may be. It repeats the arguments of a call as they arrive. */
const rawServer = `
const tools = [{ name: 'ship', inputSchema: JSON.parse(process.env.SCHEMA) }];
const info = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'raw', version: '1' } };
const answers = {
  initialize: () => ({ result: info }),
  ping: () => ({ result: {} }),
  'tools/list': () => ({ result: { tools } }),
  'tools/call': ({ arguments: args }) => ({ result: { content: [{ type: 'text', text: JSON.stringify(args) }] } }),
};
const unknown = () => ({ error: { code: -32601, message: 'Method not found' } });
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...(answers[method] ?? unknown)(params) }) + '\\n');
});
`;

test('fullmcp list and call follow the references of a server on stdio that sends schemas as Pydantic writes them', async () => {
  const files = await folder();
  const server = join(files, 'server.cjs');
  await writeFile(server, rawServer);
  const config = join(files, 'mcp.json');
  const raw = { command: process.execPath, args: [server], env: { SCHEMA: JSON.stringify(input) } };
  await writeFile(config, JSON.stringify({ mcpServers: { raw } }));
  const listed = await fullmcp(['list', 'raw', '--config', config]);
  expect(listed.stdout).toContain(
    'ship(code: string, tags?: string[] = [], many?: string[], size?: "s" | "m" | "l" = "m"',
  );
  const words = ['code=5', 'size=l', 'weight=null', 'address.zip=0123', 'address.floor=2'];
  const ran = await fullmcp(['call', 'raw', 'ship', ...words, '--config', config]);
  expect(JSON.parse(ran.stdout)).toEqual({
    code: '5',
    size: 'l',
    weight: null,
    address: { zip: '0123', floor: 2 },
  });
});
