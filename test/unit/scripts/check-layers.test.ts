import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

interface Module {
  readonly path: string;
}

/** The functions of scripts/layer-failures.js that are tried here. */
interface LayerCheck {
  readModule(path: string, text: string): Module;
  layerFailures(modules: readonly Module[]): string[];
  widthNotes(files: readonly string[]): string[];
}

// The scripts are JavaScript without declarations, so their types are stated here.
const script = (name: string): string => new URL(`../../../scripts/${name}.js`, import.meta.url).href;
const { readModule, layerFailures, widthNotes }: LayerCheck = await import(script('layer-failures'));
const { withTable }: { withTable(page: string): string | undefined } = await import(script('layers'));
const { filesUnder }: { filesUnder(folder: string): string[] } = await import(script('files'));

const src = fileURLToPath(new URL('../../../src', import.meta.url));
const sources = new Map(
  filesUnder(src)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [file.slice(src.length + 1), readFileSync(file, 'utf8')]),
);
const modules = [...sources].map(([path, text]) => readModule(path, text));

/** The failures after a line is added to a file of src, or after a file with this line is added. */
function failuresWith(path: string, line: string): string[] {
  const changed = readModule(path, `${sources.get(path) ?? ''}\n${line}\n`);
  return layerFailures([...modules.filter((module) => module.path !== path), changed]);
}

test('the source as it is keeps its layers', () => {
  expect(layerFailures(modules)).toEqual([]);
});

// Files that do not exist, so that no rename in src concerns these tests.
const portable = 'client/calls/added.ts';
const anywhere = 'connect/added.ts';
const features = '../../protocol/tables/features.js';

test.each([
  ['by its bare name', portable, 'export const a = process.env;', 'uses process'],
  [
    'as a member of globalThis',
    portable,
    'export const a = globalThis.process?.env;',
    'uses globalThis.process',
  ],
  [
    'by a key of globalThis',
    portable,
    "export const a = (globalThis as never)['process'];",
    'uses globalThis',
  ],
  ['behind a type', portable, 'export const a = (globalThis satisfies object)!.process;', 'uses globalThis'],
  ['by destructuring', portable, 'export const { process: a } = globalThis;', 'uses globalThis.process'],
  ['as setImmediate', portable, 'setImmediate(() => undefined);', 'uses setImmediate'],
  ['as require', portable, "export const a = require('node:fs');", 'uses require'],
  ['as a built-in', portable, "export { sep } from 'node:path';", 'imports node:path'],
  [
    'through a neighbour that needs Node',
    'connect/targets/target.ts',
    "export { spawnWire } from '../../transports/stdio/client/spawn.js';",
    'which needs Node',
  ],
])('Node in a portable file is found %s', (_how, path, line, failure) => {
  expect(failuresWith(path, line)).toContainEqual(expect.stringContaining(failure));
});

test.each([
  ['by index', 'export const a = (revisions: string[], r: string) => revisions.indexOf(r) < 2;'],
  ['by localeCompare', "export const a = (revision: string) => revision.localeCompare('x') < 0;"],
  ['by an operator', 'export const a = (version: string, other: string) => version < other;'],
])('revisions that are ordered %s are found', (_how, line) => {
  expect(failuresWith(anywhere, line)).toContainEqual(expect.stringContaining('orders revisions'));
});

test.each([
  ['in an array', "export const a = (r: string) => ['2025-11-25'].includes(r);", 'names one revision'],
  ['in a template', 'export const a = (r: string) => r === `2025-11-25`;', 'names one revision'],
  ['by its constant', 'export const a = (r: string) => r === newestRevision;', 'asks for one revision'],
  ['in a case', 'switch (a) { case newestRevision: }', 'asks for one revision'],
])('a test for one revision is found %s', (_how, line, failure) => {
  expect(failuresWith(anywhere, line)).toContainEqual(expect.stringContaining(failure));
});

test.each([
  ['under another name', 'server/handle/listen.ts', `import { has as q } from '${features}';`],
  ['in a namespace', portable, `import * as q from '${features}';`],
  ['by a dynamic import', portable, `export const q = await import('${features}');`],
  ['by exporting all', portable, `export * from '${features}';`],
])('a role that asks for the era is found %s', (_how, path, line) => {
  expect(failuresWith(path, line)).toContainEqual(expect.stringContaining('asks for the era'));
});

test.each([
  ['the server of a transport to its client', 'transports/http/server/endpoint.ts', '../client/target.js'],
  ['the client of a transport to its server', 'transports/http/client/target.ts', '../server/incoming.js'],
  ['the WebSocket of the client to that of the server', 'transports/websocket/connect.ts', './accept.js'],
])('an import from %s is found', (_who, path, to) => {
  expect(failuresWith(path, `export type { A } from '${to}';`)).toContainEqual(
    expect.stringContaining('never import files of the'),
  );
});

test.each([
  [
    'a layer that it may not',
    'extensions/tasks/task.ts',
    '../../client/model/client.js',
    'extensions/ may import',
  ],
  ['a room above it', 'server/state/bus.ts', '../catalog/registry.js', 'In server/ the rooms are'],
  ['the folder that holds it', 'schema/check/issue.ts', '../schema.js', 'In schema/ the rooms are'],
  ['an entry that imports it', 'testing/faults/seeded.ts', '../../testing.js', 'A circle of imports'],
  ['a file that imports it', 'client/model/options.ts', './client.js', 'A circle of imports'],
  ['a file outside src', portable, '../../../test/support/until.js', 'outside src'],
])('an import of %s is found, even as a type', (_what, path, to, failure) => {
  expect(failuresWith(path, `export type { A } from '${to}';`)).toContainEqual(
    expect.stringContaining(failure),
  );
});

test('a package outside of the adapters is found', () => {
  expect(failuresWith(anywhere, "import 'fastify';")).toContainEqual(
    expect.stringContaining('imports the package fastify'),
  );
  expect(failuresWith(anywhere, "import 'fullmcp/http';")).toContainEqual(
    expect.stringContaining('import by relative path'),
  );
});

test('a folder without a row, and a room that its layer does not list, are found', () => {
  const added = ['misc/a.ts', 'client/misc/a.ts'].map((path) =>
    readModule(
      path,
      `export type { A } from '${'../'.repeat(path.split('/').length - 1)}client/model/client.js';`,
    ),
  );
  const failures = layerFailures([...modules, ...added]);
  expect(failures).toContainEqual(expect.stringContaining('misc/, which has no row'));
  expect(failures).toContainEqual(expect.stringContaining('client/misc, which is not a room of client'));
});

test('a folder with more than 18 entries is found', () => {
  const files = Array.from({ length: 19 }, (_, index) => `src/async/a${index}.ts`);
  expect(widthNotes(files.slice(1))).toEqual([]);
  expect(widthNotes(files)).toEqual([expect.stringContaining('src/async has 19 entries')]);
});

test('a table of layers that differs from the one on the page is found', () => {
  const page = readFileSync(fileURLToPath(new URL('../../../docs/architecture.md', import.meta.url)), 'utf8');
  expect(withTable(page)).toBe(page);
  expect(withTable(page.replace('| `jsonrpc` |', '| `json-rpc` |'))).toBe(page);
  expect(withTable('no table')).toBeUndefined();
});
