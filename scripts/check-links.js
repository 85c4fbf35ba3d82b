// Checks that every link of README and the pages leads to a file, and to a heading if it names one. Web addresses are not fetched.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { conclude, filesUnder, root } from './files.js';
import { slugger } from './markdown.js';

process.chdir(root);
const pages = [...filesUnder('docs'), ...readdirSync('.')].filter((file) => file.endsWith('.md'));
/** @type {Map<string, Set<string>>} */
const anchors = new Map();
/** @type {string[]} */
const failures = [];
let count = 0;

for (const page of pages) {
  for (const { target, line } of linksOf(readFileSync(page, 'utf8'))) {
    if (/^[a-z]+:/.test(target)) continue;
    count++;
    const problem = problemOf(page, target);
    if (problem !== undefined) failures.push(`${page}:${line} links to ${target}, ${problem}`);
  }
}
conclude(failures, `${count} links on ${pages.length} pages have a target`);

/** @param {string} page @param {string} target @returns {string | undefined} */
function problemOf(page, target) {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : posix.normalize(posix.join(posix.dirname(page), path));
  if (!existsSync(file)) return 'which does not exist. Correct it.';
  if (anchor !== undefined && !anchorsOf(file).has(anchor))
    return 'but there is no such heading. Correct it.';
  return undefined;
}

/** @param {string} file */
function anchorsOf(file) {
  const cached = anchors.get(file);
  if (cached !== undefined) return cached;
  const slug = slugger();
  const headings = withoutCode(readFileSync(file, 'utf8'))
    .split('\n')
    .flatMap((line) => /^#{1,6} (.+)$/.exec(line)?.[1] ?? []);
  const slugs = new Set(headings.map(slug));
  anchors.set(file, slugs);
  return slugs;
}

/** @param {string} text */
function linksOf(text) {
  return withoutCode(text)
    .split('\n')
    .flatMap((line, i) =>
      [...line.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({ target, line: i + 1 })),
    );
}

/** The page with its code blocks replaced by empty lines. @param {string} text */
function withoutCode(text) {
  let inside = false;
  return text
    .split('\n')
    .map((line) => {
      const fence = /^\s*```/.test(line);
      if (fence) inside = !inside;
      return fence || inside ? '' : line;
    })
    .join('\n');
}
