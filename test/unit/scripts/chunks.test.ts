import { expect, test } from 'vitest';

interface ChunkFacts {
  readonly fileName: string;
  readonly name: string;
  readonly code: string;
  readonly imports: readonly string[];
  readonly dynamicImports: readonly string[];
  readonly moduleIds: readonly string[];
  readonly isEntry: boolean;
  readonly isDynamicEntry: boolean;
}

const script = new URL('../../../scripts/chunks.js', import.meta.url).href;
const { groupsOf }: { groupsOf(chunks: readonly ChunkFacts[]): { name: string; moduleIds: Set<string> }[] } =
  await import(script);

function chunk(
  fileName: string,
  imports: readonly string[] = [],
  more: Partial<ChunkFacts> = {},
): ChunkFacts {
  const name = fileName.replace(/\.js$/, '');
  return {
    fileName,
    name,
    code: 'x'.repeat(500),
    imports,
    dynamicImports: [],
    moduleIds: [name],
    isEntry: ['index', 'http', 'client', 'client-web', 'stdio'].includes(name),
    isDynamicEntry: false,
    ...more,
  };
}

const grouped = (chunks: readonly ChunkFacts[]): string[] =>
  groupsOf(chunks)
    .map(({ moduleIds }) => [...moduleIds].sort().join('+'))
    .sort();

test('modules that every server loads become one file', () => {
  expect(
    grouped([chunk('index.js', ['a.js', 'b.js', 'c.js']), chunk('a.js'), chunk('b.js'), chunk('c.js')]),
  ).toEqual(['a+b+c']);
});

test('the client for browsers loads no module that only servers need', () => {
  const chunks = [
    chunk('index.js', ['both.js', 'server.js']),
    chunk('client-web.js', ['both.js', 'page.js']),
    ...['both.js', 'server.js', 'page.js'].map((name) => chunk(name)),
  ];
  expect(grouped(chunks)).toEqual([]);
});

test('a part of Node, imported now or later, is not loaded by programs that do not need it', () => {
  const around = [
    chunk('client.js', ['small.js', 'node-part.js']),
    chunk('extension.js', ['small.js'], { isEntry: true }),
  ];
  const small = chunk('small.js');
  expect(grouped([...around, small, chunk('node-part.js')])).toEqual(['node-part+small']);
  expect(grouped([...around, small, chunk('node-part.js', ['node:fs'])])).toEqual([]);
  expect(grouped([...around, small, chunk('node-part.js', [], { dynamicImports: ['node:fs'] })])).toEqual([]);
});

test('two files are not joined if a third one is between them', () => {
  const between = (imports: readonly string[]): ChunkFacts[] => [
    chunk('client.js', ['top.js', 'middle.js', 'bottom.js']),
    chunk('top.js', ['middle.js']),
    // A part of the command stays as it is.
    chunk('middle.js', imports, { moduleIds: ['/modules/cli/middle'] }),
    chunk('bottom.js'),
  ];
  expect(grouped(between([]))).toEqual(['bottom+top']);
  expect(grouped(between(['bottom.js']))).toEqual([]);
});

test('large files of different programs stay apart', () => {
  const large = { code: 'x'.repeat(100_000) };
  const chunks = [
    chunk('client.js', ['one.js']),
    chunk('proxy.js', ['two.js'], { isEntry: true }),
    chunk('one.js', [], large),
    chunk('two.js', [], large),
  ];
  expect(grouped(chunks)).toEqual([]);
});
