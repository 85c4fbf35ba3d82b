import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const parts = [
  'README.md',
  'package.json',
  'bench/results.json',
  'bench/peers.json',
  'bench/engines.json',
  'docs',
];
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'numbers-'));
  for (const part of parts) await cp(join(root, part), join(folder, part), { recursive: true });
});
afterEach(() => rm(folder, { recursive: true }));

test('the check of numbers accepts the figures of the recorded runs', async () => {
  expect(await check()).toMatchObject({ code: 0 });
});

test.each<[lie: string, file: string, from: RegExp, to: string, caught: RegExp, ...args: string[]]>([
  [
    'a figure in README that nobody measured',
    'README.md',
    /(\| HTTP `tools\/call`.*\| )[\d.]+ %( \| )/,
    '$198 %$2',
    /^README\.md:\d+ shows 98 and .*, and the record has \d+/m,
  ],
  [
    'a row without a record',
    'README.md',
    /(\| cold start.*\n)/,
    '$1| luck | 7 × | 1 × |\n',
    /has figures that bench\/results\.json does not have/,
  ],
  [
    'a day on which nothing was measured',
    'README.md',
    /Measured on \d+ /,
    'Measured on 31 ',
    /does not say that its figures are of/,
  ],
  [
    'a ratio in a sentence',
    'docs/proxy.md',
    /a proxy took [\d.]+ times/,
    'a proxy took 1.1 times',
    /docs\/proxy\.md says 1\.1/,
  ],
  [
    'a run without a commit',
    'bench/results.json',
    /"commit": "[0-9a-f]+",\n/,
    '',
    /the main run .* names no commit/,
  ],
  [
    'a comparison with peers at a commit that is not in this history, before a release',
    'bench/peers.json',
    /"commit": "[0-9a-f]+"/,
    '"commit": "0123456789012345678901234567890123456789"',
    /bench\/peers\.json .* is of the commit 01234567, which does not exist here/,
    '--release',
  ],
  [
    'a version that is not compared',
    'docs/comparison.md',
    /\| fullmcp \| [\w.-]+ \|/,
    '| fullmcp | 9.9.9 |',
    /does not compare/,
  ],
])('the check of numbers catches %s', async (_, file, from, to, caught, ...more) => {
  const text = await readFile(join(folder, file), 'utf8');
  expect(text).toMatch(from);
  await writeFile(join(folder, file), text.replace(from, to));
  const { code, text: output } = await check(...more);
  expect(output).toMatch(caught);
  expect(code).toBe(1);
});

function check(...more: string[]): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    const args = [join(root, 'scripts/check-numbers.js'), '--root', folder, ...more];
    execFile(process.execPath, args, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), text: stdout + stderr });
    });
  });
}
