// The files of a project that belong in a bundle.

import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { usageError } from '../../../command/failures.js';
import type { ZippedFile } from './zip.js';

const MAX_FILES = 60_000;
const MAX_BYTES = 1_000_000_000;
const IGNORE_FILE = '.mcpbignore';
/** Secrets, caches and the files of tools, which no user of the server needs. Hidden files are never in a bundle. */
const IGNORED = [
  '*.mcpb',
  '*.log',
  '*.tsbuildinfo',
  '*.map',
  'package-lock.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'Thumbs.db',
];

/** Reads the files of a folder, sorted by their paths. `except` is the bundle itself. */
export function bundleFiles(folder: string, except: string): readonly ZippedFile[] {
  const root = realpathSync(folder);
  const isIgnored = ignoring([...IGNORED, ...ownPatterns(folder)]);
  const files: ZippedFile[] = [];
  let bytes = 0;

  function walk(path: string, inside: string, above: ReadonlySet<string>): void {
    const real = realpathSync(path);
    if (real !== root && !real.startsWith(root + sep))
      throw usageError(
        `${inside} is a link that leads out of the folder. A bundle cannot have it: copy the files.`,
      );
    // A link to a folder above would have no end.
    if (above.has(real)) return;
    for (const name of readdirSync(path).sort()) {
      const own = inside === '' ? name : `${inside}/${name}`;
      if (name.startsWith('.') || isIgnored(own, name)) continue;
      const file = join(path, name);
      const stats = statSync(file);
      if (stats.isDirectory()) walk(file, own, new Set([...above, real]));
      else if (stats.isFile() && resolve(file) !== resolve(except)) add(file, own, stats.mode);
    }
  }

  function add(file: string, path: string, mode: number): void {
    const real = realpathSync(file);
    if (!real.startsWith(root + sep))
      throw usageError(
        `${path} is a link that leads out of the folder. A bundle cannot have it: copy the file.`,
      );
    const content = readFileSync(file);
    bytes += content.length;
    if (files.length >= MAX_FILES || bytes > MAX_BYTES)
      throw usageError(
        `The folder has more than ${MAX_FILES} files or 1 GB. Leave files out with ${IGNORE_FILE}, one pattern per line.`,
      );
    files.push({ path, bytes: content, isExecutable: (mode & 0o111) !== 0 });
  }

  walk(folder, '', new Set());
  return files.sort((one, other) => (one.path < other.path ? -1 : 1));
}

function ownPatterns(folder: string): readonly string[] {
  try {
    return readFileSync(join(folder, IGNORE_FILE), 'utf8')
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'));
  } catch {
    return [];
  }
}

/** A pattern is a name or a path; `*` stands for any characters of one name. */
function ignoring(patterns: readonly string[]): (path: string, name: string) => boolean {
  const all = patterns.map((pattern) => pattern.replace(/^\//, '').replace(/\/(?:\*\*?)?$/, ''));
  return (path, name) => all.some((pattern) => matches(pattern.includes('/') ? path : name, pattern));
}

function matches(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return (
    text.length - last.length >= at &&
    text.endsWith(last) &&
    !text
      .slice(first.length)
      .slice(0, -last.length || undefined)
      .includes('/')
  );
}
