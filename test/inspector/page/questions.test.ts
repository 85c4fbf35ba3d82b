import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import demo from '../../../examples/demo/server.js';
import { serve } from '../../../src/node.js';
import { describeInChromium } from '../../browser/chromium.js';
import { place, result, runTool } from './support/find.js';
import { usePage } from './support/world.js';

describeInChromium('a question of a server', () => {
  const world = usePage();

  test.each(['2026-07-28', '2025-11-25'] as const)('is answered under its call in %s', async (revision) => {
    const serving = await serve(demo, { port: 0, signals: false });
    try {
      await world.connect(serving.url, revision);
      const page = await world.visit('#/tools/order_pizza');
      await runTool(page);
      await place(page).getByRole('heading', { name: 'What would you like?' }).waitFor();
      await page.getByRole('radio', { name: 'large' }).check();
      await page.getByRole('checkbox', { name: 'ham' }).check();
      await place(page)
        .getByRole('button', { name: /^Answer/ })
        .click();
      await place(page)
        .getByRole('heading', { name: /A large one with ham/ })
        .waitFor();
      await page.getByRole('radio', { name: 'Yes' }).check();
      await place(page)
        .getByRole('button', { name: /^Answer/ })
        .click();
      await result(page)
        .getByText(/ready in ten minutes/)
        .waitFor();
      const story = world.storiesOf('order_pizza').at(-1);
      expect(story).toMatchObject({ state: 'ok', questions: [{ key: 'pizza' }, { key: 'sure' }] });
      expect(story?.rounds).toHaveLength(revision === '2026-07-28' ? 3 : 1);
      // The user's time is not the server's.
      expect(story?.youMs).toBeGreaterThan(0);
    } finally {
      await serving.close();
    }
  });

  test('is counted in the bar, and q goes there from anywhere', async () => {
    await world.connect(demo);
    const page = await world.visit('#/tools/order_pizza');
    await runTool(page);
    await place(page).getByRole('heading', { name: 'What would you like?' }).waitFor();
    await page.goto(`${page.url().split('#')[0]}#/server`);
    await page.getByRole('button', { name: /question/i }).waitFor();
    await place(page).getByRole('heading', { name: 'Overview' }).click();
    await page.keyboard.press('q');
    await place(page).getByRole('heading', { name: 'What would you like?' }).waitFor();
    await page.keyboard.press('Alt+d');
    await expect
      .poll(() => world.storiesOf('order_pizza').at(-1)?.questions[0]?.answer)
      .toEqual({ action: 'decline' });
  });
});

describeInChromium('the keyboard alone', () => {
  const world = usePage();

  test('finds a tool, runs it, answers both questions and goes to the story', async () => {
    await world.connect(demo);
    const page = await world.visit('#/tools');
    await place(page)
      .getByRole('link', { name: /^add\b(?!_)/ })
      .waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await focusIn(page, 'dialog', /./);
    await page.keyboard.type('pizza');
    await page.getByRole('option', { name: /order_pizza/, selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await place(page).getByRole('heading', { name: 'order_pizza' }).waitFor();
    await runTool(page);
    await focusIn(page, '.question', /What would you like\?/);
    // The first choice is there already; the next field is the toppings.
    for (let at = 0; at < 8; at++) {
      if (await page.evaluate(() => (document.activeElement as HTMLInputElement | null)?.type === 'checkbox'))
        break;
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Space');
    await page.keyboard.press('Control+Enter');
    await focusIn(page, '.question', /in oven \d+\. Right\?/);
    await page.keyboard.press('y');
    await page.keyboard.press('Control+Enter');
    await result(page)
      .getByText(/ready in ten minutes/)
      .waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await expect.poll(() => new URL(page.url()).hash).toMatch(/^#\/call\/\d+$/);
  });

  test('walks through the places, none of which takes the next key', async () => {
    await world.connect(demo);
    const page = await world.visit('#/server');
    await place(page).getByRole('heading', { name: 'Overview' }).waitFor();
    for (const [key, address, shown] of [
      ['1', '#/tools', '.tools-page input.field'],
      ['2', '#/resources', '.resources-content'],
      ['3', '#/prompts', '.prompts-form input'],
      ['5', '#/server', '.server-facts'],
      ['1', '#/tools', '.tools-page input.field'],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(() => new URL(page.url()).hash).toBe(address);
      await page.locator(shown).first().waitFor();
      await settled(page);
    }
    await focusIn(page, '.list-row', /^add/);
    await page.goto(`${page.url().split('#')[0]}#/prompts/explain`);
    await focusIn(page, '.list-row', /^explain/);
    await page.keyboard.press('Enter');
    await focusIn(page, '.form-field', /topic/);
  });
});

/** Waits until the effects of what is shown have run: they come after the next frame. */
function settled(page: Page): Promise<void> {
  return page.evaluate(
    () =>
      new Promise<void>((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))),
      ),
  );
}

/** Waits until the focus is in an element with these words: keys that come before it belong to something else. */
async function focusIn(page: Page, selector: string, words: RegExp): Promise<void> {
  await expect
    .poll(() =>
      page.evaluate((around) => document.activeElement?.closest(around)?.textContent ?? '', selector),
    )
    .toMatch(words);
}
