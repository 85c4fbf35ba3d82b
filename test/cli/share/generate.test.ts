import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createServer, tool } from 'fullmcp';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { script as everything } from '../../interop/support/everything.js';
import { folder, manifestFile, served, UNSAFE } from '../check/support.js';
import { demoServer } from '../support/demo.js';
import { fullmcp } from '../support/run-cli.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const official = fileURLToPath(new URL('../../interop/fixtures/sdk-v2-server.mjs', import.meta.url));
const files = await folder();
const demo = demoServer();
const run = promisify(execFile);
const KINDS = ['client', 'types', 'cli', 'docs'] as const;

beforeAll(async () => {
  await mkdir(join(files, 'node_modules'));
  await symlink(root, join(files, 'node_modules', 'fullmcp'), 'dir');
  await writeFile(join(files, 'package.json'), '{ "type": "module" }');
});

/** Compiles files of the folder as strictly as possible. Returns what the compiler says. */
async function compile(...names: readonly string[]): Promise<string> {
  const options = {
    compilerOptions: {
      ...{
        strict: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true,
        noUnusedLocals: true,
      },
      ...{ module: 'nodenext', target: 'es2022', lib: ['es2023', 'esnext.disposable', 'dom'], noEmit: true },
      ...{ skipLibCheck: true, types: ['node'], typeRoots: [join(root, 'node_modules', '@types')] },
    },
    files: names,
  };
  await writeFile(join(files, 'tsconfig.json'), JSON.stringify(options));
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  return run(process.execPath, [compiler, '-p', files]).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function program(file: string, ...words: readonly string[]): Promise<Ended> {
  return run(process.execPath, [join(files, file), ...words], { cwd: files }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: Ended) => ({ code, stdout, stderr }),
  );
}

describe('fullmcp generate client', () => {
  it('writes a client that compiles, is checked by the compiler, and works', async () => {
    const file = join(files, 'demo.ts');
    expect(await fullmcp(['generate', 'client', demo.url, '-o', file])).toMatchObject({
      exit: 0,
      stdout: '',
    });
    await writeFile(
      join(files, 'right.ts'),
      `import { connectDemo } from './demo.js';
       await using client = await connectDemo();
       const { total } = await client.tool.roll_dice({ count: 3 });
       const text: number = total;
       await client.tool.add({ a: 2, b: 40 });
       await client.tool.order_pizza();
       console.log(text);`,
    );
    expect(await compile('right.ts', 'demo.ts')).toBe('');
    await writeFile(
      join(files, 'wrong.ts'),
      `import { connectDemo } from './demo.js';
       const client = await connectDemo();
       await client.tool.add({ a: 2, b: 'forty' });
       await client.tool.add({ a: 2 });
       await client.tool.nothing();`,
    );
    expect((await compile('wrong.ts', 'demo.ts')).match(/error TS/g)).toHaveLength(3);
  });
});

describe('fullmcp generate types', () => {
  it('turns JSON Schema into types', async () => {
    const tools = [
      {
        name: 'all',
        inputSchema: {
          type: 'object',
          required: ['text', 'kind'],
          properties: {
            text: { type: 'string', description: 'Some */ text' },
            kind: { enum: ['a', 'b', 3, null] },
            fixed: { const: true },
            maybe: { type: ['string', 'null'] },
            nullable: { type: 'integer', nullable: true },
            list: { type: 'array', items: { anyOf: [{ type: 'number' }, { type: 'boolean' }] } },
            pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
            map: { type: 'object', additionalProperties: { type: 'number' } },
            open: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true },
            tree: { $ref: '#/$defs/tree' },
            both: {
              allOf: [
                { type: 'object', properties: { x: { type: 'number' } } },
                { type: 'object', properties: { y: { type: 'number' } } },
              ],
            },
            elsewhere: { $ref: 'https://example.com/schema.json' },
            odd: { not: { type: 'string' } },
          },
          $defs: {
            tree: {
              type: 'object',
              required: ['value'],
              properties: {
                value: { type: 'number' },
                children: { type: 'array', items: { $ref: '#/$defs/tree' } },
              },
            },
          },
        },
      },
    ];
    const manifest = await manifestFile(join(files, 'all.manifest.json'), tools);
    await fullmcp(['generate', 'types', manifest, '-o', join(files, 'all.ts')]);
    await writeFile(
      join(files, 'use-all.ts'),
      `import type { ToolArguments } from './all.js';
       type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
       type All = ToolArguments['all'];
       export const checks: readonly true[] = [
         true satisfies Same<All['kind'], 'a' | 'b' | 3 | null>,
         true satisfies Same<All['text'], string>,
         true satisfies Same<Exclude<All['fixed'], undefined>, true>,
         true satisfies Same<Exclude<All['maybe'], undefined>, string | null>,
         true satisfies Same<Exclude<All['nullable'], undefined>, number | null>,
         true satisfies Same<Exclude<All['list'], undefined>, readonly (number | boolean)[]>,
         true satisfies Same<Exclude<All['pair'], undefined>, [string, number]>,
         true satisfies Same<Exclude<All['map'], undefined>, Record<string, number>>,
         true satisfies Same<unknown, All['odd']>,
         true satisfies Same<unknown, All['elsewhere']>,
       ];
       export const value: All = {
         text: 'x', kind: 'a', open: { a: 'y', more: 1 }, both: { x: 1, y: 2 },
         tree: { value: 1, children: [{ value: 2, children: [{ anything: 3 }] }] },
       };`,
    );
    expect(await compile('use-all.ts', 'all.ts')).toBe('');
  });

  it('ends with a schema that has no end', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `f${at}`);
    const fields = Object.fromEntries(
      names.map((name) => [name, { anyOf: names.map((other) => ({ $ref: `#/$defs/${other}` })) }]),
    );
    const $defs = Object.fromEntries(names.map((name) => [name, { type: 'object', properties: fields }]));
    const tools = [{ name: 'endless', inputSchema: { type: 'object', properties: fields, $defs } }];
    const manifest = await manifestFile(join(files, 'endless.manifest.json'), tools);
    const ran = await fullmcp(['generate', 'types', manifest]);
    expect(ran.exit).toBe(0);
    expect(ran.stdout.length).toBeLessThan(2_000_000);
  });
});

describe('fullmcp generate cli', () => {
  it('writes a program that calls the tools of a real server', async () => {
    const file = join(files, 'demo-cli.mjs');
    const ran = await fullmcp(['generate', 'cli', demo.url, '-o', file, '--json']);
    expect(ran.json()).toMatchObject({ ok: true, file, tools: 9 });
    expect((await stat(file)).mode & 0o111).not.toBe(0);
    expect(await program('demo-cli.mjs', 'add', '--a', '2', '--b=40')).toMatchObject({
      code: 0,
      stdout: '42\n',
    });
    expect(await program('demo-cli.mjs', 'add', '--args', '{"a":1,"b":2}')).toMatchObject({ stdout: '3\n' });
    expect(await program('demo-cli.mjs', 'find_order', '--id', '9')).toMatchObject({ code: 1, stdout: '' });
    const json = await program('demo-cli.mjs', 'find_order', '--id', '2', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: true, data: { id: 2, item: 'Lantern' } });
    expect(await program('demo-cli.mjs', 'add', '--a', 'two', '--b', '1')).toMatchObject({
      code: 2,
      stdout: '',
    });
    expect(await program('demo-cli.mjs', 'add', '--a', '2')).toMatchObject({ code: 2 });
    expect(await program('demo-cli.mjs', 'ad')).toMatchObject({ code: 2 });
    expect((await program('demo-cli.mjs', 'add', '--help')).stdout).toContain('--a <number>');
    const overview = (await program('demo-cli.mjs')).stdout;
    expect(overview).toContain('roll_dice');
    expect(overview).toContain('\nOptions of every command: --args <json>');
  });

  it('cuts a long description in the overview between words, and marks where', async () => {
    const tool = { name: 'long', description: 'word '.repeat(40).trim(), inputSchema: { type: 'object' } };
    const manifest = await manifestFile(join(files, 'long.manifest.json'), [tool]);
    const file = join(files, 'long-cli.mjs');
    expect((await fullmcp(['generate', 'cli', manifest, '-o', file])).exit).toBe(0);
    expect((await program('long-cli.mjs')).stdout).toMatch(/^ {2}long {20} (?:word ){16}word…$/m);
  });

  it.each([
    {
      peer: 'server-everything',
      args: [everything, 'stdio'],
      words: ['echo', '--message', 'hi there'],
      says: 'hi there',
    },
    {
      peer: 'a server of the official SDK v2',
      args: [official, 'stdio'],
      words: ['weather', '--city', 'Oslo'],
      says: 'Oslo',
    },
  ])('writes all files for $peer', async ({ peer, args, words, says }) => {
    const name = peer === 'server-everything' ? 'everything' : 'official';
    for (const kind of KINDS) {
      const file = join(
        files,
        `${name}-${kind}.${{ client: 'ts', types: 'ts', cli: 'mjs', docs: 'md' }[kind]}`,
      );
      const ran = await fullmcp(['generate', kind, '-o', file, '--', process.execPath, ...args]);
      expect(ran.exit, ran.stderr).toBe(0);
    }
    expect(await compile(`${name}-client.ts`, `${name}-types.ts`)).toBe('');
    const ended = await program(`${name}-cli.mjs`, ...words);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(says) });
  });
});

describe('fullmcp generate docs', () => {
  it('writes a reference', async () => {
    const { exit, stdout } = await fullmcp(['generate', 'docs', demo.url]);
    expect(exit).toBe(0);
    expect(stdout).toContain('### `find_order`');
    expect(stdout).toContain('| `a` | `number` | yes |  |');
    expect(stdout).toContain('This tool only reads.');
    expect(stdout).toContain('### `notes://{id}`');
  });
});

describe('the text of a server in generated docs', () => {
  it('is escaped only where it would be markup, so that the file reads as it was written', async () => {
    const description =
      'Adds a note (or two): see section 1.2 of the manual, e.g. its first page. It costs 5 - 3 = 2 + x!';
    const hostile = [
      '# Heading',
      '1. list',
      '2) list',
      '- list',
      '+ list',
      '=== line',
      'https://evil.example/x www.evil.example a@evil.example :skull: **bold** _it_ `code` [a](b) ![c](d) ~~e~~ $x$ ==y== {z} | <b>',
    ];
    const url = await served(
      createServer({
        name: 'notes',
        version: '1.0.0',
        tools: Object.fromEntries(
          [description, ...hostile].map((text, at) => [`t${at}`, tool({ description: text, run: () => '' })]),
        ),
      }),
    );
    const { stdout } = await fullmcp(['generate', 'docs', url]);
    expect(stdout).toContain(`\n${description}\n`);
    for (const text of [
      '\\# Heading',
      '1\\. list',
      '2\\) list',
      '\\- list',
      '\\+ list',
      'https\\://evil.example/x www\\.evil.example a\\@evil.example \\:skull: \\*\\*bold\\*\\* \\_it\\_ \\`code\\` \\[a\\](b) !\\[c\\](d) \\~\\~e\\~\\~ \\$x\\$ \\==y\\== \\{z\\} \\| &lt;b&gt;',
    ])
      expect(stdout).toContain(`\n${text}\n`);
    expect(stdout).toMatch(/^\\=/m);
  });
});

describe('a hostile server', () => {
  const marker = join(files, 'executed');
  const code = `require("node:fs").writeFileSync(${JSON.stringify(marker)},"")`;
  const names = [
    '--help',
    '; rm -rf ~',
    '__proto__',
    'constructor',
    `*/ ${code}; /*`,
    `\`\${${code}}\``,
    `"]: never }; ${code}; //`,
    `'+${code}+'`,
    `a\nb\u2028${code}`,
    '\u202egnp.exe\u200b',
    '</script><script>alert(1)</script>',
    '[click](javascript:alert(1))',
    '```\n# Heading\n```',
    '@ts-ignore',
    'help',
    '',
  ];
  const inputSchema = {
    type: 'object',
    properties: Object.fromEntries(
      names.map((name) => [name, { type: 'string', description: name, enum: names, default: name }]),
    ),
  };
  const tools = names.map((name) => ({
    name,
    title: name,
    description: name,
    inputSchema,
    outputSchema: inputSchema,
  }));
  const prompts = names.map((name) => ({
    name,
    description: name,
    arguments: [{ name, description: name }],
  }));
  const resources = names.map((name) => ({ uri: name, name, description: name, mimeType: name }));
  const templates = names.map((name) => ({ uriTemplate: name, name, description: name }));

  it('puts no code into any file, whatever its names are', async () => {
    const manifest = await manifestFile(join(files, 'hostile.manifest.json'), tools, {
      server: { name: `*/\n${code}`, version: `\`\${${code}}\`\n${code}`, title: names[10] },
      instructions: names.join('\n'),
      ...{ prompts, resources, templates },
    });
    for (const kind of KINDS) {
      const file = join(
        files,
        `hostile-${kind}.${{ client: 'ts', types: 'ts', cli: 'mjs', docs: 'md' }[kind]}`,
      );
      expect((await fullmcp(['generate', kind, manifest, '-o', file])).exit).toBe(0);
      const text = await readFile(file, 'utf8');
      for (const character of UNSAFE) expect(text).not.toContain(character);
      expect(text).not.toMatch(/^\s*#\s*Heading|^require\(/m);
    }
    expect(await compile('hostile-client.ts', 'hostile-types.ts')).toBe('');
    const help = await program('hostile-cli.mjs', 'help');
    expect(help.code).toBe(0);
    expect(help.stdout).toContain('tool-1');
    expect((await program('hostile-cli.mjs', 'tool-1', '--target', demo.url)).code).not.toBe(0);
    expect((await program('hostile-cli.mjs', '--help')).stdout).toBe(help.stdout);
    const page = await readFile(join(files, 'hostile-docs.md'), 'utf8');
    const docs = page.replaceAll(/^(`{3,})json\n[\s\S]*?\n\1$/gm, '');
    expect(docs).not.toMatch(/^[^`\n]*<script/m);
    expect(docs).not.toMatch(/^[^`\n]*[^\\]\]\(javascript/m);
    expect(existsSync(marker)).toBe(false);
  });

  it('cannot make a file large with a long description', async () => {
    const long = 'x'.repeat(10_000_000);
    const url = await served(
      createServer({
        name: 'long',
        version: '1.0.0',
        tools: {
          long: tool({ description: long, input: z.object({ a: z.string().describe(long) }), run: () => '' }),
        },
      }),
    );
    for (const kind of KINDS) {
      const { exit, stdout } = await fullmcp(['generate', kind, url]);
      expect(exit).toBe(0);
      expect(stdout.length).toBeLessThan(20_000);
    }
  });
});

it('credentials of a target are not written into a file, and a file is not overwritten', async () => {
  const url = `${demo.url}?api_key=PLANTED`;
  for (const kind of KINDS) {
    const ran = await fullmcp([
      'generate',
      kind,
      url,
      '--token',
      'PLANTED-too',
      '--header',
      'X-Key: PLANTED',
    ]);
    expect(ran.exit).toBe(0);
    expect(ran.stdout).not.toContain('PLANTED');
  }
  const file = join(files, 'mine.ts');
  await writeFile(file, 'mine');
  expect(await fullmcp(['generate', 'types', demo.url, '-o', file])).toMatchObject({ exit: 2 });
  expect(await readFile(file, 'utf8')).toBe('mine');
  expect(await fullmcp(['generate', demo.url])).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('Say which'),
  });
});
