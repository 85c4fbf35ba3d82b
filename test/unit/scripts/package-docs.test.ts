import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ownDocumentation } from '../../../src/cli/docs/documentation.js';

interface DocPage {
  readonly file: string;
  readonly name: string;
  readonly sentence: string;
  readonly section: string;
  readonly text: string;
}

interface PackageDocs {
  readonly SMALL_BYTES: number;
  docPages(): DocPage[];
  listsForModels(
    pages: readonly DocPage[],
    options?: { link?: (file: string) => string },
  ): Record<'llms.txt' | 'llms-full.txt' | 'llms-small.txt', string>;
  withoutComments(text: string): string;
  withOwnLinks(text: string, file: string, known: ReadonlySet<string>): string;
}

const scripts = new URL('../../../scripts/', import.meta.url).href;
const { SMALL_BYTES, docPages, listsForModels, withoutComments, withOwnLinks }: PackageDocs = await import(
  `${scripts}package-docs.js`
);
const { slugger }: { slugger: () => (heading: string) => string } = await import(`${scripts}markdown.js`);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const pages = docPages();
const files = new Set(pages.map(({ file }) => `dist/docs/${file}`));

/** The lines of a page outside of blocks of code. */
function proseOf(text: string): string {
  let isCode = false;
  return text
    .split('\n')
    .filter((line) => {
      const isFence = /^\s*(?:```|~~~)/.test(line);
      if (isFence) isCode = !isCode;
      return !isFence && !isCode;
    })
    .join('\n');
}

describe('the pages of the package', () => {
  test('have every page of the table, the commands and the reference once, and no page about the source', () => {
    expect(files.size).toBe(pages.length);
    for (const file of [
      'dist/docs/asking.md',
      'dist/docs/cli/run.md',
      'dist/docs/reference/fullmcp.md',
      'dist/docs/cli.md',
    ])
      expect(files).toContain(file);
    expect(files).not.toContain('dist/docs/architecture.md');
  });

  test('have no comments and no pictures outside of code', () => {
    for (const { file, text } of pages) {
      const prose = proseOf(text).replace(/`[^`\n]*`/g, '');
      expect(prose, file).not.toContain('<!--');
      expect(prose, file).not.toMatch(/!\[[^\]]*\]\(/);
    }
  });

  test('have only links that lead to a file of the package, and to a heading of it', () => {
    const beside = ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'];
    const headings = new Map(
      pages.map(({ file, text }) => {
        const slug = slugger();
        const lines = proseOf(text).split('\n');
        return [
          `dist/docs/${file}`,
          new Set(lines.flatMap((line) => /^#{1,6} (.+)$/.exec(line)?.[1] ?? []).map(slug)),
        ];
      }),
    );
    const dead: string[] = [];
    for (const { file, text } of pages)
      for (const [, target = ''] of proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        const [path = '', anchor] = target.split('#');
        const place = path === '' ? `dist/docs/${file}` : posix.join('dist/docs', posix.dirname(file), path);
        if (beside.includes(place) && existsSync(`${root}${place}`)) continue;
        if (!files.has(place) || (anchor !== undefined && headings.get(place)?.has(anchor) !== true))
          dead.push(`${file}: ${target}`);
      }
    expect(dead).toEqual([]);
  });

  test('have the same anchors for the command as for the check of links', () => {
    const documentation = ownDocumentation();
    for (const page of documentation.pages) {
      const slug = slugger();
      const lines = proseOf(documentation.textOf(page)).split('\n');
      const anchors = lines.flatMap((line) => {
        const [, marks = '', heading = ''] = /^(#{1,6}) (.+)$/.exec(line) ?? [];
        const anchor = marks === '' ? '' : slug(heading);
        return marks.length === 2 || marks.length === 3 ? [anchor] : [];
      });
      const parts = documentation.partsOf(page).map(({ anchor }) => anchor);
      expect(parts, page.file).toEqual(['', ...anchors]);
    }
  });
});

describe('the lists for models', () => {
  const lists = listsForModels(pages);

  test('name every page with a sentence, in sections', () => {
    for (const { file, sentence } of pages) {
      expect(lists['llms.txt'].split(`](${file}): `).length, file).toBe(2);
      expect(sentence.length, file).toBeGreaterThan(5);
      expect(sentence.length, file).toBeLessThan(1200);
    }
    expect(lists['llms.txt']).toMatch(/^# fullmcp \d+\.\d+\.\d+\S*\n\n> .+\n\n/);
    expect(lists['llms.txt'].match(/^## (.+)$/gm)).toContain('## Guides');
  });

  test('have all pages in llms-full.txt, and at most 60 kB of what is needed first in llms-small.txt', () => {
    for (const { file, text } of pages) expect(lists['llms-full.txt'], file).toContain(text.trim());
    const bytes = Buffer.byteLength(lists['llms-small.txt']);
    expect(bytes).toBeLessThanOrEqual(SMALL_BYTES);
    expect(bytes).toBeGreaterThan(SMALL_BYTES / 2);
    expect(lists['llms-small.txt']).toContain('createServer({');
  });

  test('have the addresses of a site if it says how they are made', () => {
    const { 'llms.txt': list } = listsForModels(pages, { link: (file) => `https://example.org/${file}` });
    expect(list).toContain('](https://example.org/asking.md): ');
  });
});

describe('a page of the package', () => {
  test('loses comments with their lines, but not those in code', () => {
    const page =
      '# A\n\n<!-- snippet: x#y -->\n```html\n<!-- kept -->\n```\n\nText <!-- a\nb --> goes on, `<!-- too -->`.\n<!-- z -->\nEnd.\n';
    expect(withoutComments(page)).toBe(
      '# A\n\n```html\n<!-- kept -->\n```\n\nText  goes on, `<!-- too -->`.\nEnd.\n',
    );
    expect(withoutComments('a <!-- not closed')).toBe('a <!-- not closed');
    expect(withoutComments('- one\n  <!-- limit -->\n- two')).toBe('- one\n- two');
  });

  test('keeps links to pages of the package, and makes words of the others', () => {
    const known = new Set(['a.md', 'cli/run.md']);
    const page =
      '[A](../a.md#x) [web](https://example.org) [here](#y) [run](run.md)\n[the\nprogram](../../examples/a/b.ts) [b.ts](../../examples/a/b.ts) ![The page of it](../pictures/p.webp)\n\n`x`\n```md\n[kept](../../examples/a/b.ts)\n```\n';
    expect(withOwnLinks(page, 'cli/call.md', known)).toBe(
      '[A](../a.md#x) [web](https://example.org) [here](#y) [run](run.md)\nthe\nprogram (`examples/a/b.ts` in the repository) b.ts (Picture: The page of it)\n\n`x`\n```md\n[kept](../../examples/a/b.ts)\n```\n',
    );
  });
});

test('README names the folder of the package that has the pages', () => {
  expect(readFileSync(`${root}README.md`, 'utf8')).toContain('node_modules/fullmcp/dist/docs');
});
