import { readFileSync } from 'node:fs';
import process from 'node:process';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeInChromium, launch } from '../browser/chromium.js';
import { loadAxe, violations } from '../inspector/page/support/axe.js';
import { questions } from '../support/questions.js';
import { type ServedSite, serveSite } from './world.js';

const { bars }: { bars: readonly { paths: readonly string[] }[] } = await import(
  new URL('../../site/pages.js', import.meta.url).href
);

/** One page of each kind. SITE_PAGES=all visits all of them. */
const visited =
  process.env['SITE_PAGES'] === 'all'
    ? [
        '',
        ...bars
          .flatMap(({ paths }) => paths)
          .map((path) => `${path.slice(1).replace(/(^|\/)index$/, '$1index')}.html`),
      ]
    : ['', 'http.html', 'cli/call.html', 'reference/fullmcp-handlers.html', 'comparison.html'];

describeInChromium('The documentation site', () => {
  let browser: Browser;
  let site: ServedSite;
  beforeAll(async () => {
    [browser, site] = await Promise.all([launch(), serveSite()]);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.[Symbol.asyncDispose]();
  });

  /** A visit that fails if a page asks somebody else, asks for something that is not there, or complains. */
  async function visit(
    options: Parameters<Browser['newContext']>[0],
    run: (page: Page, context: BrowserContext) => Promise<void>,
  ): Promise<void> {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(20_000);
    const foreign: string[] = [];
    const complaints: string[] = [];
    context.on('request', (request) => {
      if (!/^data:|^blob:/.test(request.url()) && !request.url().startsWith(site.url))
        foreign.push(request.url());
    });
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    try {
      await run(page, context);
      expect({ foreign, complaints, missed: site.missed }).toEqual({
        foreign: [],
        complaints: [],
        missed: [],
      });
    } finally {
      await context.close();
    }
  }

  /** Opens a page, and waits until its script has taken over. */
  async function open(page: Page, path: string): Promise<void> {
    await page.goto(`${site.url}${path}`);
    await page.locator('#VPContent').waitFor();
    await page.waitForFunction(() => '__vue_app__' in (document.querySelector('#app') ?? {}));
  }

  describe.each([
    ['light', 1280],
    ['light', 390],
    ['dark', 1280],
    ['dark', 390],
  ] as const)('in the %s theme at %i pixels', (colorScheme, width) => {
    test(
      'has nothing that axe finds, and no page is wider than the window',
      async () => {
        await visit({ colorScheme, viewport: { width, height: 900 } }, async (page) => {
          const found: string[] = [];
          for (const path of visited) {
            await open(page, path);
            await loadAxe(page);
            found.push(...(await violations(page)).map((violation) => `${path} ${violation}`));
            const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
            if (wider > 0) found.push(`${path} is ${wider} pixels wider than the window`);
          }
          expect(found).toEqual([]);
        });
      },
      20_000 * visited.length,
    );
  });

  test('has the page that answers each of twenty questions first, in at least 18', async () => {
    await visit({}, async (page) => {
      await open(page, '');
      const wrong: string[] = [];
      for (const [question, ...pages] of questions) {
        const [first = ''] = await ask(page, question);
        if (!pages.some((name) => first.startsWith(`${name}.html`))) wrong.push(`${question}: ${first}`);
      }
      expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(2);
    });
  });

  /** The addresses of the results of a search, in their order. */
  async function ask(page: Page, question: string): Promise<readonly string[]> {
    await page.keyboard.press('Control+k');
    const box = page.locator('.VPLocalSearchBox input');
    await box.fill('');
    await page.locator('.VPLocalSearchBox .result').first().waitFor({ state: 'detached' });
    await box.fill(question);
    await page.locator('.VPLocalSearchBox .result').first().waitFor();
    const links = await page
      .locator('.VPLocalSearchBox a.result')
      .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
    await page.keyboard.press('Escape');
    await box.waitFor({ state: 'detached' });
    return links.map((link) => link.slice(site.url.length));
  }

  test('is searched with the keyboard alone: a key opens the search, arrows choose, Enter goes there, Escape closes', async () => {
    await visit({}, async (page) => {
      await open(page, 'http.html');
      await page.keyboard.press('/');
      const box = page.locator('.VPLocalSearchBox input');
      await box.waitFor();
      await page.keyboard.press('Escape');
      await box.waitFor({ state: 'detached' });
      await page.keyboard.press('Control+k');
      await page.keyboard.type('prometheus metrics');
      await page.locator('.result.selected').waitFor();
      await loadAxe(page);
      expect(await violations(page)).toEqual([]);
      const results = await page
        .locator('a.result')
        .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
      await page.keyboard.press('ArrowDown');
      await page.locator('#localsearch-item-1[aria-selected=true]').waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(results[1] ?? '');
      await box.waitFor({ state: 'detached' });
    });
  });

  test('copies the Markdown of a page exactly as its file is', async () => {
    await visit({ permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
      for (const [path, file] of [
        ['tasks.html', 'docs/tasks.md'],
        ['cli/call.html', 'docs/cli/call.md'],
        ['changelog.html', 'CHANGELOG.md'],
      ] as const) {
        await open(page, path);
        await page.getByRole('button', { name: 'Copy page' }).click();
        await page.getByRole('button', { name: 'Copied' }).waitFor();
        expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(readFileSync(file, 'utf8'));
      }
    });
  });

  test('keeps the chosen language and package manager on the next page, and after a reload', async () => {
    await visit({}, async (page) => {
      await open(page, 'typescript.html');
      const shown = (value: string) => page.locator(`.choice-panel[data-value="${value}"]:visible`).count();
      expect(await shown('npm')).toBeGreaterThan(0);
      expect(await shown('pnpm')).toBe(0);
      await page.locator('.choice-tabs label', { hasText: 'pnpm' }).first().click();
      expect(await shown('npm')).toBe(0);
      expect(await page.locator('.choice-panel[data-value="pnpm"]:visible').first().innerText()).toContain(
        'pnpm add fullmcp zod',
      );
      await page.locator('.VPSidebar a', { hasText: 'Add to your client' }).click();
      await page.waitForURL(`${site.url}clients.html`);
      await open(page, 'tools.html');
      await page.locator('.choice[data-choice=language] input[value=ts]').first().focus();
      await page.keyboard.press('ArrowRight');
      expect(await shown('ts')).toBe(0);
      expect(await shown('js')).toBeGreaterThan(0);
      await page.reload();
      await open(page, 'http.html');
      expect(await shown('ts')).toBe(0);
      expect(await shown('js')).toBeGreaterThan(0);
      expect(await page.locator('.choice[data-choice=language] input[value=js]').first().isChecked()).toBe(
        true,
      );
    });
  });

  test('has its text, its links and its tabs without JavaScript', async () => {
    await visit({ javaScriptEnabled: false }, async (page) => {
      await page.goto(`${site.url}http.html`);
      expect(await page.locator('main h1').innerText()).toContain('HTTP');
      expect(await page.locator('.choice-panel[data-value=ts]:visible').count()).toBeGreaterThan(0);
      await page.locator('.choice-tabs label', { hasText: 'JavaScript' }).first().click();
      expect(await page.locator('.choice-panel[data-value=js]:visible').count()).toBe(1);
      await page.locator('main a[href="./deploy.html"]').first().click();
      expect(page.url()).toBe(`${site.url}deploy.html`);
      await page.locator('.VPSidebar a', { hasText: 'Configure' }).click();
      expect(page.url()).toBe(`${site.url}configure.html`);
    });
  });

  test('is used on a phone: the menu leads to a section, and the bar at the side to a page', async () => {
    await visit({ viewport: { width: 390, height: 800 }, hasTouch: true }, async (page) => {
      await open(page, '');
      await page.locator('.VPNavBarHamburger').click();
      await page.locator('.VPNavScreen').getByRole('link', { name: 'Operate' }).click();
      await page.waitForURL(`${site.url}deploy.html`);
      await page.locator('.VPLocalNav .menu').click();
      await page.locator('.VPSidebar a', { hasText: 'Telemetry' }).click();
      await page.waitForURL(`${site.url}telemetry.html`);
    });
  });
});
