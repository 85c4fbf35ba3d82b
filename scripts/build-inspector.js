// Builds the page of the inspector: bundles it with Vite, puts its first styles into the page itself so that it paints with one round
// trip, and compresses every file. Only the compressed form is in the package: the process unpacks it for browsers that do not take it.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'vite';
import { filesUnder } from './files.js';

const BUILT = 'build/inspector';

/** Builds build/inspector, and of it the folder that is shipped. @param {string} shipped */
export async function buildInspector(shipped) {
  // Inside of a test run it would be the page for development, a tenth larger.
  process.env['NODE_ENV'] = 'production';
  await build({ configFile: 'inspector/vite.config.ts' });
  const { page, styleHash, inlined } = withOwnStyles(readFileSync(`${BUILT}/index.html`, 'utf8'));
  const files = filesUnder(BUILT)
    .map((file) => file.slice(BUILT.length + 1))
    .filter((file) => file !== inlined);
  for (const file of files)
    ship(`${shipped}/${file}`, file === 'index.html' ? Buffer.from(page) : readFileSync(`${BUILT}/${file}`));
  writeFileSync(`${shipped}/page.json`, `${JSON.stringify({ styleHash, files })}\n`);
}

/**
 * The page with the styles of its frame inside, and the hash that a policy must allow.
 * @param {string} page
 */
function withOwnStyles(page) {
  const link = /<link rel="stylesheet"[^>]*href="\.\/([^"]+)">/.exec(page);
  if (link?.[1] === undefined) throw new Error('The page of the inspector has no stylesheet.');
  const styles = readFileSync(`${BUILT}/${link[1]}`, 'utf8').trim();
  const styleHash = `sha256-${createHash('sha256').update(styles).digest('base64')}`;
  return { page: page.replace(link[0], () => `<style>${styles}</style>`), styleHash, inlined: link[1] };
}

/** @param {string} file @param {Buffer} content */
function ship(file, content) {
  mkdirSync(dirname(file), { recursive: true });
  const best = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  writeFileSync(`${file}.br`, brotliCompressSync(content, best));
}
