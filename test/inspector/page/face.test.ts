import type { Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';
import demo from '../../../examples/demo/server.js';
import { describeInChromium } from '../../browser/chromium.js';
import { usePage } from './support/world.js';

/** Holds the requests for these files back until it is called. The page is loaded again. */
async function holdBack(page: Page, files: RegExp): Promise<() => Promise<void>> {
  let held: Route[] = [];
  let isHolding = true;
  await page.route(files, async (route) => {
    if (isHolding) held.push(route);
    else await route.continue();
  });
  await page.reload({ waitUntil: 'commit' });
  return async () => {
    isHolding = false;
    for (const route of held) await route.continue();
    held = [];
  };
}

describeInChromium('the face of the page', () => {
  const world = usePage();

  test('text is drawn in a font that comes from the inspector itself, and code in the font of the system', async () => {
    await world.connect(demo);
    const page = await world.visit('#/tools/add?a=2&b=40');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.reload();
    await page.locator('.tools-page').waitFor();
    await page.evaluate(() => document.fonts.ready);
    expect(asked.filter((url) => url.endsWith('.woff2'))).toHaveLength(1);
    expect(asked.filter((url) => new URL(url).origin !== new URL(page.url()).origin)).toEqual([]);
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('DOM.enable');
    await cdp.send('CSS.enable');
    const { root } = await cdp.send('DOM.getDocument');
    const fontsOf = async (selector: string): Promise<readonly string[]> => {
      const { nodeId } = await cdp.send('DOM.querySelector', { nodeId: root.nodeId, selector });
      const { fonts } = await cdp.send('CSS.getPlatformFontsForNode', { nodeId });
      return fonts.map(({ familyName, isCustomFont }) => (isCustomFont ? familyName : 'of the system'));
    };
    expect(await fontsOf('.frame-place')).toEqual([expect.stringContaining('Inter')]);
    expect(await fontsOf('.mono')).toEqual(['of the system']);
  });

  test('text has almost the same width before the font comes, so that it stays where it is', async () => {
    const page = await world.visit('#/connect');
    await page.evaluate(() => document.fonts.ready);
    const [inter = 0, soon = 0, system = 0] = await page.evaluate(() =>
      ['"Inter"', '"Inter, soon"', 'serif'].map((family) => {
        const pen = document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D;
        pen.font = `14px ${family}`;
        return pen.measureText('Tools Resources Prompts Tasks Server Connect to another server, 12 ms').width;
      }),
    );
    expect(Math.abs(soon / inter - 1)).toBeLessThan(0.02);
    expect(Math.abs(system / inter - 1)).toBeGreaterThan(0.02);
  });

  test('the mark is where it was before the script came, in the colour of the theme', async () => {
    await world.connect(demo);
    for (const width of [1440, 390]) {
      const page = await world.visit('#/tools', { width, theme: 'dark' });
      const release = await holdBack(page, /\.js$/);
      const first = await page.locator('.shell-bar .mark').boundingBox();
      await release();
      await page.locator('.frame-server').waitFor();
      const mark = page.locator('.frame-bar .mark');
      expect(await mark.boundingBox()).toEqual(first);
      expect(await mark.evaluate((element) => getComputedStyle(element).fill)).toBe('rgb(122, 167, 255)');
    }
  });

  test('the tab of the browser has the mark as its icon', async () => {
    const page = await world.visit('#/connect');
    const icon = await page.locator('link[rel=icon]').getAttribute('href');
    const type = await page.evaluate(
      async (address) => (await fetch(address)).headers.get('content-type'),
      icon ?? '',
    );
    expect(type).toBe('image/svg+xml');
  });
});
