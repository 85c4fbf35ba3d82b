import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { describeInChromium } from '../../../browser/chromium.js';
import { place, result, runTool } from '../support/find.js';
import { useAttack } from './attack.js';

// A server that sends what should not run. Nothing of it runs in the page, nothing leaves it, and the page goes on.

describeInChromium('a hostile server in the page of the inspector', { timeout: 120_000 }, () => {
  const attack = useAttack();
  beforeAll(async () => {
    await attack.connect('words');
  });

  /** Opens a tool, as one does from the list. */
  async function run(page: Page, name: string): Promise<void> {
    await page.goto(`${page.url().split('#', 1)[0]}#/tools/${name}`);
    await place(page).getByRole('heading', { name, exact: true }).waitFor();
    await runTool(page);
  }

  async function expectUsable(page: Page): Promise<void> {
    await run(page, 'ok');
    await result(page).getByText('All is well.').waitFor();
  }

  test.each(['html', 'markdown', 'emphasis', 'table', 'picture', 'links', 'structured'])(
    'sends %s, which is shown and does nothing',
    async (name) => {
      const { page, expectUnharmed } = await attack.visit();
      await run(page, name);
      const show = place(page).getByRole('button', { name: 'Show it' });
      await result(page).or(show).first().waitFor();
      if (await show.isVisible()) await show.click();
      for (const tab of ['Raw', 'Value'])
        await result(page).getByRole('tab', { name: tab, exact: true }).click();
      await expectUnharmed();
      await expectUsable(page);
      await expectUnharmed();
    },
  );

  test('hides nothing in names and text', async () => {
    const { page, expectUnharmed } = await attack.visit('#/tools/html');
    await runTool(page);
    await result(page).getByText('\\u{202e}').first().waitFor();
    for (const address of ['#/tools/html', '#/resources', '#/prompts/evil', '#/server', '#/timeline']) {
      await page.goto(`${page.url().split('#', 1)[0]}${address}`);
      await place(page).locator('h1, h2').first().waitFor({ state: 'attached' });
      const shown = (await page.locator('body').textContent()) ?? '';
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
      expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\u2060\u001b\u0007\u0000]/);
      expect(await page.title()).not.toMatch(/\u202e/);
      await expectUnharmed();
    }
  });

  test('has resources that are documents, which are shown as text and as pictures', async () => {
    const { page, expectUnharmed } = await attack.visit('#/resources/x%3Ahtml');
    await place(page).getByText('<script>').first().waitFor();
    await place(page).getByRole('img').first().waitFor();
    await expectUnharmed();
    await page.goto(`${page.url().split('#', 1)[0]}#/resources/${encodeURIComponent('javascript:x')}`);
    await expectUnharmed();
    await expectUsable(page);
  });

  test('has a prompt with documents in it', async () => {
    const { page, expectUnharmed } = await attack.visit('#/prompts/evil');
    await place(page).getByRole('button', { name: /^Get/ }).click();
    await place(page).getByText('2 messages').waitFor();
    await expectUnharmed();
  });

  test('asks to open an address that is a script, and for a form with markup', async () => {
    const { page, expectUnharmed } = await attack.visit();
    // The client declines such an address by itself, and the user is not asked.
    await run(page, 'ask');
    await result(page).getByText('decline').first().waitFor();
    await expectUnharmed();
    await run(page, 'form');
    await page.locator('.question').getByText('<script>').first().waitFor();
    await expectUnharmed();
    await page
      .getByRole('button', { name: /^Decline/ })
      .first()
      .click();
    await expectUsable(page);
  });

  test('fails with markup in its sentence', async () => {
    const { page, expectUnharmed } = await attack.visit();
    await run(page, 'fail');
    await place(page).getByText('<script>').first().waitFor();
    await expectUnharmed();
  });

  test('is shown in every place without harm', async () => {
    const { page, expectUnharmed } = await attack.visit('#/timeline');
    for (const address of [
      '#/timeline',
      '#/server',
      '#/server/findings',
      '#/server/tokens',
      '#/tapes',
      '#/call/1',
      '#/connect',
    ]) {
      await page.goto(`${page.url().split('#', 1)[0]}${address}`);
      await place(page).waitFor();
      await expectUnharmed();
    }
  });

  test('has an app that tries to leave its frame, and reaches nothing', async () => {
    const { page, expectUnharmed } = await attack.visit();
    await run(page, 'app');
    const said = place(page).getByText(/"tried"/);
    await said.waitFor();
    const tried = (await said.textContent()) ?? '';
    for (const name of ['parent', 'top', 'marker', 'storage', 'cookie', 'go', 'up'])
      expect(tried).toContain(`"${name}":"SecurityError"`);
    for (const name of ['page', 'command', 'fetch']) expect(tried).toContain(`"${name}":"TypeError"`);
    expect(tried).toContain('"popup":"nothing"');
    await expectUnharmed();
    await expectUsable(page);
    await expectUnharmed();
  });

  test('has an app that goes elsewhere, and is closed before the browser connects to there', async () => {
    const { page, expectUnharmed } = await attack.visit();
    const before = attack.website.connections;
    await run(page, 'leaver');
    await place(page).getByText('The app has left its page.').waitFor();
    await expectUnharmed();
    expect(attack.website.connections).toBe(before);
  });
});
