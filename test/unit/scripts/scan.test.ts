import { expect, test } from 'vitest';

interface Token {
  readonly text: string;
  readonly line: number;
}

const script = new URL('../../../scripts/scan.js', import.meta.url).href;
const {
  globalsOf,
  tokenize,
}: {
  globalsOf(tokens: readonly Token[], ...names: string[]): readonly Token[];
  tokenize(source: string): readonly Token[];
} = await import(script);

/** The lines that use the global `process`. */
function linesOf(...lines: readonly string[]): readonly number[] {
  return globalsOf(tokenize(lines.join('\n')), 'process').map(({ line }) => line);
}

test('a global is found by its bare name, and not as a member or a key', () => {
  expect(
    linesOf('const one = process.env;', 'const two = globalThis.process;', 'const three = { process: 1 };'),
  ).toEqual([1]);
});

test('a global that a block takes from globalThis is found only outside of that block', () => {
  expect(
    linesOf(
      'function safe() {',
      '  const { process } = globalThis;',
      '  if (process !== undefined) {',
      '    report(process.pid);',
      '  }',
      '  return () => process?.env;',
      '}',
      'function other() { return process.env; }',
    ),
  ).toEqual([8]);
});
