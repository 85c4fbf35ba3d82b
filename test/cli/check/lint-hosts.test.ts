import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOST_NAMES, PROFILES } from '../../../src/tooling/lint/host-profiles.js';
import { HOST_RULES } from '../../../src/tooling/lint/host-rules.js';
import { fullmcp } from '../support/run-cli.js';
import { folder, HOSTILE, manifestFile, UNSAFE } from './support.js';

const files = await folder();

interface Finding {
  readonly rule: string;
  readonly severity: string;
  readonly kind: string;
  readonly vendors: readonly string[];
  readonly says: string;
  readonly fix: string;
  readonly source?: string;
}

/** A tool that every host accepts. */
const good = (more: object = {}): object => ({
  name: 'find_order',
  title: 'Find an order',
  description: 'Finds an order by its number and returns its lines.',
  inputSchema: { type: 'object', properties: { id: { type: 'string', description: 'The number' } } },
  outputSchema: { type: 'object', properties: { lines: { type: 'number' } } },
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
  ...more,
});
const takes = (properties: object): object => ({ inputSchema: { type: 'object', properties } });
const text = { type: 'string', description: 'Some words' };

async function lintFor(
  host: string,
  tools: readonly object[],
  more: object = {},
): Promise<{ exit: number; found: readonly Finding[] }> {
  const file = await manifestFile(join(files, 'hosts.manifest.json'), tools, more);
  const { exit, json } = await fullmcp(['lint', file, '--for', host, '--json']);
  const { findings } = json<{ findings: readonly Finding[] }>();
  return { exit, found: findings.filter(({ source }) => source !== undefined) };
}

async function rules(host: string, ...tools: readonly object[]): Promise<string[]> {
  const { found } = await lintFor(host, tools);
  return found.map(({ rule, severity }) => `${severity} ${rule}`);
}

describe('fullmcp lint --for', () => {
  it('finds nothing for any host in a tool that has all that they want', async () => {
    for (const host of HOST_NAMES) expect([host, await rules(host, good())]).toEqual([host, []]);
  });

  it('names the host, a fix, and where the rule comes from with its date', async () => {
    const { exit, found } = await lintFor('claude', [good({ title: undefined })]);
    expect(exit).toBe(1);
    expect(found).toEqual([
      {
        rule: 'title-missing',
        severity: 'error',
        kind: 'tool',
        name: 'find_order',
        vendors: ['Claude'],
        says: 'it has no title',
        fix: HOST_RULES['title-missing'],
        source: 'Review criteria of the connectors directory, documentation of 2026-09-02',
      },
    ]);
  });

  it('wants the hints that each directory wants', async () => {
    const hints = (annotations: object): object => good({ annotations });
    expect(await rules('chatgpt', hints({ readOnlyHint: true, destructiveHint: false }))).toEqual([
      'error hints-explicit',
    ]);
    expect(await rules('claude', hints({ openWorldHint: false }))).toEqual(['error hints-missing']);
    expect(await rules('cursor', hints({}))).toEqual([]);
    const all = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
    for (const host of ['chatgpt', 'claude']) {
      expect(await rules(host, good({ name: 'delete_order' }))).toEqual(['error hints-contradict-name']);
      expect(await rules(host, hints({ ...all, destructiveHint: true }))).toEqual([
        'error hints-contradict-name',
      ]);
      expect(await rules(host, good({ name: 'listDeletedOrders' }))).toEqual([]);
      expect(await rules(host, good({ name: 'get_order_update_history' }))).toEqual([]);
    }
  });

  it('refuses generic executors and tools that mix effects, and takes those that name their operations', async () => {
    const program = (name: string, properties: object): object => good({ name, ...takes(properties) });
    for (const host of ['chatgpt', 'claude']) {
      expect(await rules(host, program('call_tool', { name: text }))).toEqual(['error generic-executor']);
      expect(await rules(host, program('api', { method: text, path: text }))).toEqual([
        'error generic-executor',
      ]);
      expect(await rules(host, program('use', { tool: text, arguments: { type: 'object' } }))).toEqual([
        'error generic-executor',
      ]);
      expect(await rules(host, program('run_query', { sql: text }))).toEqual(['error generic-executor']);
      expect(await rules(host, program('report', { sql: text }))).toEqual(['warning free-command']);
      const choice = (...values: string[]): object => ({ action: { type: 'string', enum: values } });
      expect(await rules(host, program('orders', choice('list', 'delete')))).toEqual(['error mixed-effects']);
      expect(await rules(host, program('orders', choice('list', 'count')))).toEqual([]);
      expect(await rules(host, program('redeem', { code: text }))).toEqual([]);
      expect(await rules(host, program('fetch_page', { url: text }))).toEqual([]);
    }
    expect(await rules('gemini', program('call_tool', { name: text }))).toEqual([]);
  });

  it('checks names, alone and with the name of the server before them', async () => {
    const named = (length: number): object => good({ name: 'a'.repeat(length) });
    expect(await rules('claude', named(64))).toEqual([]);
    expect(await rules('claude', named(65))).toEqual(['error host-name-long']);
    expect(await rules('chatgpt', named(65))).toEqual(['warning host-name-long']);
    // The server is called "shop".
    expect(await rules('cursor', named(56))).toEqual([]);
    expect(await rules('cursor', named(57))).toEqual(['warning full-name-long']);
    expect(await rules('codex', named(53))).toEqual([]);
    expect(await rules('codex', named(54))).toEqual(['warning full-name-long']);
    expect(await rules('codex', good({ name: 'find.order' }))).toEqual(['warning name-replaced']);
    expect(await rules('gemini', good({ name: 'find.order' }))).toEqual([]);
    expect(await rules('chatgpt', good({ title: 'The best search' }))).toEqual(['warning name-promotes']);
  });

  it('checks descriptions, arguments, results and the number of tools', async () => {
    expect(await rules('claude', good({ description: 'Always call this first.' }))).toEqual([
      'error text-steers',
    ]);
    expect(await rules('claude', good({ description: 'a'.repeat(4097) }))).toEqual([
      'warning host-description-long',
    ]);
    expect(await rules('chatgpt', good(takes({ chat_history: text })))).toEqual(['warning input-excessive']);
    expect(await rules('chatgpt', good({ outputSchema: undefined }))).toEqual([
      'advice output-schema-missing',
    ]);
    const output = (schema: object): object => good({ outputSchema: schema });
    expect(
      await rules('chatgpt', output({ type: 'object', properties: { requestId: { type: 'string' } } })),
    ).toEqual(['warning output-internals']);
    expect(await rules('gemini', output({ type: 'number' }))).toEqual(['error output-not-object']);
    const many = Array.from({ length: 41 }, (_, n) => good({ name: `find_${n}_x` }));
    expect(await rules('cursor', ...many.slice(1))).toEqual([]);
    expect(await rules('cursor', ...many)).toEqual(['warning many-tools']);
    expect(await rules('copilot', ...many)).toEqual([]);
  });

  it.each([
    ['an array without items', { id: { type: 'array' } }],
    ['a type that does not exist', { id: { type: 'text' } }],
    ['a number that is a string', { id: { type: 'number', minimum: '1' } }],
    ['an enum without values', { id: { enum: [] } }],
    ['a deep mistake', { id: { anyOf: [{ type: 'object', properties: { a: { required: true } } }] } }],
  ])('finds that Copilot drops a tool whose schema has %s', async (_, properties) => {
    expect(await rules('copilot', good(takes(properties)))).toEqual(['error schema-refused']);
  });

  it('checks several hosts, leaves rules out, and refuses a host that it does not know', async () => {
    const file = await manifestFile(join(files, 'two.manifest.json'), [
      good({ title: undefined, annotations: {} }),
    ]);
    const words = ['lint', file, '--json', '--for', 'claude', '--for', 'chatgpt'];
    const { findings } = (await fullmcp(words)).json<{ findings: readonly Finding[] }>();
    expect(findings.map(({ rule }) => rule)).toEqual([
      'title-missing',
      'hints-missing',
      'hints-explicit',
      'annotations-missing',
    ]);
    const ignored = ['title-missing', 'hints-missing', 'hints-explicit'].flatMap((rule) => [
      '--ignore',
      rule,
    ]);
    expect((await fullmcp([...words, ...ignored])).exit).toBe(0);
    const unknown = await fullmcp(['lint', file, '--for', 'netscape']);
    expect(unknown).toMatchObject({ exit: 2, stdout: '' });
    expect(unknown.stderr).toContain('--for must be one of chatgpt');
    expect((await fullmcp(['lint', file, '--for', 'claude'])).stdout).toContain(
      '(Review criteria of the connectors directory, documentation of 2026-09-02)',
    );
  });

  it('has a source with a day, and a fix, for every rule of every host', () => {
    for (const name of HOST_NAMES) {
      const { rows, connection } = PROFILES[name];
      for (const { source } of [...rows, ...connection]) {
        expect(source.says).not.toBe('');
        expect(new Date(source.date).toISOString().slice(0, 10)).toBe(source.date);
      }
      for (const { rule } of rows) expect(HOST_RULES[rule]).toMatch(/\.$/);
    }
  });

  it('survives hostile definitions, and shows nothing that controls the terminal', async () => {
    let deep: object = { type: 'text' };
    for (let level = 0; level < 200; level++) deep = { type: 'object', properties: { [HOSTILE]: deep } };
    const wide = Object.fromEntries(
      Array.from({ length: 5000 }, (_, n) => [`${HOSTILE}${n}`, { enum: [HOSTILE] }]),
    );
    const tools = [
      good({ name: HOSTILE, title: HOSTILE, description: HOSTILE.repeat(50_000), inputSchema: deep }),
      good({ name: '__proto__', ...takes(wide), outputSchema: { type: 'object', properties: wide } }),
      good({ name: `${'aA'.repeat(100_000)}`, annotations: 'yes', inputSchema: [] }),
    ];
    const file = await manifestFile(join(files, 'hostile.manifest.json'), tools, {
      server: { name: HOSTILE.repeat(10), version: '1' },
    });
    for (const more of [[], ['--json']]) {
      const every = HOST_NAMES.flatMap((host) => ['--for', host]);
      const { exit, stdout, stderr } = await fullmcp(['lint', file, ...every, ...more]);
      expect(exit).toBe(1);
      for (const unsafe of UNSAFE) expect((stdout + stderr).includes(unsafe)).toBe(false);
    }
  });
});
