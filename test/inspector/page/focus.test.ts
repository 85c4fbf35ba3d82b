import { createServer, tool } from 'fullmcp';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import demo from '../../../examples/demo/server.js';
import { describeInChromium } from '../../browser/chromium.js';
import { place } from './support/find.js';
import { usePage } from './support/world.js';

const many = createServer({
  name: 'many',
  version: '1.0.0',
  tools: Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [
      `${at % 2 === 0 ? 'stripe' : 'github'}_tool_${at}`,
      tool({ input: z.object({ query: z.string() }), run: () => 'ok' }),
    ]),
  ),
});

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { activeElement } = document;
    return activeElement?.ariaLabel || activeElement?.id || activeElement?.textContent || '';
  });
const hash = (page: Page): Promise<string> => page.evaluate(() => location.hash);

describeInChromium('the focus of the page', () => {
  const world = usePage();

  test('begins in the list of tools: keys of the page work at once, and Enter goes into the form', async () => {
    await world.connect(demo);
    const page = await world.visit('#/tools/find_order');
    await place(page).getByRole('button', { name: 'Run', exact: true }).waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.ariaCurrent)).toBe('true');
    for (const [key, place] of [
      ['2', '#/resources'],
      ['3', '#/prompts'],
      ['1', '#/tools'],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(() => hash(page)).toBe(place);
    }
    await page.keyboard.press('t');
    await expect.poll(() => focused(page)).toMatch(/Calls|timeline/);
    await page.keyboard.press('/');
    await expect.poll(() => focused(page)).toBe('Filter Tools');
    await page.keyboard.type('find_or');
    await page.keyboard.press('Enter');
    await expect.poll(() => hash(page)).toBe('#/tools/find_order');
    await expect.poll(() => focused(page)).toBe('argument/id');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.evaluate(() => document.activeElement?.ariaCurrent)).toBe('true');
    await page.keyboard.press('Enter');
    await expect.poll(() => focused(page)).toBe('argument/id');
  });

  test('waits for a timeline that is not there yet, and is then in its list', async () => {
    const id = await world.connect(demo);
    await world.inspector.run('call', { connection: id, tool: 'add', args: { a: 1, b: 2 } });
    await expect.poll(() => world.storiesOf('add').at(-1)?.state).toBe('ok');
    const page = await world.visit('#/tools/add');
    let letThrough = (): void => {};
    const held = new Promise<void>((resolve) => {
      letThrough = resolve;
    });
    await page.route(/\/timeline-.*\.js/, async (route) => {
      await held;
      await route.continue();
    });
    await page.reload();
    await expect.poll(() => page.evaluate(() => document.activeElement?.ariaCurrent)).toBe('true');
    await page.keyboard.press('t');
    await expect.poll(() => focused(page)).toBe('timeline');
    letThrough();
    await expect.poll(() => focused(page)).toBe('Calls, newest first');
  });

  test('begins in the filter of a long list, and a slash does not get into it', async () => {
    const id = await world.connect(many);
    for (const other of world.inspector.snapshot().connections.filter((each) => each.id !== id))
      await world.inspector.run('disconnect', { connection: other.id });
    const page = await world.visit('#/tools');
    await expect.poll(() => focused(page)).toBe('Filter Tools');
    await page.keyboard.type('/stripe 12');
    expect(await page.getByLabel('Filter Tools').inputValue()).toBe('stripe 12');
    await page.keyboard.press('Enter');
    await expect.poll(() => hash(page)).toBe('#/tools/stripe_tool_12');
    await expect.poll(() => focused(page)).toBe('argument/query');
    expect(await page.getByLabel(/^query/).inputValue()).toBe('');
  });

  test('is at “Try again” after a connection failed, whose address is in the field', async () => {
    const url = 'http://127.0.0.1:9/mcp';
    const id = await world.inspector.open({ text: url });
    await expect
      .poll(() => world.inspector.snapshot().connections.find((each) => each.id === id)?.status)
      .toBe('failed');
    for (const each of world.inspector.snapshot().connections)
      if (each.id !== id) await world.inspector.run('disconnect', { connection: each.id });
    const page = await world.visit('#/connect');
    await page.getByText('Could not connect to').waitFor();
    await expect.poll(() => focused(page)).toMatch(/try again/i);
    expect(await page.getByLabel(/^A URL, a command/).inputValue()).toBe(url);
  });
});
