import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { folder } from './world.js';

interface Listed {
  readonly file: string;
}
const {
  home,
  repositoryPages,
  sections,
}: {
  home: Listed;
  repositoryPages: readonly Listed[];
  sections: readonly { groups: readonly { pages: readonly Listed[] }[] }[];
} = await import(new URL('../../docs/pages.js', import.meta.url).href);

const files = new Set(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => statSync(join(folder, file)).isFile()),
);
const pages = new Map(
  [...files]
    .filter((file) => file.endsWith('.html'))
    .map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
);
const anchors = new Map(
  [...pages].map(([file, html]) => [
    file,
    new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => unescaped(id))),
  ]),
);

test('Each page of the list, of the reference, of the commands and of the repository is on the site, with its Markdown.', () => {
  const listed = [home, ...sections.flatMap(({ groups }) => groups.flatMap(({ pages: own }) => own))].map(
    ({ file }) => file,
  );
  const generated = ['reference', 'cli'].flatMap((name) =>
    readdirSync(`docs/${name}`).map((file) => `${name}/${file}`),
  );
  const repository = repositoryPages.map(({ file }) => file.slice(3).toLowerCase());
  const wanted = [...listed, ...generated].flatMap((file) => [file, file.replace(/\.md$/, '.html')]);
  expect(wanted.filter((file) => !files.has(file))).toEqual([]);
  expect(wanted.length).toBeGreaterThan(200);
  expect(repository.filter((file) => files.has(file))).toEqual(
    expect.arrayContaining(['changelog.md', 'contributing.md', 'readme.md', 'security.md']),
  );
});

test('The lists for models are on the site, and name its pages.', () => {
  const list = readFileSync(join(folder, 'llms.txt'), 'utf8');
  const named = [...list.matchAll(/^- \[[^\]]*\]\(([^)]*)\)/gm)].map(([, file = '']) => file);
  expect(named.length).toBeGreaterThan(150);
  expect(named.filter((file) => !files.has(file))).toEqual([]);
  expect([...files]).toEqual(expect.arrayContaining(['llms-full.txt', 'llms-small.txt']));
});

test('Every link of every page leads to a file of the site, and to a heading if it names one.', () => {
  let count = 0;
  const broken: string[] = [];
  for (const [page, html] of pages) {
    if (page === '404.html') continue;
    for (const [, raw = ''] of html.matchAll(/<a\b[^>]* href="([^"]*)"/g)) {
      const href = unescaped(raw);
      if (/^[a-z]+:/.test(href)) continue;
      count++;
      const [path = '', anchor] = href.split('#');
      const target = path === '' ? page : posix.join(posix.dirname(page), path);
      const file = target.endsWith('/') || target === '.' ? posix.join(target, 'index.html') : target;
      if (!files.has(file)) broken.push(`${page} → ${href}`);
      else if (anchor && !anchors.get(file)?.has(decodeURIComponent(anchor)))
        broken.push(`${page} → ${href} (no such heading)`);
    }
  }
  expect(broken).toEqual([]);
  expect(count).toBeGreaterThan(10_000);
});

test('Nothing that a page loads has an absolute address, so that the site works under any path and asks nobody else.', () => {
  const absolute = [...pages].flatMap(([page, html]) =>
    [...html.matchAll(/<(?:script|link|img|source|iframe)\b[^>]* (?:src|href|srcset)="([^"]*)"/g)]
      .map(([, address = '']) => address)
      .filter((address) => /^(\/|https?:)/.test(address) && page !== '404.html')
      .map((address) => `${page}: ${address}`),
  );
  expect(absolute).toEqual([]);
  const styles = [...files]
    .filter((file) => file.endsWith('.css'))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  expect(
    styles.flatMap((css) =>
      [...css.matchAll(/url\(["']?((?:https?:|\/)[^)]*)/g)].map(([, address]) => address),
    ),
  ).toEqual([]);
});

test('A page weighs at most 60 kB of HTML, those of the reference 100 kB, and 110 kB of scripts and styles, compressed.', () => {
  const weights = new Map<string, number>();
  const weigh = (file: string): number => {
    const known = weights.get(file) ?? gzipSync(readFileSync(join(folder, file))).length;
    weights.set(file, known);
    return known;
  };
  const heavy = [...pages].flatMap(([page, html]) => {
    if (page === '404.html') return [];
    const loaded = [...html.matchAll(/<(?:script|link)\b[^>]* (?:src|href)="([^"]+\.(?:js|css))"/g)].map(
      ([, path = '']) => posix.join(posix.dirname(page), path),
    );
    const scripts = [...new Set(loaded)].reduce((sum, file) => sum + weigh(file), 0);
    const limit = page.startsWith('reference/') || page === 'changelog.html' ? 100_000 : 60_000;
    return weigh(page) > limit || scripts > 110_000
      ? [`${page}: ${weigh(page)} of HTML, ${scripts} of scripts and styles`]
      : [];
  });
  expect(heavy).toEqual([]);
});

test('Every page shows its place, its version and the file to edit, without a link to a source that has no address yet.', () => {
  const { version, repository } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    version: string;
    repository: { url: string };
  };
  const html = pages.get('tasks.html') ?? '';
  expect(html).toContain(`fullmcp ${version}`);
  expect(html).toContain('Guides › ');
  if (repository.url.includes('example.invalid')) {
    expect(html).toContain('docs/tasks.md');
    expect(
      [...pages].filter(([, text]) => /href="[^"]*example\.invalid/.test(text)).map(([page]) => page),
    ).toEqual([]);
  } else expect(html).toMatch(/<a href="https:[^"]+\/edit\/[^"]+docs\/tasks\.md"/);
  expect(pages.get('cli/call.html')).toContain('scripts/cli-docs.js');
});

function unescaped(text = ''): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
