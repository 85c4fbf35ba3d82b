// Checks the skill of the package: its form, its size, its version, the imports that it names, and that none of the sections it was written
// from has changed since. --write records the sections as they are now: read what changed, and correct the skill first.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { conclude, readManifest, root } from './files.js';
import { slugger } from './markdown.js';
import { withoutComments } from './package-docs.js';

const SKILL = 'skills/fullmcp/SKILL.md';
const RECORD = 'scripts/skill-sources.json';
const MAX_BYTES = 5000;

process.chdir(root);
const text = readFileSync(SKILL, 'utf8');
const { name, version, exports } = readManifest(root);
/** @type {string[]} */
const failures = [];
const sources = (field('sources') ?? '').split(' ').filter((source) => source !== '');
const now = Object.fromEntries(sources.map((source) => [source, digestOf(source)]));

if (process.argv.includes('--write')) writeFileSync(RECORD, `${JSON.stringify(now, undefined, 2)}\n`);
checkForm();
checkImports();
checkSources();
conclude(
  failures,
  `the skill has ${Buffer.byteLength(text)} bytes and was read again after ${sources.length} sections`,
);

/** A line of the front matter. @param {string} key */
function field(key) {
  return new RegExp(`^ *${key}: "?([^"\\n]*)"?$`, 'm').exec(text.split('\n---\n')[0] ?? '')?.[1];
}

function checkForm() {
  const size = Buffer.byteLength(text);
  if (size > MAX_BYTES)
    failures.push(`${SKILL} has ${size} bytes; at most ${MAX_BYTES} are allowed. Shorten it.`);
  if (field('name') !== name) failures.push(`${SKILL}: the name must be ${name}, that of its folder.`);
  if ((field('description') ?? '').length > 1024 || !field('description'))
    failures.push(`${SKILL}: the description must have 1 to 1024 characters.`);
  if (field('version') !== version)
    failures.push(
      `${SKILL} is of version ${field('version')}, and package.json of ${version}. Read it again, and change the number.`,
    );
}

/** Every entry that the skill names must exist. */
function checkImports() {
  const entries = Object.keys(exports).map((entry) => entry.slice(1));
  for (const [, path = ''] of text.matchAll(/`(?:fullmcp)?(\/[a-z-]+)`/g))
    if (!entries.includes(path))
      failures.push(`${SKILL} names fullmcp${path}, which package.json does not export.`);
}

function checkSources() {
  const record = existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, 'utf8')) : {};
  for (const source of new Set([...sources, ...Object.keys(record)])) {
    if (now[source] === record[source]) continue;
    failures.push(
      now[source] === undefined
        ? `${SKILL} was written from ${source}, which is not there any more. Name its new place in the front matter.`
        : `${source} has changed after ${SKILL} was written. Correct the skill if it must be, then run: node scripts/check-skill.js --write`,
    );
  }
}

/** The digest of a page, or of one of its sections with those below it; undefined if it does not exist. @param {string} source */
function digestOf(source) {
  const [file = '', anchor] = source.split('#');
  if (!existsSync(file)) return undefined;
  // A page that was split changes links, and says nothing new.
  const page = withoutComments(readFileSync(file, 'utf8')).replace(/\]\([^)\s]*\)/g, ']');
  const part = anchor === undefined ? page : sectionOf(page, anchor);
  return part && createHash('sha256').update(part).digest('hex').slice(0, 16);
}

/** @param {string} page @param {string} anchor @returns {string | undefined} */
function sectionOf(page, anchor) {
  const slug = slugger();
  let level = 0;
  let isCode = false;
  /** @type {string[]} */
  const lines = [];
  for (const line of page.split('\n')) {
    if (/^\s*```/.test(line)) isCode = !isCode;
    const [, marks = '', heading = ''] = (!isCode && /^(#{1,6}) (.+)$/.exec(line)) || [];
    if (level > 0 && marks !== '' && marks.length <= level) break;
    if (marks !== '' && level === 0 && slug(heading) === anchor) level = marks.length;
    if (level > 0) lines.push(line);
  }
  return level === 0 ? undefined : lines.join('\n');
}
