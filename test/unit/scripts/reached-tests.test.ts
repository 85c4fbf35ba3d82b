import { describe, expect, it } from 'vitest';

interface Script {
  testsReaching(changed: string[], files: string[], read: (file: string) => string): string[];
}
const { testsReaching } = (await import(
  new URL('../../../scripts/reached-tests.js', import.meta.url).href
)) as Script;

const files: Readonly<Record<string, string>> = {
  'src/index.ts': "export { a } from './room/a.js';\nexport type { C } from './room/c.js';",
  'src/room.ts': "export { b } from './room/b.js';",
  'src/room/a.ts': "export const a = async () => (await import('./lazy.js')).lazy;",
  'src/room/b.ts': 'export const b = 1;',
  'src/room/c.ts': 'export interface C {}\nexport const c = 1;',
  'src/room/lazy.ts': 'export const lazy = 1;',
  'test/support/helper.ts': "import { b } from 'fullmcp/room';\nexport const help = b;",
  'test/a.test.ts': "import { a } from 'fullmcp';\na();",
  'test/b.test.ts': "import { help } from './support/helper.js';\nhelp;",
  'test/c.test.ts': "import type { C } from '../src/room/c.js';\nlet c: C;",
  'test/own.test.ts': "import { own } from '../examples/own.ts?1';\nown;",
  'examples/own.ts': 'export const own = 1;',
};
const reaching = (...changed: string[]): string[] =>
  testsReaching(changed, Object.keys(files), (file) => files[file] ?? '');

describe('the tests that a change reaches', () => {
  it('import it themselves, through an entry, through a helper or by import()', () => {
    expect(reaching('src/room/a.ts')).toEqual(['test/a.test.ts']);
    expect(reaching('src/room/lazy.ts')).toEqual(['test/a.test.ts']);
    expect(reaching('src/room/b.ts')).toEqual(['test/b.test.ts']);
    expect(reaching('examples/own.ts')).toEqual(['test/own.test.ts']);
  });

  it('have changed themselves, and still exist', () => {
    expect(reaching('test/c.test.ts', 'test/gone.test.ts')).toEqual(['test/c.test.ts']);
  });

  it('are none for a file of which only types are imported, and for one that nothing imports', () => {
    expect(reaching('src/room/c.ts', 'README.md')).toEqual([]);
  });
});
