import { existsSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createVitest, type Vitest } from 'vitest/node';
import { foldersFor } from '../interop/install.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { scripts } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

describe('the peers that are installed', () => {
  let vitest: Vitest;
  let files: { readonly project: string; readonly path: string }[];
  beforeAll(async () => {
    vitest = await createVitest('test', { root, watch: false, reporters: [] });
    files = (await vitest.globTestSpecifications()).map(({ project, moduleId }) => ({
      project: project.name,
      path: moduleId,
    }));
  });
  afterAll(() => vitest.close());

  /** The tests of a command of package.json. */
  const filesOf = (command: string): string[] => {
    const projects = [...(scripts[command] ?? '').matchAll(/--project=(\w+)/g)].map(([, name]) => name);
    return files.filter(({ project }) => projects.includes(project)).map(({ path }) => path);
  };

  it.each([
    ['test', []],
    ['engines', ['test/interop']],
    ['peers', ['test/interop', 'examples/migration', 'test/conformance']],
    ['long', []],
    ['inspector', ['test/interop']],
    ['browser', ['test/interop', 'test/conformance']],
    ['runtimes', ['test/runtimes']],
    ['hosts', ['test/hosts']],
    ['oldest', ['test/oldest-node']],
    ['types', []],
  ])('by npm run %s are in %j', (command, folders) => {
    const tests = filesOf(command);
    expect(tests).not.toEqual([]);
    expect(foldersOf(tests)).toEqual(folders);
  });

  it('are those of test/interop for every test that imports one of its modules', () => {
    const missing = files.filter(({ path }) => {
      const needsThem = [...reached(path)].some((module) =>
        module.startsWith(resolve(root, 'test/interop/support')),
      );
      return needsThem && !foldersOf([path]).includes('test/interop');
    });
    expect(missing).toEqual([]);
  });

  it('are installed for one project only, because every test is in exactly one', () => {
    const paths = files.map(({ path }) => path);
    expect(paths).toHaveLength(new Set(paths).size);
  });
});

function foldersOf(tests: readonly string[]): string[] {
  return foldersFor(tests).map((folder) => relative(root, folder));
}

/** The module and all modules of the tests that it imports, directly or not. */
function reached(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path) || path.startsWith(resolve(root, 'src/'))) return seen;
  seen.add(path);
  for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(/(?:from|import) '(\.[^']+)'/g)) {
    const target = resolve(dirname(path), name);
    const source = [target.replace(/\.js$/, '.ts'), target].find((each) => existsSync(each));
    if (source !== undefined) reached(source, seen);
  }
  return seen;
}
