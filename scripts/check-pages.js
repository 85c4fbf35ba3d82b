// Checks docs/pages.js: each page is listed once, each has the words that people use for it, and no table of a page has a column without a
// name, which is silent for people who listen to it.
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { home, repositoryPages, sections } from '../docs/pages.js';
import { conclude, filesUnder, root } from './files.js';

/** Folders whose pages are generated, and found by themselves. */
const GENERATED = ['docs/reference/', 'docs/cli/'];

process.chdir(root);
const written = filesUnder('docs').filter((file) => file.endsWith('.md'));
const listed = [home, ...sections.flatMap(({ groups }) => groups.flatMap(({ pages }) => pages))];
const worded = [...listed, ...repositoryPages.filter(({ asks }) => asks !== undefined)];
const failures = [...listProblems(), ...worded.flatMap(wordProblems), ...written.flatMap(tableProblems)];
conclude(failures, `${listed.length} pages are listed once, with the words that people use for them`);

function listProblems() {
  const count = new Map(
    written.filter((file) => !GENERATED.some((folder) => file.startsWith(folder))).map((file) => [file, 0]),
  );
  const problems = [];
  for (const { file } of listed) {
    const path = posix.join('docs', file);
    const times = count.get(path);
    if (times === undefined)
      problems.push(
        `docs/pages.js lists ${file}, but there is no page ${path}. Remove the line, or write the page.`,
      );
    else count.set(path, times + 1);
  }
  for (const [file, times] of count) {
    if (times === 0)
      problems.push(`${file} is not in docs/pages.js, so nobody finds it. Add it to a group of a section.`);
    if (times > 1) problems.push(`${file} is in docs/pages.js ${times} times. Keep one of the lines.`);
  }
  return problems;
}

/** @param {import('../docs/pages.js').Page} page */
function wordProblems({ file, asks = '' }) {
  const words = asks.split(' ').filter((word) => word !== '');
  if (words.length < 4 || words.length > 18)
    return [
      `docs/pages.js has ${words.length} words in \`asks\` of ${file}. Write 4 to 18 that people use who do not know ours.`,
    ];
  return [];
}

/** @param {string} file */
function tableProblems(file) {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line, at) => {
    if (!line.startsWith('|') || !/^\|[-:| ]+\|$/.test(lines[at + 1] ?? '')) return [];
    const cells = line.slice(1, -1).split(/(?<!\\)\|/);
    // The corner above the names of rows may be empty.
    const unnamed = cells.slice(1).some((cell) => cell.trim() === '');
    return unnamed
      ? [`${file}:${at + 1} has a column without a name. Write one in the head of the table.`]
      : [];
  });
}
