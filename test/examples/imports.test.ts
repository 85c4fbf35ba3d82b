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

test('the page of imports names no entry point that the package does not have', () => {
  const named = [...page.matchAll(/['`](fullmcp\/[\w.-]+)['`]/g)].map(([, name = '']) => name);
  expect(named).toContain('fullmcp/config.schema.json');
  for (const name of named) expect(exports, name).toHaveProperty([name.replace('fullmcp', '.')]);
});

// Loads the whole library, which takes long on a busy machine.
test('the page of imports names only exports that their entry points have', {
  timeout: 120_000,
}, async () => {
  const found = [...page.matchAll(/\{ ([^}]+) \} from '(fullmcp[^']*)'/g)];
  expect(found.length).toBeGreaterThan(entries.length - 2);
  for (const [, names = '', from = ''] of found) {
    const module = (await import(from)) as object;
    for (const name of names.split(', ').filter((one) => one !== '…'))
      expect(Object.keys(module), from).toContain(name);
  }
});
