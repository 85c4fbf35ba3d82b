import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../../scripts/check-promises.js', import.meta.url));
const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));

// A small project that tells the truth. Each lie below changes one of its files.
const limit = '<!-- limit: test/limits/http.test.ts "the client > does not speak HTTP/2" -->';
const promise = '<!-- promise: test/tasks.test.ts "a task survives a crash: … runs" -->';
const truth: Readonly<Record<string, string>> = {
  'README.md': `# Thing\n\n## Why fullmcp\n\n- **Tasks survive.** They do.\n  ${promise}\n`,
  'docs/rough-edges.md': `# Rough edges\n\nKnown limitations.\n\n## Client\n\n**HTTP/2 is not supported.** Use\nHTTP/1.1.\n${limit}\n`,
  'docs/comparison.md':
    '# Comparison\n\n<!-- limit: until 2027-03 looked up in versions of November -->\n| feature | fullmcp | other |\n|---|---|---|\n| stdio | yes | – |\n',
  'docs/migrate-from-x.md': `# Migrate\n\n## What you lose\n\n- Magic.\n  ${limit}\n\nThat is all.\n`,
  'docs/guide.md': `# Guide\n\nIt works. A process that has not started yet is waited for.\n\n\`\`\`txt\nThis is not supported.\n\`\`\`\n`,
  'test/limits/http.test.ts':
    "import { describe, expect, test } from 'vitest';\ndescribe('the client', () => {\n  test('does not speak HTTP/2', () => expect(1).toBe(1));\n});\n",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a file.
  'test/tasks.test.ts': 'test.each([1])(`a task survives a crash: ${runs} runs`, () => undefined);\n',
};
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'promises-'));
  for (const [path, text] of Object.entries(truth)) await put(path, text);
});
afterEach(() => rm(folder, { recursive: true }));

test('the check of promises accepts a project whose limitations and promises name what keeps them true', async () => {
  expect(await check()).toEqual({
    code: 0,
    text: '2 limitations (0 with a date) and 1 promises name what keeps them true\n',
  });
});

describe('the check of promises catches', () => {
  const limits = 'test/limits/http.test.ts';
  test.each<[lie: string, page: string, from: string | RegExp, to: string, caught: string]>([
    [
      'a rough edge without a comment',
      'docs/rough-edges.md',
      limit,
      '',
      'rough-edges.md:7 is a limitation without a comment',
    ],
    [
      'a sentence in a guide that says "not yet"',
      'docs/guide.md',
      'It works.',
      'Proxies do\nnot work with this yet.',
      'guide.md:3 says "do not work with this yet" without a comment',
    ],
    [
      'a section about limitations',
      'docs/guide.md',
      'It works.',
      '## Not supported\n\n- Proxies.\n\n## More\n\n',
      'guide.md:5 is a limitation without a comment',
    ],
    [
      'a row of a table that says "not supported"',
      'docs/guide.md',
      'It works.',
      '| thing | works |\n|---|---|\n| SOCKS | not supported |\n\n',
      'guide.md:5 says "not supported" without a comment',
    ],
    [
      'a test that does not exist',
      'docs/rough-edges.md',
      'http.test.ts',
      'http3.test.ts',
      'http3.test.ts, which does not exist',
    ],
    [
      'a test that was renamed',
      limits,
      'does not speak HTTP/2',
      'still speaks HTTP/1.1',
      'rough-edges.md:9 names the test "the client > does not speak HTTP/2", which test/limits/http.test.ts does not have. Was it renamed? The closest is "the client > still speaks HTTP/1.1".',
    ],
    ['a test that is skipped', limits, "test('does", "test.skip('does", 'which is never run'],
    [
      'a date that is past',
      'docs/rough-edges.md',
      limit,
      '<!-- limit: until 2026-10 somebody should look -->',
      'was to be looked at by 2026-10, which is over',
    ],
    [
      'a date that nobody will live to see',
      'docs/rough-edges.md',
      limit,
      '<!-- limit: until 2031-01 somebody should look -->',
      'sets a date more than 12 months ahead: 2031-01',
    ],
    [
      'a date without a reason',
      'docs/rough-edges.md',
      limit,
      '<!-- limit: until 2027-01 -->',
      'cannot be read: "until 2027-01"',
    ],
    [
      'a dash for fullmcp in the comparison',
      'docs/comparison.md',
      '| stdio | yes | – |',
      '| stdio | – | yes |',
      'comparison.md:6 has "–" for fullmcp without a comment in its row',
    ],
    [
      'a "no" for another library without a date',
      'docs/comparison.md',
      /<!--.*-->\n/,
      '',
      'comparison.md:5 has "–" for another library without a date',
    ],
    [
      'a loss without a comment in a migration page',
      'docs/migrate-from-x.md',
      limit,
      '',
      'migrate-from-x.md:5 is a limitation without a comment',
    ],
    [
      'a promise of README without a test',
      'README.md',
      promise,
      '',
      'README.md:5 is a promise without a comment',
    ],
    [
      'a promise that a date keeps',
      'README.md',
      promise,
      '<!-- promise: until 2027-01 we are sure of it -->',
      'Only a test can keep a promise',
    ],
    [
      'a test of a limitation that no page admits',
      limits,
      '});\n',
      "  test('does not speak HTTP/3', () => undefined);\n});\n",
      'tests a limitation that no page names: "the client > does not speak HTTP/3"',
    ],
  ])('%s', async (_, page, from, to, caught) => {
    const text = (truth[page] ?? '').replace(from, to);
    expect(text).not.toBe(truth[page]);
    await put(page, text);
    const { code, text: output } = await check();
    expect(output).toContain(caught);
    expect(code).toBe(1);
  });

  test('a feature that has arrived while its page still denies it', async () => {
    // The test of the limitation fails from then on, in a real run of Vitest, and the record of that run gives the page away.
    await put(
      'test/limits/http.test.ts',
      (truth['test/limits/http.test.ts'] ?? '').replace('toBe(1)', 'toBe(2)'),
    );
    await put('vitest.config.mjs', 'export default {};\n');
    const report = join(folder, 'report.json');
    await run(vitest, ['run', '--root', folder, '--reporter=json', `--outputFile=${report}`, 'test/limits']);
    const { testResults } = JSON.parse(await readFile(report, 'utf8')) as Report;
    const [arrived] = testResults.flatMap(({ assertionResults }) => assertionResults);
    const key = `test/limits/http.test.ts > ${[...(arrived?.ancestorTitles ?? []), arrived?.title].join(' > ')}`;
    const result = { result: arrived?.status, commit: '1234567', date: '2026-11-18' };
    await put('records/promises.json', JSON.stringify({ figures: { [key]: result } }));
    const { code, text } = await check();
    expect(text).toContain(
      'which failed at 1234567. If the feature has arrived, remove the sentence and the test.',
    );
    expect(code).toBe(1);
  });
});

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
    }[];
  }[];
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

function check(): Promise<{ code: number; text: string }> {
  return run(script, ['--root', folder, '--month', '2026-11']);
}

function run(program: string, args: readonly string[]): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, ...args],
      { cwd: dirname(dirname(script)) },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), text: stdout + stderr });
      },
    );
  });
}
