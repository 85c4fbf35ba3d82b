import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInChromium } from '../../../browser/chromium.js';
import { place, result, runTool } from '../support/find.js';
import { useAttack } from './attack.js';

// A server that sends too much of everything. The page shows a part of it, and another tool can be called afterwards.

describeInChromium('too much from a server', { timeout: 180_000 }, () => {
  const attack = useAttack();

  async function run(page: Page, name: string): Promise<void> {
    await page.goto(`${page.url().split('#', 1)[0]}#/tools/${name}`);
    await place(page).getByRole('heading', { name, exact: true }).waitFor();
    await runTool(page);
  }

  async function expectUsable(page: Page, name = 'ok'): Promise<void> {
    await run(page, name);
    await result(page).getByText('All is well.').waitFor();
  }

  async function isShort(page: Page): Promise<void> {
    expect(await page.evaluate(() => document.body.textContent?.length ?? 0)).toBeLessThan(2_000_000);
    expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(60_000);
  }

  test('in progress, logs, junk and results', async () => {
    const id = await attack.connect('words');
    const { page, expectUnharmed } = await attack.visit();
    for (const [name, says] of [
      ['flood', 'flooded'],
      ['logs', 'logged'],
      ['huge', 'The result has 5'],
      ['large', 'The result has 6'],
    ] as const) {
      await run(page, name);
      // The largest result has tens of megabytes, which other suites may slow down.
      await place(page).locator('.tools-result').getByText(says).first().waitFor({ timeout: 90_000 });
      const show = place(page).getByRole('button', { name: 'Show it' });
      if (await show.isVisible()) {
        await show.click();
        await result(page).waitFor();
      }
      await isShort(page);
      await expectUsable(page);
    }
    await page.goto(`${page.url().split('#', 1)[0]}#/timeline`);
    await place(page).locator('h1, h2').first().waitFor({ state: 'attached' });
    await isShort(page);
    await expectUnharmed();
    await attack.inspector.run('disconnect', { connection: id });
  });

  test('tools: 10,000 of them', async () => {
    const id = await attack.connect('many');
    const { page, expectUnharmed } = await attack.visit();
    await place(page).getByLabel('Filter Tools').fill('tool_9999');
    await place(page)
      .getByRole('link', { name: /^tool_9999/ })
      .click();
    await expectUsable(page, 'tool_9999');
    await isShort(page);
    await expectUnharmed();
    await attack.inspector.run('disconnect', { connection: id });
  });

  test('in a description and in schemas', async () => {
    const id = await attack.connect('bulk');
    const { page, expectUnharmed } = await attack.visit();
    const tools = attack.inspector.catalog(id)?.tools.map(({ tool }) => tool.name) ?? [];
    expect(tools).toContain('ok');
    for (const name of tools) {
      await page.goto(`${page.url().split('#', 1)[0]}#/tools/${name}`);
      await place(page).getByRole('heading', { name, exact: true }).waitFor();
      await place(page).getByRole('button', { name: 'JSON', exact: true }).click();
      await isShort(page);
      await expectUnharmed();
    }
    await expectUsable(page);
    await expectUnharmed();
  });
});
