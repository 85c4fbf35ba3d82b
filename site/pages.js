// The pages of the site: those of docs/pages.js, the generated ones of the reference and of commands, and those of the repository itself.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { home, repositoryPages, sections } from '../docs/pages.js';
import { filesUnder, root } from '../scripts/files.js';

process.chdir(root);

/** @typedef {{ text: string, link: string }} Item */
/** @typedef {{ name: string, about: string, link: string, groups: { text: string, items: Item[] }[], paths: string[] }} Bar */

/** Files of the repository, as paths from its root, and the paths of their pages. @type {ReadonlyMap<string, string>} */
export const pageOf = new Map([
  ...filesUnder('docs')
    .filter((file) => file.endsWith('.md'))
    .map((file) => /** @type {const} */ ([file, posix.relative('docs', file)])),
  ...repositoryPages
    .map(({ file }) => posix.join('docs', file))
    .filter((file) => existsSync(file))
    .map((file) => /** @type {const} */ ([file, file.toLowerCase()])),
]);
const twice = [...pageOf.values()].filter((page, at, all) => all.indexOf(page) !== at);
if (twice.length > 0) throw new Error(`Two files would be the page ${twice[0]} of the site. Rename one.`);

/** The sections, with the pages of each in the order of its bar at the side. @type {readonly Bar[]} */
export const bars = sections.map((section) => {
  const groups = [...section.groups.flatMap(groupsOf), ...generatedGroups(section.name)].filter(
    ({ items }) => items.length > 0,
  );
  const links = groups.flatMap(({ items }) => items.map(({ link }) => link));
  return { name: section.name, about: section.about, link: links[0] ?? '/', groups, paths: links };
});

/** The words that people use for each page, by the page's address. @type {Readonly<Record<string, string>>} */
export const asks = Object.fromEntries(
  [
    home,
    ...sections.flatMap(({ groups }) => groups.flatMap(({ pages }) => pages)),
    ...repositoryPages,
  ].flatMap(({ file, asks: words }) => {
    const page = pageOf.get(posix.join('docs', file));
    return words === undefined || page === undefined ? [] : [[addressOf(page), words]];
  }),
);

/** A page as the search knows it: `/http.html`, and `/` for the home. @param {string} page */
export function addressOf(page) {
  return `/${page.replace(/\.md$/, '.html').replace(/(^|\/)index\.html$/, '$1')}`;
}

/** The pages of the first day, and below them those for a server that runs in production. @param {import('../docs/pages.js').Section['groups'][number]} group */
function groupsOf({ name, pages }) {
  const later = pages.filter(({ day }) => day === 'later');
  const first = pages.filter(({ day }) => day !== 'later');
  if (first.length === 0 || later.length === 0) return [groupOf({ name, pages })];
  return [groupOf({ name, pages: first }), groupOf({ name: `${name}: in production`, pages: later })];
}

/** @param {{ name: string, pages: readonly { file: string, name: string }[] }} group */
function groupOf({ name, pages }) {
  return { text: name, items: pages.flatMap((page) => itemOf(posix.join('docs', page.file), page.name)) };
}

/** A line of a bar, unless the file is not there. @param {string} file @param {string} text @returns {Item[]} */
function itemOf(file, text) {
  const page = pageOf.get(file);
  return page === undefined ? [] : [{ text, link: `/${page.replace(/\.md$/, '')}` }];
}

/** @param {string} section */
function generatedGroups(section) {
  if (section === 'Reference') return referenceGroups();
  if (section === 'Command') return commandGroups();
  if (section === 'Project') return [groupOf({ name: 'Repository', pages: repositoryPages })];
  return [];
}

/** The entries in the order of the index of the reference; the parts of a large one follow it. */
function referenceGroups() {
  const index = readFileSync('docs/reference/index.md', 'utf8');
  const entries = [...index.matchAll(/^\| \[`([^`]+)`\]\(([^)]+)\.md\)/gm)].map(
    ([, name = '', file = '']) => ({ name, file }),
  );
  const parts = readdirSync('docs/reference').map((file) => file.replace(/\.md$/, ''));
  const items = entries.flatMap(({ name, file }) => [
    ...itemOf(`docs/reference/${file}.md`, name),
    ...parts
      .filter((part) => part.startsWith(`${file}-`) && !entries.some((entry) => entry.file === part))
      .flatMap((part) => itemOf(`docs/reference/${part}.md`, `${name}: ${part.slice(file.length + 1)}`)),
  ]);
  return [
    { text: 'Reference', items: itemOf('docs/reference/index.md', 'All entry points') },
    { text: 'Entry points', items },
  ];
}

/** The commands by the headings of docs/cli.md. */
function commandGroups() {
  const page = readFileSync('docs/cli.md', 'utf8');
  const table = page.slice(page.indexOf('<!-- commands -->'), page.indexOf('<!-- /commands -->'));
  return table
    .split(/^### /m)
    .slice(1)
    .map((group) => ({
      text: group.split('\n')[0] ?? '',
      items: [...group.matchAll(/^\| \[`([^`]+)`\]\(([^)]+)\)/gm)].flatMap(([, name = '', file = '']) =>
        itemOf(`docs/${file}`, name),
      ),
    }));
}
