import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { parseAst } from 'rolldown/parseAst';
import { transformSync } from 'rolldown/utils';
import { describe, expect, test } from 'vitest';
import { blocksOf, type PageName, pages, readPage, root } from './page.js';

// Each page must show everything that a reader has to type: nothing of a program may come from anywhere else.

const REGION = /^\s*\/\/ #region (\S+)\s*$/;
const END = /^\s*\/\/ #endregion\b/;
const PARTS = ['You need', 'Check', 'If it fails', 'Exercise', 'Summary'];

function folderOf(page: PageName): string {
  return `${root}examples/tracker/${page}`;
}

function filesOf(page: PageName): readonly string[] {
  return readdirSync(folderOf(page));
}

/** The lines of a file without those of the regions, without marks of regions, and without empty lines. */
function withoutRegions(source: string, regions: ReadonlySet<string>): readonly string[] {
  const open: string[] = [];
  const rest: string[] = [];
  for (const line of source.split('\n')) {
    const name = REGION.exec(line)?.[1];
    if (name !== undefined) open.push(name);
    else if (END.test(line)) open.pop();
    else if (line.trim() !== '' && !open.some((region) => regions.has(region))) rest.push(line);
  }
  return rest;
}

/** Whether a block has syntax that only TypeScript has. A block is a program, or members of an object. */
function hasTypes(text: string): boolean {
  return [text, `({${text}})`].every((source) => {
    try {
      parseAst(source, { lang: 'js' });
      return false;
    } catch {
      return true;
    }
  });
}

/** A program without types, in one form, with imports of JavaScript files. */
function withoutTypes(text: string): string {
  const { code, errors } = transformSync('program.ts', text, { typescript: { onlyRemoveTypeImports: true } });
  expect(errors).toEqual([]);
  return code.replaceAll(/(["']\.\/[\w-]+)\.ts(["'])/g, '$1.js$2');
}

describe.each(pages)('page %s', (page) => {
  const text = readPage(page);
  const blocks = blocksOf(text);
  const before = pages[pages.indexOf(page) - 1];
  const shown = (file: string) => blocks.filter((block) => block.file === `examples/tracker/${page}/${file}`);

  test('has the parts that a reader expects, and an exercise with a folded solution', () => {
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings.filter((heading) => PARTS.includes(heading ?? ''))).toEqual(PARTS);
    expect(text.slice(text.indexOf('## Exercise'))).toMatch(/<details>\s*<summary>/);
  });

  test.each(filesOf(page))('shows every line of %s that the page before does not have', (file) => {
    const source = readFileSync(`${folderOf(page)}/${file}`, 'utf8');
    const snippets = shown(file);
    if (snippets.some(({ region }) => region === undefined)) return;
    const path = `${folderOf(before ?? page)}/${file}`;
    // All lines of a new file are new.
    const earlier = before !== undefined && existsSync(path) ? readFileSync(path, 'utf8') : '';
    const regions = new Set(snippets.map(({ region }) => region ?? ''));
    // A region of one line is to be added wherever the page says so.
    const single = new Set(
      snippets.map((snippet) => snippet.text.trim()).filter((body) => !body.includes('\n')),
    );
    const unchanged = (program: string): readonly string[] =>
      withoutRegions(program, regions).filter((line) => !single.has(line.trim()));
    expect(unchanged(source)).toEqual(unchanged(earlier));
  });

  test('has each block with types a second time, without them, for readers who write JavaScript', () => {
    const typed = blocks.filter(({ language, text: body }) => language === 'ts' && hasTypes(body));
    const plain = blocks.filter(({ language }) => language === 'js');
    expect(plain.filter(({ text: body }) => hasTypes(body))).toEqual([]);
    expect(plain.map(({ text: body }) => withoutTypes(body))).toEqual(
      typed.map(({ text: body }) => withoutTypes(body)),
    );
  });
});
