import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import demo from '../../../examples/demo/server.js';
import { describeInChromium } from '../../browser/chromium.js';
import { until } from '../../support/until.js';
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
  // With a file of requests, the bar has one place more.
  const world = usePage({ requestsFile: join(tmpdir(), 'fullmcp-face', 'mcp.requests.json') });

  test('text is drawn in a font that comes from the inspector itself, and code in the font of the system', async () => {
    await world.connect(demo);
    const page = await world.visit('#/tools/add?a=2&b=40');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.reload();
    await page.locator('.tools-page').waitFor();
    await page.evaluate(() => document.fonts.ready);
    // It is asked for once, and before the script that draws text, so that no text is drawn in another font first.
    const files = asked.map((url) => url.slice(url.lastIndexOf('.')));
    expect(files.filter((file) => file === '.woff2')).toHaveLength(1);
    expect(files.indexOf('.woff2')).toBeLessThan(files.indexOf('.js'));
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

  describe('the room of its parts', () => {
    let id: string;
    beforeAll(async () => {
      id = await world.connect(demo);
      await world.inspector.run('call', { connection: id, tool: 'order_pizza', args: {} });
      await world.inspector.run('call', { connection: id, tool: 'find_order', args: { id: 9 } });
      await until('a tool asks', () => world.storiesOf('order_pizza').at(-1)?.state === 'asks');
      await until('a tool failed', () => world.storiesOf('find_order').at(-1)?.state === 'tool-error');
    });

    test.each([390, 600, 730, 961, 1024, 1101, 1241, 1440])(
      'the parts of the bar do not overlap at %i px, with an open question',
      async (width) => {
        const page = await world.visit('#/tools', { width });
        await page.locator('.frame-questions').waitFor();
        const boxes = await page.evaluate(() =>
          [
            ...document.querySelectorAll(
              '.mark, .frame-server, .frame-revision, .frame-state, .frame-place, .frame-actions > *',
            ),
          ]
            .filter((element) => element.closest('.frame-bar'))
            .map((element) => ({
              name: element.getAttribute('class') ?? '',
              box: element.getBoundingClientRect(),
            }))
            .filter(({ box }) => box.width > 0 && box.top < 48)
            .map(({ name, box: { left, right } }) => ({ name, left, right })),
        );
        const overlaps = boxes.flatMap(({ name, left }, at) => {
          const before = boxes[at - 1];
          return before !== undefined && left < before.right - 0.5 ? [`${before.name} / ${name}`] : [];
        });
        expect(overlaps).toEqual([]);
        expect(Math.max(...boxes.map(({ right }) => right))).toBeLessThanOrEqual(width);
        // The name may be cut, but the arrow of its menu is there.
        const [button, arrow] = await Promise.all([
          page.locator('.frame-server').boundingBox(),
          page.locator('.frame-server .icon').boundingBox(),
        ]);
        expect((arrow?.x ?? 0) + (arrow?.width ?? 0)).toBeLessThanOrEqual(
          (button?.x ?? 0) + (button?.width ?? 0),
        );
      },
    );

    test('the buttons of the timeline are one line on a phone, and its search can be read', async () => {
      const page = await world.visit('#/timeline', { width: 390 });
      await page.locator('.timeline-errors').waitFor();
      const middles = await page
        .locator('.timeline-line')
        .first()
        .locator('.button')
        .evaluateAll((buttons) =>
          buttons.map((button) => {
            const { top, height } = button.getBoundingClientRect();
            return Math.round(top + height / 2);
          }),
        );
      expect(middles.length).toBe(5);
      expect(new Set(middles).size).toBe(1);
      expect((await page.locator('#timeline-search').boundingBox())?.width).toBeGreaterThan(60);
    });

    test('a question has room around it', async () => {
      const page = await world.visit('#/tools/order_pizza');
      const question = await page.locator('.questions').boundingBox();
      const bar = await page.locator('.tools-run-bar').boundingBox();
      expect((question?.y ?? 0) - ((bar?.y ?? 0) + (bar?.height ?? 0))).toBeGreaterThanOrEqual(8);
    });

    test('a main button that cannot be pressed looks so', async () => {
      const page = await world.visit('#/requests');
      const button = page.getByRole('button', { name: 'Run all' });
      await button.waitFor();
      const isFilled = await button.evaluate((element) => {
        const { backgroundColor } = getComputedStyle(element);
        return backgroundColor === getComputedStyle(document.querySelector('.mark') as Element).fill;
      });
      expect(isFilled).toBe(false);
    });

    test('the two ends are named above the timeline only while a call shows its lanes, in the same room', async () => {
      const page = await world.visit('#/timeline');
      const heads = page.locator('.timeline-heads');
      await heads.getByText('server').waitFor();
      const before = await heads.boundingBox();
      await page.getByLabel('State').selectOption({ label: 'Failed' });
      await heads.getByText('server').waitFor({ state: 'hidden' });
      expect(await heads.boundingBox()).toEqual(before);
    });
  });
});
