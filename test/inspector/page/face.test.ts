import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import demo from '../../../examples/demo/server.js';
import { describeInChromium } from '../../browser/chromium.js';
import { until } from '../../support/until.js';
import { place } from './support/find.js';
import { usePage } from './support/world.js';

const ORDER = {
  customer: {
    name: 'Ann Miller',
    email: 'ann@example.org',
    address: { street: 'Mill Lane 4', city: 'Bremen', country: 'DE' },
  },
  lines: [{ sku: 'ROPE-10', quantity: 2, gift: false }],
  payment: { kind: 'card', last4: '4242' },
};

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
    expect(asked.filter((url) => url.endsWith('.woff2'))).toHaveLength(1);
    // The page names it before the script that draws text, so that no text is drawn in another font first.
    const html = await (await page.request.get(page.url())).text();
    expect(html).toMatch(/rel="preload"[^>]*\.woff2"[\s\S]*<script/);
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

    test('a tool has its name in the same font on its page, in the story of its call and among the findings', async () => {
      const page = await world.visit('#/tools/find_order');
      const story = world.storiesOf('find_order').at(-1)?.id;
      const fonts: string[] = [];
      for (const [hash, words] of [
        ['#/tools/find_order', page.getByRole('heading', { name: 'find_order', exact: true })],
        [`#/call/${story}`, page.getByRole('heading', { name: 'find_order', exact: true })],
        ['#/prompts/explain', page.getByRole('heading', { name: 'explain', exact: true })],
        ['#/server/findings', place(page).getByRole('link', { name: 'find_order', exact: true }).first()],
      ] as const) {
        await page.evaluate((address) => {
          location.hash = address;
        }, hash);
        await words.waitFor();
        fonts.push(await words.evaluate((element) => getComputedStyle(element).fontFamily));
      }
      expect(fonts).toEqual(fonts.map(() => expect.stringMatching(/^ui-monospace/)));
    });

    test('the bar of a result is two lines on a phone: how it went, and what can be done with it', async () => {
      await world.inspector.run('call', { connection: id, tool: 'place_order', args: ORDER });
      await until('it has a result', () => world.storiesOf('place_order').at(-1)?.state === 'ok');
      const page = await world.visit('#/tools/place_order', { width: 390 });
      await page.getByRole('button', { name: 'Result' }).click();
      await page.getByText('fits its schema').waitFor();
      const middles = await page
        .locator('.results-bar')
        .locator('.tools-state > *, .button, [role=tab]')
        .evaluateAll((parts) =>
          parts.map((part) => {
            const { top, height } = part.getBoundingClientRect();
            return Math.round((top + height / 2) / 4);
          }),
        );
      expect(middles.length).toBeGreaterThan(9);
      expect(new Set(middles).size).toBe(2);
    });

    test.each([1024, 1440])(
      'the name of the server is whole at %i px, and the bar of a result is one line',
      async (width) => {
        const page = await world.visit('#/tools/find_order', { width });
        await page.locator('.frame-questions').waitFor();
        const name = page.locator('.frame-server strong');
        expect(await name.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
        expect((await page.locator('.results-bar').boundingBox())?.height).toBeLessThan(60);
      },
    );

    test.each([
      { width: 390, lines: 2 },
      { width: 1440, lines: 1 },
    ])(
      'places without a list begin at the same edge at $width px, and what can be done there is in one line',
      async ({ width, lines }) => {
        const page = await world.visit('#/tapes', { width });
        const [one, other] = world.storiesOf('find_order');
        const edges: number[] = [];
        for (const hash of [
          '#/tapes',
          '#/requests',
          `#/call/${one?.id}`,
          `#/compare/${one?.id}..${other?.id ?? one?.id}`,
        ]) {
          await page.evaluate((address) => {
            location.hash = address;
          }, hash);
          const head = page.locator(`.place-head:visible`);
          await head.getByRole('heading').waitFor();
          await until('the place is drawn', async () => (await head.count()) === 1);
          const boxes = await head
            .locator('h1, .place-actions > :not(.visually-hidden)')
            .evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().toJSON() as DOMRect));
          edges.push(boxes[0]?.left ?? -1);
          const actions = boxes.slice(1).map(({ top, height }) => Math.round(top + height / 2));
          expect(new Set(actions).size, hash).toBe(1);
          const isBelow = (actions[0] ?? 0) > (boxes[0]?.bottom ?? 0);
          expect(isBelow, hash).toBe(lines === 2);
        }
        expect(new Set(edges).size).toBe(1);
      },
    );

    test('the way back is named by the place that it leads to, and a tool by its own name', async () => {
      const story = world.storiesOf('find_order').at(-1)?.id;
      const page = await world.visit('#/tools/find_order', { width: 390 });
      for (const [hash, name] of [
        ['#/tools/find_order', 'find_order'],
        ['#/server/auth', 'Server'],
        ['#/prompts/explain', 'Prompts'],
        [`#/call/${story}`, 'Timeline'],
      ] as const) {
        await page.evaluate((address) => {
          location.hash = address;
        }, hash);
        await expect.poll(() => page.locator('.frame-back-name').textContent()).toBe(name);
        // The page itself has one heading that can be seen, in the bar or below it.
        await expect.poll(() => page.locator('h1:visible:not(.visually-hidden)').count()).toBe(1);
      }
    });

    test('a field of a prompt begins where a field of a tool does, and is as wide as there is room', async () => {
      const page = await world.visit('#/tools/add_note');
      const tool = await place(page).getByRole('textbox', { name: 'text' }).boundingBox();
      await page.evaluate(() => {
        location.hash = '#/prompts/explain';
      });
      const prompt = await place(page)
        .getByRole('combobox', { name: 'topic' })
        .or(place(page).getByLabel(/^topic/))
        .first()
        .boundingBox();
      expect([prompt?.x, prompt?.width]).toEqual([tool?.x, tool?.width]);
    });

    test('a window with many lines ends within a phone, and the rest is scrolled to', async () => {
      const page = await world.visit('#/tools', { width: 390, height: 700 });
      await page.locator('.frame-server').waitFor();
      await page.keyboard.press('?');
      const box = await page.getByRole('dialog', { name: 'Keys' }).boundingBox();
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(700);
    });

    test('open questions are called so where there is room for their number only', async () => {
      const page = await world.visit('#/tools', { width: 390 });
      await page.getByRole('button', { name: 'Questions 1', exact: true }).waitFor();
    });

    test('a state is the same words below the page as in the result', async () => {
      await world.inspector.run('call', { connection: id, tool: 'find_order', args: { id: 9 } });
      const page = await world.visit('#/tools/find_order', { width: 1024 });
      await expect
        .poll(() => page.locator('.frame-strip-latest').textContent())
        .toMatch(/^find_order tool error \d/);
    });

    test.each([390, 1440])('the words of an entry of the timeline do not overlap at %i px', async (width) => {
      const { story } = (await world.inspector.run('call', {
        connection: id,
        tool: 'countdown',
        args: { from: 60 },
      })) as { story: number };
      await world.inspector.run('stop', { story });
      await until('it is cancelled', () => world.storiesOf('countdown').at(-1)?.state === 'cancelled');
      const page = await world.visit(width < 720 ? '#/timeline' : '#/tools', { width });
      const row = page.locator('.entry-row', { hasText: 'cancelled' }).first();
      await row.waitFor();
      const overlaps = await row.evaluate((element) =>
        [...element.children].some(
          (part) => part.scrollWidth > part.clientWidth && part.matches('.timeline-state'),
        ),
      );
      expect(overlaps).toBe(false);
    });

    test('a tool and a prompt that are not there are said so at the same place', async () => {
      const page = await world.visit('#/tools/none');
      const placeOf = async (sentence: string) => {
        await place(page).getByRole('heading', { name: sentence }).waitFor();
        const box = await place(page).locator('.empty').boundingBox();
        return box && { y: box.y, middle: box.x + box.width / 2 };
      };
      const tool = await placeOf('There is no tool “none”.');
      await page.goto(page.url().replace(/#.*/, '#/prompts/none'));
      const prompt = await placeOf('There is no prompt “none”.');
      expect(tool?.y).toBe(prompt?.y);
      expect(Math.abs((tool?.middle ?? 0) - (prompt?.middle ?? 0))).toBeLessThan(2);
    });

    test.each([390, 1440])(
      'the tabs of the result of a story stand beside its heading at %i px',
      async (width) => {
        await world.inspector.run('call', { connection: id, tool: 'find_order', args: { id: 1 } });
        await until('the call is over', () => world.storiesOf('find_order').at(-1)?.state === 'ok');
        const page = await world.visit(`#/call/${world.storiesOf('find_order').at(-1)?.id}`, { width });
        const heading = await place(page).getByRole('heading', { name: 'Result' }).first().boundingBox();
        const tabs = await place(page).getByRole('tablist', { name: 'Result as' }).boundingBox();
        const middle = (box: typeof tabs) => (box?.y ?? 0) + (box?.height ?? 0) / 2;
        expect(Math.abs(middle(heading) - middle(tabs))).toBeLessThan(4);
        expect(tabs?.x).toBeGreaterThan((heading?.x ?? 0) + 60);
      },
    );

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
