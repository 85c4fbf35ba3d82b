// How the site reads Markdown: as GitHub does, with links that lead to pages of the site, and with tabs for what differs between
// JavaScript and TypeScript, and between npm and pnpm. The Markdown itself knows nothing of this.
import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { SNIPPET, slugOf } from '../scripts/markdown.js';
import { isPlaceholder, sourceUrl } from '../scripts/project.js';
import { javascriptOf } from './javascript.js';
import { bars, pageOf } from './pages.js';
import { pnpmOf } from './pnpm.js';

/** Pages about the project itself, which is built with npm. */
const OWN = new Set(bars.find(({ name }) => name === 'Project')?.paths);

/** @type {import('vitepress').MarkdownOptions} */
export const markdown = {
  theme: { light: 'github-light-high-contrast', dark: 'github-dark' },
  anchor: { slugify: slugOf },
  // Only what GitHub shows, too.
  attrs: false,
  component: false,
  container: false,
  emoji: false,
  include: false,
  linkify: false,
  snippet: false,
  toc: false,
  eagerFrontmatterInterpolation: false,
  languageAlias: { promql: 'txt' },
  config(md) {
    md.core.ruler.push('links', (state) =>
      withInline(state.tokens, (children) => leadLinks(children, state.env)),
    );
    md.core.ruler.push('heads', (state) => nameHeads(state.tokens));
    addTabs(md);
  },
};

/** @param {import('markdown-it').Token[]} tokens @param {(children: import('markdown-it').Token[]) => void} change */
function withInline(tokens, change) {
  for (const { children } of tokens) if (children !== null) change(children);
}

/**
 * Turns links to files of the repository into links to pages of the site, or to the source. Without a public address of the source, only
 * the words of a link are left.
 * @param {import('markdown-it').Token[]} tokens @param {{ relativePath?: string, realPath?: string }} env
 */
function leadLinks(tokens, { relativePath = '', realPath }) {
  const [file, page] = placeOf(relativePath, realPath);
  for (const [at, token] of tokens.entries()) {
    const href = token.type === 'link_open' && token.attrGet('href');
    if (!href || /^([a-z]+:|#)/.test(href) || token.attrGet('class') === 'header-anchor') continue;
    const [path = '', anchor] = href.split('#');
    const target = posix.normalize(posix.join(posix.dirname(file), path));
    const to = pageOf.get(target);
    const hash = anchor === undefined ? '' : `#${anchor}`;
    if (to !== undefined) token.attrSet('href', `${posix.relative(posix.dirname(page), to)}${hash}`);
    else if (!existsSync(target)) throw new Error(`${file} links to ${href}, which does not exist.`);
    else if (isPlaceholder) dropLink(tokens, at);
    else token.attrSet('href', `${sourceUrl(target)}${hash}`);
  }
}

/**
 * The file of a page in the repository, and its place on the site.
 * @param {string} relativePath @param {string | undefined} realPath
 * @returns {[file: string, page: string]}
 */
function placeOf(relativePath, realPath) {
  const file = realPath === undefined ? relativePath : posix.relative(process.cwd(), realPath);
  return [file, pageOf.get(file) ?? relativePath];
}

/** @param {import('markdown-it').Token[]} tokens @param {number} at */
function dropLink(tokens, at) {
  let depth = 0;
  for (const token of tokens.slice(at)) {
    depth += token.nesting;
    if (token.type !== 'link_open' && token.type !== 'link_close') continue;
    token.tag = 'span';
    token.type = 'span';
    token.attrs = null;
    if (depth === 0) return;
  }
}

/** The corner of a table that has neither a row's nor a column's name is not a head. @param {import('markdown-it').Token[]} tokens */
function nameHeads(tokens) {
  for (const [at, token] of tokens.entries()) {
    if (token.type !== 'th_open' || tokens[at + 1]?.content !== '') continue;
    token.tag = 'td';
    const close = tokens.slice(at).find(({ type }) => type === 'th_close');
    if (close) close.tag = 'td';
  }
}

/** @param {import('markdown-it-async').MarkdownItAsync} md */
function addTabs(md) {
  const fence = md.renderer.rules.fence;
  if (fence === undefined) throw new Error('VitePress has no rule for blocks of code.');
  md.renderer.rules.fence = (tokens, at, options, env, self) => {
    const token = tokens[at];
    const html = fence(tokens, at, options, env, self);
    const other = env.forSearch || token === undefined ? undefined : otherForm(token, tokens[at - 1], env);
    if (other === undefined) return html;
    const twin = Object.assign(Object.create(Object.getPrototypeOf(token)), token, {
      content: other.code,
      info: other.info,
    });
    return tabs(other, html, fence([twin], 0, options, env, self), `${env.relativePath}-${at}`);
  };
}

/**
 * @typedef {{ kind: string, label: string, names: readonly [string, string], values: readonly [string, string], code: string, info: string }} Other
 *
 * The other form of a block: the same program in JavaScript, or the same lines with pnpm; undefined if it is the same.
 * @param {import('markdown-it').Token} token @param {import('markdown-it').Token | undefined} before @param {{ relativePath: string }} env
 * @returns {Other | undefined}
 */
function otherForm({ info, content }, before, { relativePath }) {
  const language = info.trim();
  if (language === 'ts' && before?.type === 'html_block') {
    const [, file, region] = SNIPPET.exec(before.content.trim()) ?? [];
    const code = file === undefined ? undefined : javascriptOf(file, region, content);
    if (code === undefined) return undefined;
    return {
      kind: 'language',
      label: 'Language',
      names: ['TypeScript', 'JavaScript'],
      values: ['ts', 'js'],
      code,
      info: 'js',
    };
  }
  if (
    (language === 'bash' || language === 'sh') &&
    (relativePath === 'readme.md' || !OWN.has(`/${relativePath.slice(0, -3)}`))
  ) {
    const code = pnpmOf(content);
    if (code === undefined) return undefined;
    return {
      kind: 'manager',
      label: 'Package manager',
      names: ['npm', 'pnpm'],
      values: ['npm', 'pnpm'],
      code,
      info,
    };
  }
  return undefined;
}

/** @param {Other} other @param {string} first @param {string} second @param {string} id */
function tabs({ kind, label, names, values }, first, second, id) {
  const name = `choice-${id.replace(/[^\w-]/g, '-')}`;
  const inputs = values.map(
    (value, at) =>
      `<input type="radio" name="${name}" id="${name}-${value}" value="${value}"${at === 0 ? ' checked' : ''}><label for="${name}-${value}">${names[at]}</label>`,
  );
  const panels = [first, second].map(
    (html, at) => `<div class="choice-panel" data-value="${values[at]}">${html}</div>`,
  );
  return `<div class="choice" data-choice="${kind}"><div class="choice-tabs" role="radiogroup" aria-label="${label}">${inputs.join('')}</div>${panels.join('')}</div>`;
}
