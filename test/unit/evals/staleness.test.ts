import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, jsonSchema, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { type EvalCase, type EvalReport, evals } from 'fullmcp/evals';
import { mockModel } from 'fullmcp/testing';
import { toTools } from 'fullmcp/tools';
import { expect, it, onTestFinished } from 'vitest';
import { vendorTools } from '../../../src/client/tools/to-tools.js';
import { seeded } from '../../../src/testing/faults/seeded.js';

// 200 planted changes to a catalog of 60 tools with 60 cases, in three layouts. The judge is the request itself, byte by byte.

interface Definition {
  readonly name: string;
  readonly description: string;
  readonly title?: string;
  readonly readOnly?: boolean;
  readonly output?: object;
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
}

const VERBS = ['list', 'create', 'archive', 'export'];
const NOUNS = [
  'invoice',
  'ticket',
  'customer',
  'order',
  'payment',
  'contract',
  'parcel',
  'meeting',
  'holiday',
  'salary',
  'printer',
  'license',
  'branch',
  'recipe',
  'voucher',
];

const CATALOG: readonly Definition[] = NOUNS.flatMap((noun) =>
  VERBS.map((verb) => ({
    name: `${verb}_${noun}`,
    description: `Use this to ${verb} one ${noun} of the company.`,
    properties: { id: { type: 'string', description: `The id of the ${noun}` }, note: { type: 'string' } },
    required: ['id'],
  })),
);

const CASES: readonly EvalCase[] = CATALOG.map(({ name }, at) => ({
  ask: `Please ${name.replace('_', ' the ')} number ${at}`,
  expect: name,
  runs: 1,
}));

/** Changes of one tool at a time, each with a catalog that differs. Some of them are not part of any request. */
const KINDS: readonly ((at: number, random: () => number) => readonly Definition[])[] = [
  (at) => changed(at, { description: 'Does things.' }),
  (at) => changed(at, { description: `${CATALOG[at]?.description} It may take a moment.` }),
  (at) =>
    changed(at, { properties: { note: { type: 'string' }, id: { type: 'string', description: 'The id' } } }),
  (at) => changed(at, { properties: { id: CATALOG[at]?.properties['id'] ?? {} } }),
  (at) => changed(at, { required: [] }),
  (at) => changed(at, { output: { type: 'object', properties: { [`n${at}`]: { type: 'number' } } } }),
  (at) => changed(at, { readOnly: true }),
  (at) => changed(at, { title: 'A title, which has no effect beside a description' }),
  (at) => changed(at, { name: `do_${CATALOG[at]?.name}` }),
  (at) => CATALOG.filter((_, index) => index !== at),
  (at) => CATALOG.toSpliced(at, 0, { ...(CATALOG[at] as Definition), name: `new_tool_${at}` }),
  (at, random) => swapped(at, Math.floor(random() * CATALOG.length), ['name']),
  (at, random) => swapped(at, Math.floor(random() * CATALOG.length), ['name', 'description', 'properties']),
];

function changed(at: number, fields: Partial<Definition>): readonly Definition[] {
  return CATALOG.with(at, { ...(CATALOG[at] as Definition), ...fields });
}

function swapped(one: number, other: number, fields: readonly (keyof Definition)[]): readonly Definition[] {
  const [first, second] = [CATALOG[one] as Definition, CATALOG[other] as Definition];
  const part = (from: Definition): object => Object.fromEntries(fields.map((field) => [field, from[field]]));
  return CATALOG.with(one, { ...first, ...part(second) }).with(other, { ...second, ...part(first) });
}

function serverOf(catalog: readonly Definition[], search: boolean) {
  const tools = catalog.map(({ name, description, title, readOnly, output, properties, required }) => [
    name,
    tool({
      description,
      ...(title && { title }),
      ...(readOnly && { annotations: { readOnly } }),
      ...(output && { output: jsonSchema(output as never) }),
      input: jsonSchema({ type: 'object', properties, required: [...required] }),
      run: () => ({}),
    }),
  ]);
  return createServer({
    name: 'company',
    version: '1.0.0',
    tools: Object.fromEntries(tools),
    ...(search && { search }),
  });
}

const LAYOUTS = {
  whole: { search: false, scope: () => undefined },
  scope: { search: false, scope: (at: number) => scopeOf(at) },
  search: { search: true, scope: () => undefined },
} as const;

/** Six tools: that of the case, and its neighbours. */
function scopeOf(at: number): readonly string[] {
  return Array.from({ length: 6 }, (_, more) => CATALOG[(at + more * 7) % CATALOG.length]?.name ?? '');
}

type Layout = keyof typeof LAYOUTS;

function casesOf(layout: Layout): readonly EvalCase[] {
  return CASES.map((one, at) => {
    const tools = LAYOUTS[layout].scope(at);
    return tools === undefined ? one : { ...one, tools };
  });
}

/** The parts of the requests of each case that a changed server can change, as bytes; undefined if a tool of `tools` is gone. */
async function requestsOf(
  catalog: readonly Definition[],
  layout: Layout,
): Promise<readonly (string | undefined)[]> {
  const server = serverOf(catalog, LAYOUTS[layout].search);
  if (layout === 'scope') {
    await using client = await connect(server);
    const all = await client.tools().all();
    return CASES.map((_, at) => {
      const scope = scopeOf(at);
      if (!scope.every((name) => all.some((one) => one.name === name))) return undefined;
      const tools = all.filter(({ name }) => scope.includes(name));
      return JSON.stringify(
        vendorTools({ tools, call: () => Promise.reject(new Error('not called')) }, 'openai-chat').tools,
      );
    });
  }
  const { tools, run, close } = await toTools(server, 'openai-chat');
  const offered = JSON.stringify(tools);
  const found: string[] = [];
  for (const { ask } of CASES) {
    const query = {
      id: 'call_1_1',
      function: { name: 'search_tools', arguments: JSON.stringify({ query: ask }) },
    };
    found.push(layout === 'search' ? JSON.stringify(await run(query)) : '');
  }
  await close();
  return found.map((result) => offered + result);
}

it('Of 200 planted changes, every case whose request differs is stale or touched, and no other', async () => {
  const affected = { whole: 0, scope: 0, search: 0 };
  const random = seeded(29);
  const plants = Array.from({ length: 200 }, (_, at) => {
    const kind = KINDS[at % KINDS.length] as (typeof KINDS)[number];
    return kind(Math.floor(random() * CATALOG.length), random);
  });
  for (const layout of ['whole', 'scope', 'search'] as const) {
    const folder = await record(layout);
    const before = await requestsOf(CATALOG, layout);
    for (const [number, catalog] of plants.entries()) {
      const after = await requestsOf(catalog, layout);
      const report = await replayed(catalog, { layout, folder });
      const states = report.models[0]?.cases.map(({ state }) => state) ?? [];
      const differ = after.map((request, at) => request !== before[at]);
      expect([layout, number, states.map((state) => state !== 'fresh')]).toEqual([layout, number, differ]);
      affected[layout] += differ.filter(Boolean).length;
      if (layout === 'whole') expect([number, states]).toEqual([number, gradesOf(catalog, differ)]);
    }
  }
  const mean = Object.fromEntries(
    Object.entries(affected).map(([layout, sum]) => [layout, sum / plants.length]),
  );
  // A narrow offer is what makes few cases stale: that is why the docs recommend it.
  expect(mean['whole']).toBeGreaterThan(40);
  expect(mean['scope']).toBeLessThan(10);
  expect(mean['search']).toBeLessThan(12);
}, 600_000);

/** The states with the whole catalog: stale if the tool of the case differs, touched if another one does. */
function gradesOf(catalog: readonly Definition[], differ: readonly boolean[]): readonly string[] {
  const seen = ({ name, description, properties, required }: Definition): string =>
    JSON.stringify([name, description, properties, required]);
  return CATALOG.map((original, at) => {
    if (!differ[at]) return 'fresh';
    const now = catalog.find(({ name }) => name === original.name);
    return now !== undefined && seen(now) === seen(original) ? 'touched' : 'stale';
  });
}

/** Records the cases with the unchanged catalog, and checks that the oracle has the bytes that were sent. */
async function record(layout: Layout): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'evals-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await using model = await mockModel(({ ask, results, body }) => {
    const name = CASES.find((one) => one.ask === ask)?.expect as string;
    const rounds = (body['messages'] as readonly { role: string }[]).filter(
      ({ role }) => role === 'tool',
    ).length;
    if (layout === 'search' && rounds === 0)
      return { calls: [{ name: 'search_tools', args: { query: ask }, id: 'call_1_1' }] };
    if (rounds === (layout === 'search' ? 2 : 1)) return `Done: ${results.length}`;
    const args = { id: '7' };
    return layout === 'search'
      ? { calls: [{ name: 'call_tool', args: { name, arguments: args } }] }
      : { calls: [{ name, args }] };
  });
  const models = [{ api: 'openai-chat' as const, model: 'm', url: model.url }];
  const suite = evals(serverOf(CATALOG, LAYOUTS[layout].search), casesOf(layout), { models });
  const report = await suite.run({ tapes: folder, record: true });
  expect(report.models[0]?.cases.filter(({ ok }) => !ok)).toEqual([]);
  const sent = model.requests.map(
    ({ ask, body }) => ({ ask, ...body }) as { ask: string; tools: unknown; messages: unknown[] },
  );
  for (const [at, bytes] of (await requestsOf(CATALOG, layout)).entries()) {
    const [first, second] = sent.filter(({ ask }) => ask === CASES[at]?.ask);
    const result = layout === 'search' ? JSON.stringify(second?.messages.at(-1)) : '';
    expect(JSON.stringify(first?.tools) + result).toBe(bytes);
  }
  return folder;
}

function replayed(
  catalog: readonly Definition[],
  { layout, folder }: { readonly layout: Layout; readonly folder: string },
): Promise<EvalReport> {
  return evals(serverOf(catalog, LAYOUTS[layout].search), casesOf(layout)).run({ tapes: folder });
}
