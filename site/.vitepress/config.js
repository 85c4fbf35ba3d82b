// The documentation site: the Markdown of docs and of the repository, as static files that work under any path and ask nobody for anything.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { defineConfig } from 'vitepress';
import { root } from '../../scripts/files.js';
import { docPages, listsForModels } from '../../scripts/package-docs.js';
import { isPlaceholder, project } from '../../scripts/project.js';
import { markdown } from '../markdown.js';
import { bars, pageOf } from '../pages.js';
import { search } from '../search.js';
import { accessibleSearchBox } from '../search-box.js';

const { description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const icon = readFileSync(join(root, 'inspector/style/mark.svg'), 'utf8');

export default defineConfig({
  title: 'fullmcp',
  description,
  lang: 'en',
  // Every address of the site is relative, so that it can be served below any path.
  base: './',
  srcDir: '..',
  srcExclude: readdirSync(root, { withFileTypes: true })
    .filter(({ name }) => name !== 'docs' && !pageOf.has(name))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/**` : entry.name)),
  rewrites: (file) => pageOf.get(file) ?? file,
  outDir: '../build/site',
  cacheDir: '../node_modules/.cache/site',
  metaChunk: true,
  markdown,
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }],
    ['script', {}, restoreChoices()],
  ],
  themeConfig: {
    siteTitle: 'fullmcp',
    nav: bars.map(({ name, link, paths }) => ({ text: name, link, activeMatch: `^(${paths.join('|')})$` })),
    bars: bars.map(({ name, groups }) => ({ name, groups })),
    outline: { level: [2, 3], label: 'On this page' },
    docFooter: { prev: 'Before', next: 'Next' },
    search,
    project: {
      version: project.version,
      ...lastCommit(),
      edit: isPlaceholder ? '' : `${project.repository}/edit/main/`,
    },
  },
  transformPageData(page) {
    page.frontmatter['origin'] = originOf(page.filePath);
    if (page.relativePath === 'index.md')
      Object.assign(page.frontmatter, { pageClass: 'home', aside: false });
    page.description ||= firstSentence(page.filePath);
  },
  buildEnd({ outDir }) {
    // The Markdown of a page lies beside it, for "Copy this page" and for programs.
    for (const [file, page] of pageOf) {
      mkdirSync(dirname(join(outDir, page)), { recursive: true });
      copyFileSync(join(root, file), join(outDir, page));
    }
    for (const [name, text] of Object.entries(listsForModels(docPages())))
      writeFileSync(join(outDir, name), text);
  },
  vite: {
    publicDir: false,
    build: { chunkSizeWarningLimit: 2000, reportCompressedSize: false },
    plugins: [accessibleSearchBox(), markdownBesidePages()],
  },
});

/** The choices of tabs are set before the page is drawn, so that nothing changes under the reader's eyes. */
function restoreChoices() {
  return `try{for(const k of ['language','manager']){const v=localStorage.getItem('fullmcp-'+k);document.documentElement.dataset[k]=v||{language:'ts',manager:'npm'}[k]}}catch{}`;
}

/** The commit that the site is built from, and its day; nothing outside of a repository. */
function lastCommit() {
  try {
    const line = execFileSync('git', ['log', '-1', '--format=%h %cs'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [commit, day] = line.trim().split(' ');
    return { commit, day };
  } catch {
    return {};
  }
}

/** The file to change for a page: its own, or the script that writes it. @param {string} file */
function originOf(file) {
  const [, script] =
    /^<!-- (?:Written|Generated) by (scripts\/[\w-]+\.js)/m.exec(readFileSync(join(root, file), 'utf8')) ??
    [];
  return { file, script };
}

/** The first sentence below the title, for lists of pages; empty if something else stands there. @param {string} file */
function firstSentence(file) {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  const from = lines.findIndex((line, at) => at > 0 && line !== '' && !line.startsWith('<!--'));
  const paragraph = lines.slice(from, lines.indexOf('', from)).join(' ');
  if (!/^[A-Z`[*]/.test(paragraph)) return '';
  const plain = paragraph.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');
  return /^.{10,240}?\.(?= |$)/.exec(plain)?.[0] ?? '';
}

/** While pages are written, their Markdown is served at the addresses that the built site has. @returns {import('vite').Plugin} */
function markdownBesidePages() {
  return {
    name: 'fullmcp:markdown',
    configureServer(server) {
      server.middlewares.use((req, res, next) => {
        const path = new URL(req.url ?? '/', 'http://localhost').pathname.slice(1);
        const [file] = [...pageOf].find(([, page]) => page === path) ?? [];
        if (file === undefined || !req.headers.accept?.includes('text/markdown')) return next();
        res.setHeader('content-type', 'text/markdown; charset=utf-8');
        res.end(readFileSync(join(root, file)));
      });
    },
  };
}
