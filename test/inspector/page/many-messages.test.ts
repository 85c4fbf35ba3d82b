import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServedInspector, serveInspector } from '../../../src/inspector/host/serve-inspector.js';
import { describeInChromium, launch } from '../../browser/chromium.js';
import { longestTask, slowness } from './main-thread.js';
import { type ManyStories, manyStories } from './many-stories.js';

const STORIES = 2000;

describeInChromium('the timeline with 10,000 messages', () => {
  let browser: Browser;
  let served: ServedInspector;
  let many: ManyStories;
  let page: Page;
  /** 50 ms, or more on a computer that is very slow. */
  let most: number;

  beforeAll(async () => {
    many = manyStories(STORIES);
    served = await serveInspector(many.inspector);
    browser = await launch();
    page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(`${served.url}#/timeline`);
    await page.locator('#timeline-list [role=option]').first().waitFor();
    most = 50 * (await slowness(page));
  });

  afterAll(async () => {
    await browser?.close();
    await served?.close();
  });

  const list = () => page.locator('#timeline-list');
  const rows = () => list().getByRole('option');
  const frame = () => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => resolve(0))));

  /** Scrolls the list a long way, a step for each frame. */
  const scroll = async () => {
    for (let step = 1; step <= 40; step++) {
      await list().evaluate((element, part) => {
        element.scrollTop = ((part * 7919) % 40) * (element.scrollHeight / 40);
      }, step);
      await frame();
    }
  };

  it('has a few rows only, and says to assistive technology how many there are', async () => {
    expect(await rows().count()).toBeLessThan(120);
    expect(await rows().first().getAttribute('aria-setsize')).toBe(String(STORIES));
    expect(await rows().first().textContent()).toContain('result number 2000');
  });

  it('scrolls through all calls without a task over 50 ms', async () => {
    expect(await longestTask(page, scroll)).toBeLessThan(most);
    await list().evaluate((element) => {
      element.scrollTop = element.scrollHeight;
    });
    await rows().getByText('result number 1 of').waitFor();
  });

  it('searches all messages while one types without a task over 50 ms', async () => {
    const field = page.getByRole('searchbox', { name: 'Search calls and messages' });
    await field.focus();
    expect(
      await longestTask(page, async () => {
        await page.keyboard.type('needle1234-', { delay: 15 });
        await expect.poll(() => rows().first().getAttribute('aria-setsize')).toBe('1');
      }),
    ).toBeLessThan(most);
    expect(await rows().count()).toBe(1);
    await page.keyboard.press('Escape');
    await expect.poll(() => rows().first().getAttribute('aria-setsize')).toBe(String(STORIES));
  });

  it('scrolls through all messages without a task over 50 ms', async () => {
    await page.getByRole('button', { name: 'Messages', exact: true }).click();
    await expect.poll(() => rows().first().getAttribute('aria-setsize')).toBe('10000');
    expect(await longestTask(page, scroll)).toBeLessThan(most);
    await page.getByRole('button', { name: 'Calls', exact: true }).click();
  });

  it('takes a flood of new calls without a task over 50 ms, and stays where one reads', async () => {
    await list().evaluate((element) => {
      element.scrollTop = 20_000;
    });
    await frame();
    const read = await page.evaluate(() => document.elementFromPoint(300, 500)?.closest('[role=option]')?.id);
    const longest = await longestTask(page, async () => {
      for (let burst = 0; burst < 20; burst++) {
        for (let each = 0; each < 20; each++) many.addCall();
        await frame();
      }
      await expect.poll(() => rows().first().getAttribute('aria-setsize')).toBe(String(STORIES + 400));
    });
    expect(longest).toBeLessThan(most);
    await frame();
    expect(await page.evaluate(() => document.elementFromPoint(300, 500)?.closest('[role=option]')?.id)).toBe(
      read,
    );
  });

  it('is walked through with the keyboard, and sends a call again with r', async () => {
    await list().focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('j');
    const active = await list().getAttribute('aria-activedescendant');
    expect(active).toBe(`timeline-list-${STORIES + 400 - 1}`);
    expect(await page.locator(`#${active}`).getAttribute('aria-selected')).toBe('true');
    await page.getByText('client → server').or(page.getByText('server → client')).first().waitFor();
    await page.keyboard.press('r');
    await expect
      .poll(() => many.commands)
      .toContainEqual({ command: 'again', input: { story: STORIES + 399 } });
    await expect
      .poll(() => list().getAttribute('aria-activedescendant'))
      .toBe(`timeline-list-${STORIES + 400}`);
    await page.keyboard.press('End');
    await expect.poll(() => list().getAttribute('aria-activedescendant')).toBe('timeline-list-1');
    await rows().getByText('result number 1 of').first().waitFor();
  });

  it('stays with the call that one went to before a call that was sent again has begun', async () => {
    await list().focus();
    await page.keyboard.press('Home');
    const release = many.holdAgain();
    const sent = page.waitForRequest((request) => request.url().includes('again'));
    await page.keyboard.press('r');
    const answered = (await sent).response();
    await page.keyboard.press('End');
    await expect.poll(() => list().getAttribute('aria-activedescendant')).toBe('timeline-list-1');
    release();
    await (await answered)?.finished();
    for (let frames = 0; frames < 3; frames++) await frame();
    expect(await list().getAttribute('aria-activedescendant')).toBe('timeline-list-1');
  });

  it('lets what comes in wait while it is paused', async () => {
    const before = await rows().first().getAttribute('aria-setsize');
    await page.getByRole('button', { name: 'Pause' }).click();
    many.addCall();
    await page.getByText('1 new').waitFor();
    expect(await rows().first().getAttribute('aria-setsize')).toBe(before);
    await page.getByRole('button', { name: 'Go on' }).click();
    await expect.poll(() => rows().first().getAttribute('aria-setsize')).toBe(String(Number(before) + 1));
  });
});
