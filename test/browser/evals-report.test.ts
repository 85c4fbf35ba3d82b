import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { EvalReport } from 'fullmcp/evals';
import { expect, it, onTestFinished } from 'vitest';
import cases from '../../examples/evals/evals.js';
import { htmlReport } from '../../src/evals/report/html.js';
import { describeInChromium, launch } from './chromium.js';

const BAD = '<img src="https://evil.example/x.png" onerror="alert(1)"><script>alert(2)</script>';

/** The report of the example, with a case that failed and whose words are hostile. */
async function hostileReport(): Promise<EvalReport> {
  const tapes = fileURLToPath(new URL('../../examples/evals/evals.tapes', import.meta.url));
  const report = await cases.run({ tapes });
  const [model, ...others] = report.models;
  const [first, ...rest] = model?.cases ?? [];
  if (model === undefined || first === undefined) throw new Error('The example has no case.');
  const runs = first.runs.map((run) => ({
    ...run,
    answer: BAD,
    problems: [{ kind: 'answer' as const, says: BAD }],
  }));
  return {
    ...report,
    ok: false,
    models: [{ ...model, cases: [{ ...first, name: BAD, ok: false, runs }, ...rest] }, ...others],
  };
}

describeInChromium('The HTML report of evals in Chromium', { timeout: 120_000 }, () => {
  it('opens from disk, requests and runs nothing, shows what failed, and shows hostile words as text', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'evals-report-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, 'report.html');
    await writeFile(path, htmlReport(await hostileReport(), { title: 'evals.ts' }));
    const browser = await launch();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => complaints.push(message.text()));
    page.on('dialog', (dialog) => {
      complaints.push(dialog.message());
      void dialog.dismiss();
    });
    await page.goto(pathToFileURL(path).href);
    expect(await page.title()).toBe('evals.ts: not ok');
    expect(await page.innerText('h1')).toContain('not ok');
    expect(await page.innerText('tbody')).toContain('scripted');
    // Cases that failed are open, the others are closed.
    expect(await page.locator('details[open] > summary').allInnerTexts()).toHaveLength(1);
    expect(await page.locator('details').count()).toBe(4);
    expect(await page.innerText('details[open] > summary')).toContain(BAD);
    expect(await page.locator('img, script, a').count()).toBe(0);
    // The style of the page is in effect, although nothing else may be loaded.
    expect(
      await page
        .locator('blockquote')
        .first()
        .evaluate((quote) => getComputedStyle(quote).whiteSpace),
    ).toContain('pre-wrap');
    expect([requests, complaints]).toEqual([[pathToFileURL(path).href], []]);
  });
});
