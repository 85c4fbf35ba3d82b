// Reads CHANGELOG.md: releases, the newest first, each with its groups. Run as a program, it checks that form, and `--notes <version>`
// prints one release, which the page of a release shows.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { conclude, isProgram, readManifest, root } from './files.js';

/**
 * `name` is a version, or `Unreleased`, which has no date. `groups` are the headings below it, in their order.
 * @typedef {{ name: string, date: string | undefined, line: number, text: string, groups: string[] }} Release
 */

/** The groups of a release, in the order in which a reader needs them. */
const GROUPS = ['Breaking', 'New', 'Changed', 'Mended'];
const HEADING = /^## (?:(Unreleased)|(\d+\.\d+\.\d+(?:-rc\.\d+)?) \((\d{4}-\d{2}-\d{2})\))$/;

if (isProgram(import.meta.url)) {
  const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const { version } = readManifest(root);
  const [option, wanted] = process.argv.slice(2);
  if (option === '--notes') printNotes(text, wanted ?? version);
  else conclude(changelogProblems(text, version), `${readChangelog(text).length} releases are in order`);
}

/** @param {string} text @returns {Release[]} */
export function readChangelog(text) {
  /** @type {Release[]} */
  const releases = [];
  for (const [index, line] of text.split('\n').entries()) {
    const last = releases.at(-1);
    if (line.startsWith('## ')) {
      const [, unreleased, version, date] = HEADING.exec(line) ?? [];
      releases.push({ name: unreleased ?? version ?? line, date, line: index + 1, text: '', groups: [] });
    } else if (last !== undefined) {
      last.text += `${line}\n`;
      if (line.startsWith('### ')) last.groups.push(line.slice(4));
    }
  }
  return releases.map((release) => ({ ...release, text: release.text.trim() }));
}

/** The mistakes of a changelog whose package has a version. @param {string} text @param {string} version */
export function changelogProblems(text, version) {
  const releases = readChangelog(text);
  const problems = releases.flatMap(problemsOf);
  const dated = releases.filter(({ date }) => date !== undefined);
  for (const [index, { name, line, date = '' }] of dated.entries()) {
    const older = dated[index + 1];
    if (older === undefined) continue;
    if (date < (older.date ?? '') || compareVersions(name, older.name) <= 0)
      problems.push(`CHANGELOG.md:${line} ${name} stands above ${older.name}, which is not older.`);
  }
  problems.push(...repeatedLines(text));
  if (releases.slice(1).some(({ name }) => name === 'Unreleased'))
    problems.push('CHANGELOG.md has "Unreleased" below a release. Move its lines to the top.');
  if (dated[0]?.name !== version)
    problems.push(
      `CHANGELOG.md has no release ${version}, which package.json has. Add its heading and date.`,
    );
  return problems;
}

/**
 * Merging both sides of a conflict, as changelogs are often merged, leaves old lines behind.
 * @param {string} text
 */
function repeatedLines(text) {
  const lines = text.split('\n');
  return lines.flatMap((line, index) =>
    line.startsWith('- ') && lines.indexOf(line) < index
      ? [`CHANGELOG.md:${index + 1} repeats an earlier line: ${line}`]
      : [],
  );
}

/** @param {Release} release @returns {string[]} */
function problemsOf({ name, line, text, groups }) {
  const at = `CHANGELOG.md:${line}`;
  if (name.startsWith('## '))
    return [`${at} "${name}" is not a release. Write "## 1.2.3 (2026-01-31)", or "## Unreleased".`];
  const problems = [];
  if (text === '' && name !== 'Unreleased') problems.push(`${at} ${name} says nothing.`);
  const [opening = ''] = text.split(/^### /m);
  if (name !== '0.1.0' && name !== 'Unreleased' && /^ *[-|]/m.test(opening))
    problems.push(`${at} ${name} has lines above its groups. Move each to the group that it belongs to.`);
  const known = GROUPS.filter((group) => groups.includes(group));
  if (name !== '0.1.0' && known.join() !== groups.join())
    problems.push(
      `${at} ${name} has the groups ${groups.join(', ')}. Write those of ${GROUPS.join(', ')} that it needs, in this order, once.`,
    );
  return problems;
}

/**
 * Like the order of semantic versioning: a release candidate comes before its release.
 * @param {string} a @param {string} b
 */
function compareVersions(a, b) {
  const [first, second] = [a, b].map((version) => {
    const [numbers = '', candidate] = version.split('-rc.');
    return [...numbers.split('.').map(Number), candidate === undefined ? Infinity : Number(candidate)];
  });
  const index = (first ?? []).findIndex((part, i) => part !== second?.[i]);
  return index < 0 ? 0 : Number(first?.[index]) - Number(second?.[index]);
}

/** @param {string} text @param {string} version */
function printNotes(text, version) {
  const release = readChangelog(text).find(({ name }) => name === version);
  if (release === undefined) conclude([`CHANGELOG.md has no release ${version}.`], '');
  else console.log(release.text);
}
