import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { missingFile } from '../../../src/cli/target/missing-file.js';

test.each([
  ['./sever.js', ' Did you mean "./server.js"?'],
  ['inner/mian.ts', ' Did you mean "inner/main.ts"?'],
  ['shop.ts', ' Did you mean "src/shop.ts"?'],
  ['inner/none.ts', ''],
  ['nowhere/server.js', ''],
  ['notes.ts', ''],
])(
  'the sentence for the missing file %s names a close file that exists, if there is one: %j',
  async (path, hint) => {
    const folder = await mkdtemp(join(tmpdir(), 'fullmcp-missing-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    for (const inner of ['src', 'inner']) await mkdir(join(folder, inner));
    for (const file of ['server.js', 'notes.md', 'src/shop.ts', 'inner/main.ts'])
      await writeFile(join(folder, file), '');
    expect(missingFile(path, folder)).toBe(`There is no file ${path} (looked in ${folder}).${hint}`);
  },
);
