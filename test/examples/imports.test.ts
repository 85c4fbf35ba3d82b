import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(`${root}docs/imports.md`, 'utf8');
const { exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { exports: object };
const entries = Object.keys(exports).filter((entry) => !entry.endsWith('.json'));

test('the page of imports names every entry point', () => {
  const missing = entries
    .map((entry) => `fullmcp${entry.slice(1)}`)
    .filter((name) => !page.includes(`'${name}'`));
  expect(missing).toEqual([]);
});

test('the page of imports names only exports that their entry points have', async () => {
  const found = [...page.matchAll(/\{ ([^}]+) \} from '(fullmcp[^']*)'/g)];
  expect(found.length).toBeGreaterThan(entries.length - 2);
  for (const [, names = '', from = ''] of found) {
    const module = (await import(from)) as object;
    for (const name of names.split(', ').filter((one) => one !== '…'))
      expect(Object.keys(module), from).toContain(name);
  }
});
