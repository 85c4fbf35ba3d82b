import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import demo from '../../../examples/demo/server.js';
import { describeInChromium } from '../../browser/chromium.js';
import { until } from '../../support/until.js';
import { place } from './support/find.js';
import { usePage } from './support/world.js';

const WIDTHS = [1440, 1024, 390];

describeInChromium('menus and dialogs of the page', () => {
  const world = usePage();
  beforeAll(async () => {
    const connection = await world.connect(demo);
    for (let a = 1; a <= 12; a++)
      await world.inspector.run('call', { connection, tool: 'add', args: { a, b: 40 } });
    await until('the calls are over', () => world.storiesOf('add').at(-1)?.state === 'ok');
  });

  describe.each(WIDTHS)('in a window of %i pixels', (width) => {
    test.each([
      ['the runs of a tool', /^#\d+/, 12],
      ['the forms of a copy', /^Copy as/, 5],
    ])('%s can all be seen and clicked', async (_, name, count) => {
      const page = await world.visit('#/tools/add', { width, height: 800 });
      await place(page).getByRole('button', { name }).click();
      const items = page.getByRole('menuitem');
      await items.first().waitFor();
      expect(await items.count()).toBeGreaterThanOrEqual(count);
      expect(await hidden(page, items)).toEqual([]);
    });

    test('the servers can all be seen and clicked', async () => {
      const page = await world.visit('#/tools', { width, height: 800 });
      await page.getByRole('button', { name: /Servers/ }).click();
      await page.getByRole('menuitem').first().waitFor();
      expect(await hidden(page, page.getByRole('menuitem'))).toEqual([]);
    });
  });

  test('a menu that is higher than its window scrolls inside of it', async () => {
    const page = await world.visit('#/tools/add', { width: 390, height: 320 });
    await place(page).getByRole('button', { name: /^#\d+/ }).click();
    const last = page.getByRole('menuitem').last();
    await last.scrollIntoViewIfNeeded();
    expect(await hidden(page, last)).toEqual([]);
    const box = await page.locator('.popover').boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual(0);
    expect((box?.y ?? 0) + (box?.height ?? 320)).toBeLessThan(320);
  });

  test('the first Escape closes what lies above the page, and the focus returns to where it was', async () => {
    const page = await world.visit('#/tools/add');
    const field = place(page).getByLabel(/^a\*?$/);
    await field.focus();
    for (const [open, role] of [
      ['Control+k', 'dialog'],
      ['?', 'dialog'],
    ] as const) {
      if (open === '?')
        await place(page)
          .getByRole('link', { name: /^add\b/ })
          .first()
          .focus();
      await page.keyboard.press(open);
      await page.getByRole(role).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole(role).waitFor({ state: 'detached', timeout: 3000 });
      const focused = await page.evaluate(() => document.activeElement?.tagName);
      expect(focused).toBe(open === '?' ? 'A' : 'INPUT');
    }
    const servers = page.getByRole('button', { name: /Servers/ });
    await servers.click();
    await page.getByRole('menu').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached', timeout: 3000 });
    expect(await servers.evaluate((button) => button === document.activeElement)).toBe(true);
  });

  test('Escape closes the suggestions of a field before it leaves the field', async () => {
    const page = await world.visit('#/prompts/explain');
    const topic = place(page).getByRole('combobox', { name: /^topic/ });
    await topic.fill('br');
    await page.getByRole('option', { name: 'bread' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('option', { name: 'bread' }).waitFor({ state: 'detached' });
    expect(await topic.evaluate((input) => input === document.activeElement)).toBe(true);
    await page.keyboard.press('Escape');
    expect(await topic.evaluate((input) => input === document.activeElement)).toBe(false);
  });

  test('the keys of the page rest while a dialog is above it', async () => {
    const page = await world.visit('#/tools/add');
    await place(page).getByRole('button', { name: 'Run', exact: true }).waitFor();
    await page.getByRole('button', { name: 'All keys' }).click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('2');
    expect(await page.evaluate(() => location.hash)).toBe('#/tools/add');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('2');
    await expect.poll(() => page.evaluate(() => location.hash)).toBe('#/resources');
  });

  test('the keys of the page work again at once when a dialog is closed, not a frame later', async () => {
    const page = await world.visit('#/tools/add');
    await place(page).getByRole('button', { name: 'Run', exact: true }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    const after = await page.evaluate(async () => {
      const press = (key: string) =>
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
      press('Escape');
      // The browser draws no frame between two microtasks.
      while (document.querySelector('dialog')) await Promise.resolve();
      press('2');
      return location.hash;
    });
    expect(after).toBe('#/resources');
  });

  test('a menu is walked through with arrow keys, Home, End and the first letters of an item', async () => {
    const page = await world.visit('#/tools/add');
    const button = page.getByRole('button', { name: /Servers/ });
    await button.focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('menuitem').first().waitFor();
    // Letters that follow each other quickly are one word, and on a busy machine nothing is quick.
    await page.clock.setFixedTime(Date.now());
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
    const walked: string[] = [];
    for (const key of ['End', 'Home', 'ArrowUp', 'ArrowDown', 't', 'a', 'Home', 'ArrowDown']) {
      await page.keyboard.press(key);
      walked.push((await focused()).replace(/ready$/, ''));
    }
    const [first = '', about, tapes, last] = [
      walked[1],
      'About this server',
      'Tapes',
      'Connect to another server',
    ];
    expect(first).toContain('demo');
    expect(walked).toEqual([last, first, last, first, tapes, tapes, first, about]);
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    expect(await page.evaluate(() => document.activeElement?.ariaLabel)).toMatch(/^Disconnect/);
    await page.keyboard.press('ArrowLeft');
    expect(await focused()).toContain('demo');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => location.hash)).toBe('#/connect');
  });

  test('keys have the names of the keyboard: ⌘ on a Mac, Ctrl elsewhere', async () => {
    for (const [platform, key, shortcut] of [
      ['MacIntel', '⌘', 'Meta+Enter'],
      ['Win32', 'Ctrl', 'Control+Enter'],
    ] as const) {
      const page = await world.visit('#/tools/add', { platform });
      const run = place(page).getByRole('button', { name: 'Run', exact: true });
      await run.waitFor();
      expect(await run.locator('kbd').allTextContents()).toEqual([key, '⏎']);
      expect(await run.getAttribute('aria-keyshortcuts')).toBe(shortcut);
      expect(await page.getByRole('button', { name: /^Search/ }).getAttribute('title')).toContain(`${key} K`);
      await page.getByRole('button', { name: 'All keys' }).click();
      expect(await page.getByRole('dialog').textContent()).toContain(`${key}.stop the running call`);
    }
  });
});

/** The items that are not wholly in the window, or that something else covers. */
async function hidden(page: Page, items: Locator): Promise<readonly string[]> {
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  const found: string[] = [];
  for (const item of await items.all()) {
    const box = await item.boundingBox();
    const isInside =
      box !== null && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height;
    const isOnTop = await item.evaluate((element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      const y = (top + bottom) / 2;
      return [left + 2, right - 2].every((x) => element.contains(document.elementFromPoint(x, y)));
    });
    if (!isInside || !isOnTop) found.push(`${await item.textContent()}`);
  }
  return found;
}
