import { join } from 'node:path';
import { createServer, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ownDemo } from '../../support/examples/demo.js';
import { fullmcp } from '../support/run-cli.js';
import { folder, HOSTILE, manifestFile, served, UNSAFE } from './support.js';

const demo = await ownDemo();

const files = await folder();

interface Answer {
  readonly ok: boolean;
  readonly errors: number;
  readonly warnings: number;
  readonly advice: number;
  readonly tokens: { readonly total: number; readonly tools: readonly { name: string; tokens: number }[] };
  readonly findings: readonly {
    rule: string;
    severity: string;
    name: string;
    path?: string;
    vendors: string[];
    fix: string;
  }[];
}

/** A tool about which there is nothing to say. */
const good = (more: object = {}): object => ({
  name: 'find_order',
  description: 'Finds an order by its number and returns its lines.',
  inputSchema: { type: 'object', properties: { id: { type: 'string', description: 'The number' } } },
  annotations: { readOnlyHint: true },
  ...more,
});
const input = (id: object, more: object = {}): object => ({
  inputSchema: { type: 'object', properties: { id: { description: 'The number', ...id } }, ...more },
});

async function lint(
  tools: readonly object[],
  ...words: readonly string[]
): Promise<Answer & { exit: number }> {
  const file = await manifestFile(join(files, 'lint.manifest.json'), tools);
  const { exit, json } = await fullmcp(['lint', file, '--json', ...words]);
  return { exit, ...json<Answer>() };
}

async function rules(tool: object): Promise<string[]> {
  const { findings, exit, errors, ok } = await lint([tool]);
  expect({ exit, ok }).toEqual(errors > 0 ? { exit: 1, ok: false } : { exit: 0, ok: true });
  for (const { fix } of findings) expect(fix).toMatch(/\.$/);
  return findings.map(({ rule, path }) => (path ? `${rule} ${path}` : rule));
}

describe('fullmcp lint', () => {
  it('finds nothing in a good tool, and estimates its tokens', async () => {
    const { exit, ok, findings, tokens } = await lint([good()]);
    expect({ exit, ok, findings }).toEqual({ exit: 0, ok: true, findings: [] });
    expect(tokens.tools).toEqual([{ name: 'find_order', tokens: tokens.total }]);
    expect(tokens.total).toBeGreaterThan(20);
    expect(tokens.total).toBeLessThan(80);
  });

  it('checks names of tools and of arguments', async () => {
    expect(await rules(good({ name: 'find order' }))).toEqual(['name-characters']);
    expect(await rules(good({ name: 'orders.find' }))).toEqual(['name-dot']);
    expect(await rules(good({ name: 'a'.repeat(65) }))).toEqual(['name-length']);
    expect(await rules(good({ name: '2nd_order' }))).toEqual(['name-start']);
    const named = (name: string): object => ({
      inputSchema: { type: 'object', properties: { [name]: { type: 'string', description: 'x' } } },
    });
    expect(await rules(good(named('b'.repeat(64))))).toEqual([]);
    expect(await rules(good(named('b'.repeat(65))))).toEqual([`property-name ${'b'.repeat(65)}`]);
    expect(await rules(good(named('$filter')))).toEqual(['property-name $filter']);
  });

  it('checks descriptions and hints', async () => {
    expect(await rules(good({ description: ' ' }))).toEqual(['description-missing']);
    expect(await rules(good({ description: 'a b '.repeat(300) }))).toEqual(['description-long']);
    expect(await rules(good({ description: 'Finds\u200b an order \u{e0041}' }))).toEqual([
      'invisible-characters',
    ]);
    expect(await rules(good({ description: 'Finds an order ❤️ 👩‍💻' }))).toEqual([]);
    expect(await rules(good({ annotations: {} }))).toEqual(['annotations-missing']);
    expect(await rules(good({ annotations: { readOnlyHint: true, destructiveHint: true } }))).toEqual([
      'annotations-contradict',
    ]);
    expect(await rules(good(input({ description: undefined, type: 'string' })))).toEqual([
      'argument-description-missing',
    ]);
  });

  it('advises each kind of definition in its own words', async () => {
    const more = {
      resources: [{ uri: 'notes://all', name: 'all', title: 'All notes' }],
      prompts: [{ name: 'explain' }],
    };
    const tools = [good({ description: undefined, annotations: {} })];
    const file = await manifestFile(join(files, 'kinds.manifest.json'), tools, more);
    const { stdout } = await fullmcp(['lint', file]);
    expect(stdout).toContain('it has no description.\n           Say in one or two sentences what it does,');
    expect(stdout).toContain(
      'it has a title, but no description.\n           Say in one or two sentences what it contains, and when to read it.\n',
    );
    expect(stdout).toContain(
      'Say in one or two sentences what it asks the model to do, and when to use it.\n',
    );
    expect(stdout).toContain('annotations: { readOnly: true } or { destructive: true } in fullmcp');
  });

  it('checks the portability of schemas, and names the vendors', async () => {
    expect(await rules(good({ inputSchema: { anyOf: [{ type: 'object' }] } }))).toEqual(['root-not-object']);
    expect(await rules(good(input({ oneOf: [{ type: 'string' }] })))).toEqual(['unsupported-keyword id']);
    expect(await rules(good(input({ const: 1 })))).toEqual(['unsupported-keyword id']);
    expect(await rules(good(input({ type: 'number', multipleOf: 5 })))).toEqual(['ignored-keyword id']);
    expect(await rules(good(input({ type: 'array' })))).toEqual(['array-without-items id']);
    expect(await rules(good(input({ type: ['string', 'null'] })))).toEqual(['type-array id']);
    expect(await rules(good(input({ type: 'array', items: { type: ['string', 'number'] } })))).toEqual([
      'type-array id[]',
    ]);
    expect(await rules(good(input({ enum: [1, 2] })))).toEqual(['enum-not-strings id']);
    expect(await rules(good(input({ type: 'string' }, { required: ['other'] })))).toEqual([
      'required-unknown',
    ]);
    expect(await rules(good(input({ $ref: 'https://example.com/schema' })))).toEqual([
      'external-ref id',
      'unsupported-keyword id',
    ]);
    expect(await rules(good(input({ type: 'string', pattern: '^(a+)+$' })))).toEqual(['slow-pattern id']);
    const { findings } = await lint([good(input({ oneOf: [{ type: 'string' }] }))]);
    expect(findings[0]?.vendors).toEqual(['OpenAI', 'Gemini']);
  });

  it('finds schemas that are only true or false, except where every vendor knows them', async () => {
    const any = { type: 'object', properties: { id: true, never: false } };
    expect(await rules(good({ inputSchema: any }))).toEqual([
      'boolean-schema id',
      'boolean-schema never',
      'argument-description-missing',
    ]);
    expect(await rules(good(input({ type: 'array', items: true })))).toEqual(['boolean-schema id[]']);
    expect(await rules(good(input({ type: 'object', additionalProperties: false })))).toEqual([]);
    expect(await rules(good(input({ anyOf: [{ type: 'string' }, true] })))).toEqual(['boolean-schema id']);
  });

  it('finds deep, wide and recursive schemas', async () => {
    let deep: object = { type: 'string' };
    for (let level = 0; level < 6; level++) deep = { type: 'object', properties: { a: deep } };
    expect(await rules(good(input(deep)))).toEqual(['deep-nesting id.a.a.a.a.a.a']);
    const wide = Object.fromEntries(
      Array.from({ length: 101 }, (_, n) => [`p${n}`, { type: 'string', description: 'x' }]),
    );
    expect(await rules(good({ inputSchema: { type: 'object', properties: wide } }))).toEqual([
      'many-properties',
      'tool-tokens',
    ]);
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } };
    expect(await rules(good(input({ $ref: '#/$defs/node' }, { $defs: { node } })))).toEqual([
      'unsupported-keyword id',
      'recursive-schema',
    ]);
  });

  it('finds tools that a model may mix up', async () => {
    const { findings } = await lint([
      good(),
      good({ name: 'findOrders', description: 'Searches through all orders of all customers by text.' }),
      good({ name: 'look_up', description: 'Finds an order by its number, and returns its lines.' }),
      good({ name: 'get_user', description: 'Returns one user.' }),
      good({ name: 'set_user', description: 'Changes one user.' }),
    ]);
    expect(findings.map(({ name, rule }) => `${name} ${rule}`)).toEqual([
      'findOrders similar-name',
      'look_up similar-description',
    ]);
  });

  it('holds a budget of tokens', async () => {
    expect(await lint([good()], '--max-tokens', '10')).toMatchObject({
      exit: 1,
      errors: 1,
      findings: [{ rule: 'total-tokens', severity: 'error' }],
    });
    expect((await lint([good()], '--max-tokens', '1000')).exit).toBe(0);
    expect(await fullmcp(['lint', 'x.manifest.json', '--max-tokens', 'many'])).toMatchObject({
      exit: 2,
      stdout: '',
    });
  });

  it('leaves out rules, and fails on what it is asked to', async () => {
    const bad = [good({ description: '' }), good({ name: 'a b' })];
    expect((await lint(bad, '--ignore', 'name-characters')).exit).toBe(0);
    expect((await lint(bad, '--ignore', 'name-characters', '--fail-on', 'warning')).exit).toBe(1);
    expect((await lint(bad, '--fail-on', 'never')).exit).toBe(0);
    expect(
      (await lint(bad, '--ignore', 'name-characters', '--ignore', 'description-missing')).findings,
    ).toEqual([]);
    const unknown = await fullmcp(['lint', 'x.manifest.json', '--ignore', 'nonsense']);
    expect(unknown).toMatchObject({ exit: 2, stdout: '' });
    expect(unknown.stderr).toContain('--ignore must be one of name-characters');
  });

  it('prints each finding with what to do', async () => {
    const url = await served(
      createServer({
        name: 'shop',
        version: '1.2.3',
        logger: () => undefined,
        tools: { 'orders.find': tool({ input: z.object({ id: z.string() }), run: () => '' }) },
      }),
    );
    const { exit, stdout, stderr } = await fullmcp(['lint', url]);
    expect(exit).toBe(0);
    expect(stdout).toContain(
      'tool orders.find\n  warning  name-dot  its name has a dot (OpenAI, Anthropic).\n           Use _ instead of the dot.\n',
    );
    expect(stderr).toMatch(/^0 errors, 2 warnings, 2 to consider · 1 tool, about \d+ tokens\n$/);
  });

  it('reads the demo', async () => {
    await using running = await serve(demo, { port: 0 });
    const { exit, json } = await fullmcp(['lint', running.url, '--json']);
    const { errors, tokens } = json<Answer>();
    expect({ exit, errors }).toEqual({ exit: 0, errors: 0 });
    expect(tokens.tools.map(({ name }) => name)).toContain('add');
  });

  it('survives a hostile server, and shows nothing that controls the terminal', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 300 }, (_, n) => [`${HOSTILE}${n}`, { $ref: `${HOSTILE}${n}`, pattern: HOSTILE }]),
    );
    const file = await manifestFile(join(files, 'hostile.manifest.json'), [
      good({
        name: HOSTILE,
        description: HOSTILE.repeat(100_000),
        inputSchema: { type: 'object', properties },
      }),
      good({
        name: '--help',
        inputSchema: { type: 'object', properties: { __proto__: {} }, required: [HOSTILE] },
      }),
      good({ name: '; rm -rf /', inputSchema: [] }),
    ]);
    for (const words of [
      ['lint', file],
      ['lint', file, '--json'],
    ]) {
      const { exit, stdout, stderr } = await fullmcp(words, { terminal: false });
      expect(exit).toBe(1);
      for (const unsafe of UNSAFE) expect((stdout + stderr).includes(unsafe)).toBe(false);
      expect(stdout.length).toBeLessThan(20_000_000);
    }
  });
});
