// Builds the page of the inspector: bundles it with Vite, puts its first styles into the page itself so that it paints with one round
// trip, and compresses every file. Only the compressed form is in the package: the process unpacks it for browsers that do not take it.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, posix } from 'node:path';
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
  const built = filesUnder(BUILT).map((file) => file.slice(BUILT.length + 1));
  const scripts = built
    .filter((file) => file.endsWith('.js'))
    .map((file) => readFileSync(`${BUILT}/${file}`, 'utf8'));
  // A part of the page that is loaded later may ask for styles that the page has inside.
  const files = built.filter(
    (file) => !inlined.includes(file) || scripts.some((script) => script.includes(basename(file))),
  );
  for (const file of files)
    ship(`${shipped}/${file}`, file === 'index.html' ? Buffer.from(page) : readFileSync(`${BUILT}/${file}`));
  copyFileSync('inspector/style/inter/LICENSE.txt', `${shipped}/inter-license.txt`);
  writeFileSync(`${shipped}/page.json`, `${JSON.stringify({ styleHash, files })}\n`);
}

/**
 * The page with the styles of its frame inside, and the hash that a policy must allow.
 * @param {string} page
 */
function withOwnStyles(page) {
  const links = [...page.matchAll(/ *<link rel="stylesheet"[^>]*href="\.\/([^"]+)">\n?/g)];
  const inlined = links.map(([, file = '']) => file);
  if (inlined.length === 0) throw new Error('The page of the inspector has no stylesheet.');
  // Addresses in styles are relative to their file, which is in a folder, while the page is not.
  const stylesOf = (/** @type {string} */ file) =>
    readFileSync(`${BUILT}/${file}`, 'utf8')
      .trim()
      .replaceAll('url(./', `url(./${posix.dirname(file)}/`);
  const styles = inlined.map(stylesOf).join('\n');
  const styleHash = `sha256-${createHash('sha256').update(styles).digest('base64')}`;
  const bare = links.reduce((rest, [link]) => rest.replace(link, ''), page);
  return { page: bare.replace('</head>', () => `<style>${styles}</style></head>`), styleHash, inlined };
}

/** @param {string} file @param {Buffer} content */
function ship(file, content) {
  mkdirSync(dirname(file), { recursive: true });
  const best = {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  };
  writeFileSync(`${file}.br`, brotliCompressSync(content, best));
}
