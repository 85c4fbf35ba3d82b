import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The files and folders that the site is made of. */
const sources = [
  'docs',
  'examples',
  'site',
  'scripts',
  'inspector/style',
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
];

/** Builds the site before its first test, unless it is newer than everything that it is made of. */
export default function build(): void {
  const page = join(root, 'build/site/index.html');
  if (existsSync(page) && sources.every((path) => newest(join(root, path)) < statSync(page).mtimeMs)) return;
  execFileSync(process.execPath, ['site/run.js', 'build'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

function newest(path: string): number {
  if (!statSync(path).isDirectory()) return statSync(path).mtimeMs;
  return Math.max(
    0,
    ...readdirSync(path)
      .filter((name) => name !== 'node_modules')
      .map((name) => newest(join(path, name))),
  );
}
