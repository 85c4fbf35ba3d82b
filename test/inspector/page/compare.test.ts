import { randomUUID } from 'node:crypto';
import { createServer, tool } from 'fullmcp';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type Serving, serve } from '../../../src/node.js';
import { describeInChromium } from '../../browser/chromium.js';
import { loadAxe, violations } from './support/axe.js';
import { place } from './support/find.js';
import { usePage } from './support/world.js';

let turn = 0;
const shop = (name: string, more: object = {}) =>
  createServer({
    name,
    version: '1.0.0',
    tools: {
      order: tool({
        input: z.object({ size: z.string() }),
        run: ({ size }) => {
          turn++;
          const facts = { orderId: randomUUID(), takenAt: new Date().toISOString(), tookMs: turn };
          // The order of fields differs from run to run.
          return turn % 2 === 0 ? { size, price: 9, ...facts } : { ...facts, price: 9, size };
        },
      }),
      poem: tool({
        input: z.object({ last: z.string() }),
        run: ({ last }) => ['one', 'two', 'three', 'four', 'five', 'six', 'seven', last].join('\n'),
      }),
      ...more,
    },
  });

describeInChromium('two runs', () => {
  const world = usePage();
  const [first, second] = [shop('first'), shop('second', { extra: tool({ run: () => 'more' }) })];
  let serving: Serving;
  let ids: readonly string[];
  beforeAll(async () => {
    serving = await serve(first, { port: 0, signals: false });
    ids = [await world.connect(second), await world.connect(serving.url)];
  }, 120_000);
  afterAll(() => serving.close());

  async function call(name: string, args: object): Promise<number> {
    const { story } = (await world.inspector.run('call', { connection: ids[1], tool: name, args })) as {
      story: number;
    };
    await expect
      .poll(() => world.inspector.snapshot().stories.find(({ id }) => id === story)?.state)
      .toBe('ok');
    return story;
  }
  const part = (page: Page, name: string) => place(page).getByRole('region', { name, exact: true });

  test('that differ in ids, times, durations and the order of fields alone are equal', async () => {
    const [one, other] = [await call('order', { size: 'large' }), await call('order', { size: 'large' })];
    const page = await world.visit(`#/compare/${one}..${other}`);
    await part(page, 'Result').getByText('The results are equal.').waitFor();
    await part(page, 'Arguments').getByText('The arguments are equal.').waitFor();
    const apart = part(page, 'New each time');
    for (const name of ['orderId', 'takenAt', 'tookMs'])
      expect(await apart.getByRole('rowheader', { name }).count()).toBe(1);
    await loadAxe(page);
    expect(await violations(page)).toEqual([]);
  });

  test('show the lines that differ, or all lines, and the switch is remembered', async () => {
    const [one, other] = [await call('poem', { last: 'end' }), await call('poem', { last: 'END' })];
    const page = await world.visit(`#/compare/${one}..${other}`);
    const result = part(page, 'Result');
    await result.getByText('The results differ.').waitFor();
    await place(page).getByRole('heading', { name: 'poem #1 and #2', exact: true }).waitFor();
    expect(await result.locator('.difference-line.removed').allTextContents()).toEqual([
      expect.stringContaining('end'),
    ]);
    expect(await result.locator('.difference-line.added').allTextContents()).toEqual([
      expect.stringContaining('END'),
    ]);
    expect(await result.getByText('two', { exact: true }).count()).toBe(0);
    await page.getByRole('checkbox', { name: 'Only what differs' }).uncheck();
    await result.getByText('two').waitFor();
    await page.reload();
    await result.getByText('two').waitFor();
    await page.getByRole('link', { name: 'Swap' }).click();
    await expect
      .poll(() => result.locator('.difference-line.removed').allTextContents())
      .toEqual([expect.stringContaining('END')]);
    await loadAxe(page);
    expect(await violations(page)).toEqual([]);
  });

  test('are chosen by a mark and the menu of another run, with the keyboard', async () => {
    const [one, other] = [await call('poem', { last: 'a' }), await call('order', { size: 'b' })];
    const page = await world.visit(`#/call/${one}`);
    await place(page).getByRole('button', { name: 'Compare' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Mark, to compare' }).press('Enter');
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#/call/${other}`);
    await place(page).getByRole('heading', { name: 'order' }).waitFor();
    await place(page).getByRole('button', { name: 'Compare' }).press('Enter');
    await page.getByRole('menuitem', { name: /^With the marked run poem #\d+$/ }).press('Enter');
    await place(page)
      .getByRole('heading', { name: /^poem #\d+ and order #\d+$/ })
      .waitFor();
    await part(page, 'Arguments').getByText('The arguments differ.').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => new URL(page.url()).hash).toBe(`#/call/${other}`);
  });

  test('are made by running a call again on another server, and then what both offer is compared', async () => {
    await call('poem', { last: 'end' });
    const page = await world.visit('#/tools/poem');
    await place(page).getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('menuitem', { name: /^Run again on second .*, and compare$/ }).click();
    await part(page, 'Result').getByText('The results are equal.').waitFor();
    // Both may be the first run of the tool on their server.
    await place(page)
      .getByRole('heading', { name: /^poem #\d+ on first [\d-]+ and poem #1 on second [\d-]+$/ })
      .waitFor();
    await place(page).getByRole('link', { name: 'Compare what both servers offer' }).click();
    await place(page)
      .getByText(/differences?, 0 of them breaking\./)
      .waitFor();
    await place(page).getByRole('listitem').filter({ hasText: 'extra' }).getByText('new').waitFor();
    await loadAxe(page);
    expect(await violations(page)).toEqual([]);
  });

  test('are made by running a call again in another revision', async () => {
    await call('poem', { last: 'end' });
    const page = await world.visit('#/tools/poem', { width: 390 });
    const before = world.inspector.snapshot().connections.length;
    await place(page).getByRole('button', { name: 'Result' }).click();
    await place(page).getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('menuitem', { name: 'Run again in 2025-06-18, and compare' }).click();
    await part(page, 'Result').getByText('The results are equal.').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    const views = world.inspector.snapshot().connections;
    expect(views).toHaveLength(before + 1);
    expect(views.at(-1)?.revision).toBe('2025-06-18');
    // The next one finds the connection that is open.
    const story = world.storiesOf('poem').at(-1)?.id;
    await world.inspector.run('again', { story, connection: ids[1], revision: '2025-06-18' });
    expect(world.inspector.snapshot().connections).toHaveLength(before + 1);
  });

  test('of which one is gone are a sentence', async () => {
    const page = await world.visit('#/compare/1..99999');
    await place(page).getByText('There is nothing to compare.').waitFor();
  });
});
