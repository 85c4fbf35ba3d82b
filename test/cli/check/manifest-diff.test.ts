import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createServer, prompt, resource, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ownDemo } from '../../support/examples/demo.js';
import { fullmcp } from '../support/run-cli.js';
import { folder, HOSTILE, manifestFile, served, UNSAFE } from './support.js';

const demo = await ownDemo();

const files = await folder();
const shop = await served(
  createServer({
    name: 'shop',
    version: '1.2.3',
    logger: () => undefined,
    instructions: 'Ask for the price first.',
    tools: {
      zebra: tool({ description: 'Last', run: () => '' }),
      add: tool({
        description: 'Add two numbers',
        input: z.object({ a: z.number(), b: z.number().default(1) }),
        run: ({ a, b }) => a + b,
      }),
    },
    resources: {
      'shop://prices': resource({ read: () => 'none' }),
      'shop://items/{id}': resource({ read: () => '' }),
    },
    prompts: { greet: prompt({ args: z.object({ name: z.string() }), run: () => 'hi' }) },
  }),
);
const hostile = await served(
  createServer({
    name: 'shop',
    version: '1.2.3',
    logger: () => undefined,
    tools: { a: tool({ description: HOSTILE, run: () => '' }) },
    instructions: HOSTILE,
  }),
);

type Tool = { name: string; inputSchema: object } & Record<string, unknown>;
const schema = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more });
const pay = (inputSchema: object, more: object = {}): Tool => ({ name: 'pay', inputSchema, ...more });

/** The words of `diff` about two versions of one tool. */
async function between(before: Tool, after: Tool): Promise<string[]> {
  const [one, other] = [
    await manifestFile(join(files, 'one.manifest.json'), [before]),
    await manifestFile(join(files, 'other.manifest.json'), [after]),
  ];
  const { exit, json } = await fullmcp(['diff', one, other, '--json']);
  const { ok, breaking, changes } = json<{
    ok: boolean;
    breaking: number;
    changes: { says: string; breaking: boolean }[];
  }>();
  expect({ exit, ok, breaking }).toEqual({
    exit: breaking > 0 ? 1 : 0,
    ok: breaking === 0,
    breaking: changes.filter((change) => change.breaking).length,
  });
  return changes.map((change) => `${change.breaking ? '! ' : ''}${change.says}`);
}

describe('fullmcp manifest', () => {
  it('prints everything that a server offers, sorted, and the same each time', async () => {
    const { exit, stdout, stderr, json } = await fullmcp(['manifest', shop]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(json()).toMatchObject({
      fullmcp: 'manifest',
      version: 1,
      server: { name: 'shop', version: '1.2.3' },
      revision: '2026-07-28',
      instructions: 'Ask for the price first.',
      tools: [{ name: 'add', description: 'Add two numbers' }, { name: 'zebra' }],
      resources: [{ uri: 'shop://prices' }],
      templates: [{ uriTemplate: 'shop://items/{id}' }],
      prompts: [{ name: 'greet', arguments: [{ name: 'name', required: true }] }],
    });
    expect((await fullmcp(['manifest', shop])).stdout).toBe(stdout);
  });

  it('writes a file that diff reads', async () => {
    const file = join(files, 'shop.manifest.json');
    expect(await fullmcp(['manifest', shop, '-o', file])).toMatchObject({
      exit: 0,
      stdout: '',
      stderr: `Written to ${file}.\n`,
    });
    const { manifest, ...rest } = (await fullmcp(['manifest', shop, '--json'])).json();
    expect(rest).toEqual({ ok: true });
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(manifest);
    expect(await fullmcp(['diff', file, shop])).toMatchObject({
      exit: 0,
      stdout: '',
      stderr: 'No changes.\n',
    });
  });

  it('refuses a file that cannot be written, and a server that is not there', async () => {
    const { exit, stdout, stderr } = await fullmcp(['manifest', shop, '-o', join(files, 'no', 'where.json')]);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain('cannot be written');
    expect((await fullmcp(['manifest', 'http://127.0.0.1:1/mcp'])).exit).toBe(3);
  });

  it('cannot be made to control the terminal, and its JSON keeps every character', async () => {
    const { stdout, json } = await fullmcp(['manifest', hostile]);
    for (const unsafe of UNSAFE) expect(stdout).not.toContain(unsafe);
    expect(json<{ instructions: string }>().instructions).toBe(HOSTILE);
    const asked = await fullmcp(['manifest', hostile, '--json']);
    for (const unsafe of UNSAFE) expect(asked.stdout).not.toContain(unsafe);
    expect(asked.json<{ manifest: { instructions: string } }>().manifest.instructions).toBe(HOSTILE);
  });
});

describe('fullmcp diff', () => {
  it('marks changes of the input by whether old calls still work', async () => {
    const name = { type: 'string' };
    expect(await between(pay(schema({ name })), pay(schema({ name, tip: { type: 'number' } })))).toEqual([
      'tip: this optional argument is new',
    ]);
    expect(
      await between(
        pay(schema({ name })),
        pay(schema({ name, tip: { type: 'number' } }, { required: ['tip'] })),
      ),
    ).toEqual(['! tip: this new argument is required']);
    expect(await between(pay(schema({ name })), pay(schema({ name }, { required: ['name'] })))).toEqual([
      '! name: it is required now',
    ]);
    expect(await between(pay(schema({ name }, { required: ['name'] })), pay(schema({ name })))).toEqual([
      'name: it is optional now',
    ]);
    expect(await between(pay(schema({ name })), pay(schema({})))).toEqual([
      '! name: this argument was removed',
    ]);
    expect(
      await between(pay(schema({ n: { type: 'number' } })), pay(schema({ n: { type: 'integer' } }))),
    ).toEqual(['! n: its type was number and is integer']);
    expect(
      await between(pay(schema({ n: { type: 'integer' } })), pay(schema({ n: { type: 'number' } }))),
    ).toEqual(['n: its type was integer and is number']);
    expect(
      await between(pay(schema({ c: { enum: ['a', 'b'] } })), pay(schema({ c: { enum: ['b', 'c'] } }))),
    ).toEqual(['! c: "a" is not a choice any more', 'c: "c" is a new choice']);
    expect(
      await between(
        pay(schema({ n: { type: 'number', maximum: 9 } })),
        pay(schema({ n: { type: 'number', maximum: 5 } })),
      ),
    ).toEqual(['! n: maximum was 9 and is 5']);
    expect(await between(pay(schema({ name })), pay(schema({ name: { ...name, pattern: '^a' } })))).toEqual([
      '! name: pattern was not set and is "^a"',
    ]);
    expect(
      await between(pay(schema({ name })), pay(schema({ name: { ...name, description: 'x' } }))),
    ).toEqual(['name: its description changed']);
    expect(
      await between(pay(schema({ name })), pay(schema({ name }, { additionalProperties: false }))),
    ).toEqual(['! other arguments are rejected now']);
  });

  it('marks changes of the output by whether old readers still work', async () => {
    const result = (outputSchema: object): Tool => pay(schema({}), { outputSchema });
    const total = { type: 'number' };
    expect(await between(result(schema({ total })), result(schema({})))).toEqual([
      '! result total: this field was removed',
    ]);
    expect(await between(result(schema({})), result(schema({ total })))).toEqual([
      'result total: this optional field is new',
    ]);
    expect(
      await between(result(schema({ total }, { required: ['total'] })), result(schema({ total }))),
    ).toEqual(['! result total: it is optional now']);
    expect(
      await between(result(schema({ total })), result(schema({ total: { type: ['number', 'null'] } }))),
    ).toEqual(['! result total: its type was number and is number or null']);
    expect(await between(result(schema({ total })), pay(schema({})))).toEqual([
      '! its result has no schema any more',
    ]);
  });

  it('follows references, also of a schema that refers to itself', async () => {
    const tree = (leaf: object): object => ({
      type: 'object',
      properties: { root: { $ref: '#/$defs/node' } },
      $defs: {
        node: {
          type: 'object',
          properties: { leaf, left: { $ref: '#/$defs/node' }, right: { $ref: '#/$defs/node' } },
        },
      },
    });
    expect(await between(pay(tree({ type: 'string' })), pay(tree({ type: 'number' })))).toEqual([
      '! root.leaf: its type was string and is number',
    ]);
  });

  it('marks a tool that became more dangerous, and says so of one that became safer', async () => {
    const hinted = (annotations: object): Tool => pay(schema({}), { annotations });
    expect(await between(hinted({ readOnlyHint: true }), hinted({ readOnlyHint: false }))).toEqual([
      '! its readOnlyHint was true and is false',
    ]);
    expect(await between(hinted({}), hinted({ readOnlyHint: true }))).toEqual([
      'its readOnlyHint was not set and is true',
    ]);
  });

  it('compares prompts, resources, templates and capabilities', async () => {
    const before = await manifestFile(join(files, 'a.json'), [], {
      capabilities: { tools: {}, prompts: {} },
      prompts: [{ name: 'greet', arguments: [{ name: 'who' }] }],
      resources: [{ uri: 'a://1', name: 'one', mimeType: 'text/plain' }],
      templates: [{ uriTemplate: 'a://{id}', name: 'items' }],
    });
    const after = await manifestFile(join(files, 'b.json'), [], {
      prompts: [{ name: 'greet', arguments: [{ name: 'who', required: true }] }],
      resources: [{ uri: 'a://1', name: 'one', mimeType: 'text/html' }],
      templates: [{ uriTemplate: 'a://{number}', name: 'items' }],
    });
    const { exit, stdout, stderr } = await fullmcp(['diff', before, after]);
    expect(exit).toBe(1);
    expect(stdout.split('\n')).toEqual([
      'BREAKING - server prompts  this capability was removed',
      'BREAKING ~ resource a://1  its MIME type was "text/plain" and is "text/html"',
      'BREAKING - template a://{id}  removed; a://{number} is the same under a new name',
      '         + template a://{number}  new',
      'BREAKING ~ prompt greet  who: it is required now',
      '',
    ]);
    expect(stderr).toBe('5 changes, 4 breaking.\n');
    expect((await fullmcp(['diff', before, after, '--fail-on', 'never'])).exit).toBe(0);
  });

  it('fails on any change if it is asked to', async () => {
    const before = await manifestFile(join(files, 'c.json'), [pay(schema({}))]);
    const after = await manifestFile(join(files, 'd.json'), [
      pay(schema({})),
      { ...pay(schema({})), name: 'refund' },
    ]);
    expect(await fullmcp(['diff', before, after])).toMatchObject({
      exit: 0,
      stdout: '         + tool refund  new\n',
      stderr: '1 change, 0 breaking.\n',
    });
    expect((await fullmcp(['diff', before, after, '--fail-on', 'any'])).exit).toBe(1);
    expect((await fullmcp(['diff', before, after, '--fail-on', 'some'])).exit).toBe(2);
  });

  it('refuses files that are missing, not JSON, or not manifests', async () => {
    const missing = await fullmcp(['diff', join(files, 'none.manifest.json'), shop]);
    expect(missing).toMatchObject({ exit: 2, stdout: '' });
    expect(missing.stderr).toContain('does not exist');
    const broken = join(files, 'broken.manifest.json');
    await writeFile(broken, '{');
    expect((await fullmcp(['diff', broken, shop])).stderr).toContain('it is not JSON');
    await writeFile(broken, '{}');
    expect((await fullmcp(['diff', broken, shop])).stderr).toContain('is not a manifest');
    await manifestFile(broken, [{ title: 'no name' }]);
    expect((await fullmcp(['diff', broken, shop])).stderr).toContain(
      '"tools" must be an array of objects that have a "name"',
    );
    await writeFile(broken, `${'['.repeat(5000)}${']'.repeat(5000)}`);
    expect(await fullmcp(['diff', broken, shop])).toMatchObject({ exit: 2 });
  });

  it('cannot be made to control the terminal by a manifest', async () => {
    const before = await manifestFile(join(files, 'e.json'), [{ name: HOSTILE, inputSchema: schema({}) }]);
    const after = await manifestFile(join(files, 'f.json'), [
      { ...pay(schema({ [HOSTILE]: { enum: [HOSTILE] } })), [HOSTILE]: 1 },
      { name: '; rm -rf /', inputSchema: {} },
    ]);
    for (const words of [
      ['diff', before, after],
      ['diff', after, before],
      ['diff', after, before, '--json'],
    ]) {
      const { stdout, stderr, exit } = await fullmcp(words);
      expect(exit).toBe(1);
      for (const unsafe of UNSAFE) expect(stdout + stderr).not.toContain(unsafe);
    }
  });

  it('compares the demo with a manifest of it', async () => {
    await using running = await serve(demo, { port: 0 });
    const file = join(files, 'demo.manifest.json');
    await fullmcp(['manifest', running.url, '-o', file]);
    expect(await fullmcp(['diff', file, running.url, '--json'])).toMatchObject({ exit: 0 });
    const manifest = JSON.parse(await readFile(file, 'utf8'));
    manifest.tools.find((one: Tool) => one.name === 'add').inputSchema.required = [];
    await writeFile(file, JSON.stringify(manifest));
    const changed = await fullmcp(['diff', file, running.url]);
    expect(changed).toMatchObject({
      exit: 1,
      stdout: 'BREAKING ~ tool add  a: it is required now\nBREAKING ~ tool add  b: it is required now\n',
    });
  });
});
