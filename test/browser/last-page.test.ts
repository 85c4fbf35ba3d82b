import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pageHeaders, printPage } from '../../src/adapters/node/oauth/last-page.js';
import { describeInChromium, launch } from './chromium.js';

// The last page of a login, as the browser shows it. SCREENSHOTS=folder keeps pictures of it.

const folder = process.env['SCREENSHOTS'];
const long = `The authorization failed (token). The authorization server refused. https://login.example.com/oauth/token answered status 400, error "invalid_grant", "${'the code is not valid any more '.repeat(4)}".`;
const pages = {
  done: { name: 'My program', error: undefined },
  failed: { name: 'My program', error: long },
};

describeInChromium('the last page of a login', () => {
  let browser: Browser;
  const server = createServer(({ url = '' }, response) => {
    const page = pages[url.slice(1) as keyof typeof pages];
    if (page === undefined) response.writeHead(404).end();
    else response.writeHead(200, pageHeaders).end(printPage(page));
  });
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    server.close();
  });

  const looks = (['light', 'dark'] as const).flatMap((scheme) =>
    [1280, 320].flatMap((width) => (['done', 'failed'] as const).map((name) => ({ scheme, width, name }))),
  );
  it.each(looks)(
    'fits and can be read: $name, $scheme, $width pixels wide',
    async ({ scheme, width, name }) => {
      const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height: 640 } });
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('console', (message) => problems.push(message.text()));
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}`);
      const facts = await page.evaluate(() => {
        const number = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number);
        const luminance = (color: string) => {
          const [r = 0, g = 0, b = 0] = number(color).map((part) => {
            const share = part / 255;
            return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
          });
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const contrast = (one: string, other: string) => {
          const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
          return (high + 0.05) / (low + 0.05);
        };
        const main = document.querySelector('main') as Element;
        const card = getComputedStyle(main).backgroundColor;
        const texts = [...document.querySelectorAll('h1, p')].map((element) => {
          const { color, backgroundColor } = getComputedStyle(element);
          return contrast(color, backgroundColor === 'rgba(0, 0, 0, 0)' ? card : backgroundColor);
        });
        return {
          isDark: luminance(card) < 0.2,
          lowestContrast: Math.min(...texts),
          overflows: document.documentElement.scrollWidth > innerWidth,
        };
      });
      expect(facts.isDark).toBe(scheme === 'dark');
      // WCAG 2.2, 1.4.3 (AA).
      expect(facts.lowestContrast).toBeGreaterThanOrEqual(4.5);
      expect(facts.overflows).toBe(false);
      expect(problems.filter((text) => !text.includes('404'))).toEqual([]);
      if (folder !== undefined) {
        mkdirSync(folder, { recursive: true });
        await page.screenshot({ path: join(folder, `last-page-${name}-${scheme}-${width}.png`) });
      }
      await context.close();
    },
  );
});
