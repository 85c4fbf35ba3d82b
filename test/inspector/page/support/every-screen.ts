import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import demo from '../../../../examples/demo/server.js';
import { describeInChromium } from '../../../browser/chromium.js';
import { until } from '../../../support/until.js';
import { loadAxe, violations } from './axe.js';
import { usePage } from './world.js';

const SCREENS: readonly (readonly [screen: string, hash: string, ready: string])[] = [
  ['Connect', '#/connect', 'h1, textarea'],
  ['a tool with its result', '#/tools/add?a=2&b=40', '.tools-page'],
  ['a nested form', '#/tools/place_order', '.tools-page'],
  ['a question', '#/tools/order_pizza', '.question'],
  ['a resource', '#/resources/notes%3A%2F%2Fall', '.resources-content'],
  ['a template', '#/resources/notes%3A%2F%2F%7Bid%7D', '.resources-template'],
  ['a prompt', '#/prompts/explain', '.prompts-result'],
  ['tasks', '#/tasks', '.tasks'],
  ['the timeline', '#/timeline', '.timeline-bar'],
  ['tapes', '#/tapes', '.tapes'],
  ['the overview of the server', '#/server/overview', '.server-facts'],
  ['authorization', '#/server/auth', '.server'],
  ['logs', '#/server/logs', '.logs'],
  ['latency', '#/server/latency', '.server-histogram'],
  ['tokens', '#/server/tokens', '.server-tokens'],
  ['findings', '#/server/findings', '.server-findings'],
  ['settings', '#/server/settings', '.server-settings'],
];

/** The tests of every screen in one theme and at one width. Each file of `axe/` has one of them, so that they run side by side. */
export function testEveryScreen(theme: 'light' | 'dark', width: number): void {
  describeInChromium('axe finds nothing', () => {
    const world = usePage();
    beforeAll(async () => {
      const connection = await world.connect(demo);
      const run = (name: string, input: object): Promise<object> =>
        world.inspector.run(name, { connection, ...input });
      await run('call', { tool: 'add', args: { a: 2, b: 40 } });
      await run('call', { tool: 'find_order', args: { id: 9 } });
      await run('call', { tool: 'order_pizza', args: {} });
      await run('call', { tool: 'bake_bread', args: { stepMs: 5 }, asTask: true });
      await run('read', { uri: 'notes://all' });
      await run('subscribe', { uri: 'notes://all' });
      await run('prompt', { name: 'explain', args: { topic: 'bread' } });
      await until('the prompt is there', () => world.storiesOf('explain').at(-1)?.state === 'ok');
      await until('the tool asks', () => world.storiesOf('order_pizza').at(-1)?.state === 'asks');
    });

    describe(`in the ${theme} theme, ${width} wide`, () => {
      let page: Page;
      beforeAll(async () => {
        page = await world.visit('#/server/settings', { theme, width, isKept: true });
        await loadAxe(page);
      });

      test.each(SCREENS)('on %s', async (_, hash, ready) => {
        await page.evaluate((address) => {
          location.hash = address;
        }, hash);
        await page.locator(ready).first().waitFor();
        expect(await violations(page)).toEqual([]);
        // Nothing scrolls sideways.
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      });
    });
  });
}
