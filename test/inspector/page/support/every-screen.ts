import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import demo from '../../../../examples/demo/server.js';
import { describeInChromium } from '../../../browser/chromium.js';
import { until } from '../../../support/until.js';
import { loadAxe, violations } from './axe.js';
import { place } from './find.js';
import { type PageWorld, usePage } from './world.js';

interface Screen {
  /** The address; of a story, a task or a tape, it is known when they are there. */
  readonly hash: string | ((world: PageWorld) => string);
  /** The element that is there when the screen is. */
  readonly ready: string;
  /** Opens what lies above the page, or what is folded. */
  readonly open?: (page: Page) => Promise<void>;
}

const click =
  (role: 'button' | 'link', name: string | RegExp) =>
  (page: Page): Promise<void> =>
    page.getByRole(role, { name }).first().click();
const press =
  (...keys: readonly string[]) =>
  async (page: Page): Promise<void> => {
    await page.locator('.tools').waitFor();
    // A key of the page, not a letter in a field.
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    for (const key of keys) await page.keyboard.press(key);
  };
/** On a phone, the form and the result take turns. */
const toResult = async (page: Page): Promise<void> => {
  await page.locator('.tools-page.has-result').waitFor();
  const tab = page.locator('.tools-tabs').getByRole('button', { name: 'Result' });
  if (await tab.isVisible()) await tab.click();
};
const latest = (world: PageWorld, title: string) => world.storiesOf(title).at(-1);
const callOf = (title: string) => (world: PageWorld) => `#/call/${latest(world, title)?.id}`;

const SCREENS: Readonly<Record<string, Screen>> = {
  'Connect with its details': {
    hash: '#/connect',
    ready: '#connect-caller:visible',
    open: (page) => page.locator('.connect-details summary').click(),
  },
  'a tool with its result': { hash: '#/tools/add?a=2&b=40', ready: '.tools-page' },
  'the runs of a tool': {
    hash: '#/tools/add',
    ready: '.popover [role=menuitem]',
    open: (page) => place(page).getByRole('button', { name: /^#\d+/ }).click(),
  },
  'the forms of a copy': {
    hash: '#/tools/add',
    ready: '.popover [role=menuitem]',
    open: (page) => place(page).getByRole('button', { name: 'Copy as' }).click(),
  },
  'keeping a request': {
    hash: '#/tools/add',
    ready: 'dialog .save-request',
    open: (page) => toResult(page).then(() => press('s')(page)),
  },
  'a raw result': {
    hash: '#/tools/add',
    ready: '[aria-selected=true]:has-text("Raw")',
    open: (page) => toResult(page).then(() => press('w')(page)),
  },
  'the servers': { hash: '#/tools', ready: '.popover [role=menuitem]', open: click('button', /Servers/) },
  'the search': { hash: '#/tools', ready: 'dialog [role=option]', open: press('Control+k') },
  'all keys': { hash: '#/tools', ready: 'dialog .frame-key-list', open: press('?') },
  'a filter that fits nothing': {
    hash: '#/tools',
    ready: '.list-none',
    open: (page) => page.getByLabel('Filter Tools').fill('zzz'),
  },
  'a tool that is not there': { hash: '#/tools/none', ready: '.empty' },
  'a prompt that is not there': { hash: '#/prompts/none', ready: '.empty' },
  'a call that is not there': { hash: '#/call/0', ready: '.empty' },
  'a tool that failed': { hash: '#/tools/find_order', ready: '.tools-result.is-tool-error', open: toResult },
  'the arguments as JSON': {
    hash: '#/tools/paint',
    ready: '.tools-form textarea',
    open: click('button', 'JSON'),
  },
  'a nested form': { hash: '#/tools/place_order', ready: '.tools-page' },
  'a nested form with mistakes': {
    hash: '#/tools/place_order',
    ready: '.form-error',
    open: press('Control+Enter'),
  },
  'the findings of a tool': {
    hash: '#/tools/place_order',
    ready: '.tools-finding-list',
    open: click('button', /^\d+ findings? ·/),
  },
  'a question': { hash: '#/tools/order_pizza', ready: '.question' },
  'the story of a call': { hash: callOf('add'), ready: '.story .message' },
  'the story of a call that asks': { hash: callOf('order_pizza'), ready: '.story .question' },
  'a resource': { hash: '#/resources/notes%3A%2F%2Fall', ready: '.resources-content' },
  'a template': { hash: '#/resources/notes%3A%2F%2F%7Bid%7D', ready: '.resources-template' },
  'a prompt': { hash: '#/prompts/explain', ready: '.prompts-result' },
  suggestions: {
    hash: '#/prompts/explain',
    ready: '[role=option]:has-text("bread")',
    open: (page) =>
      place(page)
        .getByRole('combobox', { name: /^topic/ })
        .fill('br'),
  },
  tasks: { hash: '#/tasks', ready: '.tasks-follow' },
  'a task': { hash: (world) => `#/task/${latest(world, 'bake_bread')?.task?.id}`, ready: '.task' },
  'the timeline': { hash: '#/timeline', ready: '.timeline-bar' },
  'the timeline with a message': {
    hash: '#/timeline',
    ready: '.detail .message-facts',
    open: async (page) => {
      await page.locator('#timeline-list').focus();
      await page.keyboard.press('ArrowDown');
    },
  },
  'the messages of the timeline': {
    hash: '#/timeline',
    ready: '[aria-label="Messages, oldest first"]',
    open: click('button', 'Messages'),
  },
  'the timeline beside a tool': { hash: '#/tools/add', ready: '.timeline-bar', open: press('t') },
  'the chat before a model is chosen': { hash: '#/chat', ready: '.chat-form' },
  requests: { hash: '#/requests', ready: '.requests-row' },
  'requests with their reports': {
    hash: '#/requests',
    ready: '.requests-problems',
    open: (page) => page.getByRole('button', { name: 'Run all' }).click(),
  },
  'requests that may change something': {
    hash: '#/requests',
    ready: '.requests-risky',
    open: async (page) => {
      writeFileSync(file, requests({ name: 'a note', tool: 'add_note', arguments: { text: 'x' } }));
      await page.getByRole('button', { name: 'Read the file again' }).click();
      await page.getByText('a note').waitFor();
      await page.getByRole('button', { name: 'Run all' }).click();
    },
  },
  tapes: { hash: '#/tapes', ready: '.tapes' },
  'a tape': {
    hash: (world) => `#/tapes/${world.inspector.snapshot().tapes[0]?.id}`,
    ready: 'h3:has-text("Make these calls again")',
  },
  'the overview of the server': { hash: '#/server/overview', ready: '.server-facts' },
  authorization: { hash: '#/server/auth', ready: '.server' },
  logs: { hash: '#/server/logs', ready: '.logs' },
  latency: { hash: '#/server/latency', ready: '.server-histogram' },
  tokens: { hash: '#/server/tokens', ready: '.server-tokens' },
  findings: { hash: '#/server/findings', ready: '.server-findings' },
  settings: { hash: '#/server/settings', ready: '.server-settings' },
};

const folder = mkdtempSync(join(tmpdir(), 'fullmcp-screens-'));
const file = join(folder, 'mcp.requests.json');
const requests = (...more: readonly object[]): string =>
  JSON.stringify({
    version: 1,
    env: ['SHOP_KEY'],
    requests: [
      { name: 'adds', tool: 'add', arguments: { a: 2, b: 40 }, expect: { equal: 42 } },
      { name: 'finds a rope', tool: 'find_order', arguments: { id: 1 }, expect: { contains: 'Rope' } },
      ...more,
    ],
  });

/** The tests of every screen in one theme and at one width. Each file of `axe/` has one of them, so that they run side by side. */
export function testEveryScreen(theme: 'light' | 'dark', width: number): void {
  describeInChromium('axe finds nothing', () => {
    const world = usePage({ requestsFile: file });
    beforeAll(async () => {
      // Test files that run in one process share this folder, one after the other.
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, requests());
      const connection = await world.connect(demo);
      const run = (name: string, input: object): Promise<object> =>
        world.inspector.run(name, { connection, ...input });
      await run('call', { tool: 'add', args: { a: 1, b: 40 } });
      await run('call', { tool: 'add', args: { a: 2, b: 40 } });
      await run('call', { tool: 'find_order', args: { id: 9 } });
      await run('call', { tool: 'order_pizza', args: {} });
      await run('call', { tool: 'bake_bread', args: { stepMs: 5 }, asTask: true });
      await run('read', { uri: 'notes://all' });
      await run('subscribe', { uri: 'notes://all' });
      await run('prompt', { name: 'explain', args: { topic: 'bread' } });
      await until('the prompt is there', () => latest(world, 'explain')?.state === 'ok');
      await until('the tool asks', () => latest(world, 'order_pizza')?.state === 'asks');
      await until('the task has its id', () => latest(world, 'bake_bread')?.task !== undefined);
      await run('importTape', { name: 'demo', text: world.inspector.tape(connection) });
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    describe(`in the ${theme} theme, ${width} wide`, () => {
      let page: Page;
      beforeAll(async () => {
        page = await world.visit('#/server/settings', { theme, width, isKept: true });
        await loadAxe(page);
      });

      test.each(Object.entries(SCREENS))('on %s', async (_, { hash, ready, open }) => {
        // Nothing of the screen before is left: neither what was opened there, nor what was typed.
        await page.evaluate(
          (address) => {
            location.hash = address;
          },
          typeof hash === 'string' ? hash : hash(world),
        );
        await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
        await open?.(page);
        await page.locator(ready).first().waitFor();
        expect(await violations(page)).toEqual([]);
        // Nothing scrolls sideways.
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        await page.keyboard.press('Escape');
        await expect.poll(() => page.locator('.popover, dialog').count()).toBe(0);
      });
    });
  });
}
