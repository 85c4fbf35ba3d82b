import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../../scripts/check-words.js', import.meta.url));
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'words-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('the check of words finds phrases in pages, even across the end of a line', async () => {
  const page = [
    '# What a heading says is not a sentence',
    'What is no entry is left out. It belongs',
    'into a list of texts. Who is it? There is no answer, and it is no longer wanted.',
    '```ts',
    'const a = "What is no prose";',
    '```',
    'It waits for ever, `x` is no `y`. See [Who is calling](who.md).',
  ];
  expect(await phrasesIn('page.md', page.join('\n'))).toEqual([
    '2 "What is"',
    '2 "belongs into"',
    '2 "is no entry"',
    '3 "texts"',
    '7 "for ever"',
    '7 "is no `y`"',
  ]);
});

test('the check of words reads comments and strings of code, and nothing else', async () => {
  const code = [
    'const texts = no;',
    "import './texts.js';",
    '// It tries in',
    '// vain.',
    '/**',
    ' * Who calls twice has called twice.',
    ' * @param {string} texts a name',
    ' */',
    "test('what nobody asked for is ignored', () => {});",
    "ask('what is it?');",
    'throw new Error(`must be a text, $' + '{name} puts up with it`);',
  ];
  expect(await phrasesIn('code.ts', code.join('\n'))).toEqual([
    '3 "in vain"',
    '6 "Who calls"',
    '9 "what nobody"',
    '11 "a text"',
    '11 "puts up with"',
  ]);
});

/** The lines and phrases that the check reports, in their order in the file. */
async function phrasesIn(name: string, text: string): Promise<string[]> {
  await writeFile(join(folder, name), text);
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [script, folder], (_error, _stdout, stderr) => resolve(stderr));
  });
  const found = output.matchAll(/:(\d+) ("[^"]*"): [a-z]/g);
  return [...found]
    .map(([, line, phrase]) => `${line} ${phrase}`)
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10) || (a < b ? -1 : 1));
}
