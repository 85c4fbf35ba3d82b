import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

// The recipes, their pages and their tests belong together.

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const files = readdirSync(new URL('examples/recipes', root));
const index = read('docs/recipes.md');
const tests = readdirSync(new URL('.', import.meta.url)).map((name) => read(`test/examples/recipes/${name}`));

it('there are 25 recipes, each with a page', () => {
  const names = files.map((file) => file.replace(/\.\w+$/, '')).sort();
  expect(names).toHaveLength(25);
  const pages = readdirSync(new URL('docs/recipes', root)).map((file) => file.replace('.md', ''));
  expect(pages.sort()).toEqual(names);
});

it.each(files)('%s has at most 40 lines, is shown whole on its page, is listed and is tested', (file) => {
  const name = file.replace(/\.\w+$/, '');
  expect(read(`examples/recipes/${file}`).trimEnd().split('\n').length).toBeLessThanOrEqual(40);
  expect(read(`docs/recipes/${name}.md`)).toContain(`<!-- snippet: examples/recipes/${file} -->`);
  expect(index).toContain(`](recipes/${name}.md)`);
  const built = new RegExp(`recipes/${name}\\.|start\\('${name}'`);
  expect(tests.some((text) => built.test(text))).toBe(true);
});
