// From a failure to its cause, and from a tool to its findings.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createServer, tool } from 'fullmcp';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { describeInChromium } from '../../browser/chromium.js';
import { until } from '../../support/until.js';
import { place, result, runTool } from './support/find.js';
import { usePage } from './support/world.js';

const program = fileURLToPath(new URL('../../../dist/cli/fullmcp.js', import.meta.url));
const zoo = fileURLToPath(new URL('../session/fixtures/zoo.js', import.meta.url));
const target = (env: Readonly<Record<string, string>> = {}) => ({
  command: process.execPath,
  args: [program, 'run', zoo],
  env,
});

describeInChromium('the page', () => {
  const world = usePage();

  describe('a server that dies', () => {
    test('shows its last words in the call, and its cause on top of the banner with the rest folded', async () => {
      const mark = join(mkdtempSync(join(tmpdir(), 'zoo-')), 'died');
      await world.connect(target({ ZOO_MARK: mark }));
      const page = await world.visit('#/tools/dies');
      await runTool(page);
      const panel = place(page).locator('.error-panel');
      await panel.waitFor();
      expect(await panel.locator('strong').first().innerText()).toBe('FATAL: out of cheese');
      expect(await panel.getByRole('figure', { name: 'The last lines of stderr' }).innerText()).toContain(
        'the fence is open\nFATAL: out of cheese',
      );
      expect(await panel.innerText()).toContain(
        `The server ${JSON.stringify(zoo)} has ended with exit code 3.`,
      );
      // The server does not start again, so that the banner stays.
      const banner = page.locator('.frame-banner');
      await banner.waitFor();
      expect(await banner.locator('p').first().innerText()).toMatch(/^FATAL: (out of|still no) cheese$/);
      expect(await banner.locator('details').getAttribute('open')).toBeNull();
      expect((await banner.boundingBox())?.height).toBeLessThan(140);
      expect(await page.locator('body').innerText()).not.toContain('fullmcp.js');
    });
  });

  describe('the reference in an error', () => {
    test('is a link to the stack in the log, with the line of the handler on top', async () => {
      await world.connect(target());
      const page = await world.visit('#/tools/crashes');
      await runTool(page);
      const link = result(page).getByRole('link', { name: /^ref [0-9a-f]{8}$/ });
      await link.waitFor();
      const text = await result(page).innerText();
      expect(text).toContain('TypeError: order 7 has no price');
      expect(text).toMatch(/at pay \(.*zoo\.js:\d+:\d+\)/);
      await link.click();
      await page.getByRole('figure', { name: 'Stack' }).waitFor();
      const lines = (await place(page).locator('.thrown').innerText()).split('\n');
      expect(lines.slice(0, 2)).toEqual([
        'TypeError: order 7 has no price',
        expect.stringMatching(/^at pay \(.*zoo\.js:\d+:\d+\)$/),
      ]);
    });
  });

  describe('a question that may belong to one of two calls', () => {
    test('is shown in both of them, says so, and counts once', async () => {
      const id = await world.connect(target(), '2025-11-25');
      const call = async () =>
        (await world.inspector.run('call', { connection: id, tool: 'asks', args: {} })) as { story: number };
      const [one, two] = [await call(), await call()];
      await until('both questions', () => world.storiesOf('asks').at(-1)?.questions.length === 2);
      for (const { story } of [one, two]) {
        const page = await world.visit(`#/call/${story}`);
        await page.getByText('One of these calls asks').first().waitFor();
        expect(await page.getByText('2 questions').count()).toBeGreaterThan(0);
        expect(await page.getByText('4 questions').count()).toBe(0);
      }
      for (const { id: question } of world.storiesOf('asks').at(-1)?.questions ?? [])
        await world.inspector.run('answer', {
          story: two.story,
          question,
          answer: { action: 'accept', content: { word: 'x' } },
        });
      await until('the end', () => world.storiesOf('asks').every(({ state }) => state === 'ok'));
    });
  });

  describe('the findings of lint', () => {
    const input = z.object({ mode: z.literal('fast').describe('The mode.') });
    const server = (count: number) =>
      createServer({
        name: 'shop',
        version: '1.0.0',
        tools: Object.fromEntries(
          Array.from({ length: count }, (_, at) => [
            `find_${String.fromCharCode(97 + (at % 26))}${at}`,
            tool({ description: `Finds the orders of shelf ${at} in the store.`, input, run: () => 'x' }),
          ]),
        ),
      });

    test('are marked in the list, counted below the name, and shown with their fix at their field', async () => {
      await world.connect(server(1));
      const page = await world.visit('#/tools/find_a0');
      await page.getByRole('img', { name: 'Findings: 1 warning' }).waitFor();
      const line = place(page).getByRole('button', { name: /^2 findings · \d+ tokens$/ });
      expect(await line.getAttribute('aria-expanded')).toBe('false');
      await line.click();
      const field = place(page).locator('.form-field', { hasText: 'mode' });
      expect(await field.innerText()).toContain('its input uses "const"');
      expect(await field.innerText()).toContain('Say the same with type');
      expect(await place(page).locator('.tools-head').innerText()).toContain('Set readOnlyHint');
    });

    test('are grouped by rule with one line for the same finding if there are many, and are copied together', async () => {
      await world.connect(server(40));
      const page = await world.visit('#/server/findings');
      const group = page.getByRole('region', { name: 'unsupported-keyword' });
      await group.waitFor();
      expect(await group.innerText()).toContain('40 findings');
      expect((await group.innerText()).match(/Say the same with type/g)).toHaveLength(1);
      expect(await group.getByRole('listitem').count()).toBe(1);
      await group.getByRole('button', { name: 'mode its input uses "const" in 40' }).click();
      expect(await group.getByRole('link').count()).toBe(40);
      const copied = await copiedBy(page, () => page.getByRole('button', { name: 'Copy all' }).click());
      expect(
        copied.split('\n').filter((text) => text.startsWith('warning unsupported-keyword: tool find_')),
      ).toHaveLength(40);
      await page.getByRole('button', { name: 'By definition' }).click();
      await page.getByRole('heading', { name: 'tool find_a0' }).waitFor();
    });
  });
});

async function copiedBy(page: Page, act: () => Promise<void>): Promise<string> {
  await page.evaluate(() => {
    Object.defineProperty(navigator, 'clipboard', {
      value: { writeText: async (text: string) => Object.assign(window, { copied: text }) },
    });
  });
  await act();
  return page.evaluate(() => (window as unknown as { copied: string }).copied);
}
