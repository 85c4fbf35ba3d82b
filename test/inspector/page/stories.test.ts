import { createServer, tool } from 'fullmcp';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { describeInChromium } from '../../browser/chromium.js';
import { until } from '../../support/until.js';
import { field, place, result, runTool } from './support/find.js';
import { usePage } from './support/world.js';

const LONG = 'the seventh of the long parts of this work, which has a name that needs its room';

const server = createServer({
  name: 'words and rows',
  version: '1.0.0',
  tools: {
    table: tool({
      output: z.object({ rows: z.array(z.record(z.string(), z.string())) }),
      run: () => ({
        rows: Array.from({ length: 3 }, (_, at) =>
          Object.fromEntries(
            Array.from({ length: 9 }, (__, column) => [`column ${column}`, `value ${at} of it`]),
          ),
        ),
      }),
    }),
    parts: tool({
      run: (_, { progress, log }) => {
        for (let at = 1; at <= 3; at++) progress(at, 3, LONG);
        log.warning('the oven is cold');
        return 'done';
      },
    }),
    crashes: tool({
      run: () => {
        throw new Error('out of cheese');
      },
    }),
    asks: tool({
      run: async (_, ctx) => {
        await ctx.ask('name', { message: 'Who?', schema: z.object({ name: z.string() }) });
        return 'thanks';
      },
    }),
    formats: tool({
      input: z.object({
        day: z.iso.date(),
        mail: z.email(),
        id: z.uuid(),
        code: z.string().regex(/^[A-Z]{3}$/),
        either: z.union([z.string(), z.object({ first: z.string() })]).optional(),
      }),
      run: () => 'ok',
    }),
  },
});

describeInChromium('stories, results and forms of the page', () => {
  const world = usePage();
  let connection: string;
  beforeAll(async () => {
    connection = await world.connect(server);
    for (const name of ['table', 'parts', 'crashes', 'asks'])
      await world.inspector.run('call', { connection, tool: name, args: {} });
    await until('the calls are over', () => world.storiesOf('crashes').at(-1)?.state === 'tool-error');
    await until('the call asks', () => world.storiesOf('asks').at(-1)?.state === 'asks');
    await until('the parts are done', () => world.storiesOf('parts').at(-1)?.state === 'ok');
  });

  test.each([1440, 390])(
    'a table has the whole width of its place in a window of %i pixels',
    async (width) => {
      const page = await world.visit('#/tools/table', { width });
      if (width === 390)
        await place(page)
          .getByRole('button', { name: /^Result/ })
          .click();
      const panel = result(page).getByRole('tabpanel');
      const table = panel.getByRole('group', { name: 'rows' });
      await table.waitFor();
      const [outer, inner] = [await panel.boundingBox(), await table.boundingBox()];
      expect(inner?.width).toBeGreaterThanOrEqual((outer?.width ?? 0) - 2 * 16 - 1);
      await result(page).getByRole('button', { name: 'Tree' }).click();
      await table.waitFor({ state: 'detached' });
      await result(page).getByRole('tab', { name: 'Raw' }).click();
      expect(await result(page).getByRole('button', { name: 'Tree' }).count()).toBe(0);
    },
  );

  test('the lanes of a story take the width that there is, and their words are not cut', async () => {
    const [story] = world.storiesOf('parts');
    const page = await world.visit(`#/call/${story?.id}`);
    const tick = page.locator('#main .lane-tick').last();
    await tick.waitFor();
    const [lane, whole] = [page.locator('#main .lane-line').first(), page.locator('#main .story-lanes')];
    const ratio = ((await lane.boundingBox())?.width ?? 0) / ((await whole.boundingBox())?.width ?? 1);
    expect(ratio).toBeGreaterThan(0.55);
  });

  test('the list of messages shows the words of progress and of log messages', async () => {
    const page = await world.visit('#/timeline');
    await page.getByRole('button', { name: 'Messages' }).click();
    await page
      .getByRole('option')
      .filter({ hasText: `3 of 3: ${LONG}` })
      .first()
      .waitFor();
  });

  test('the size of a story is that of all its messages', async () => {
    const [story] = world.storiesOf('parts');
    const own = world.inspector.snapshot().messages.filter((head) => head.story === story?.id);
    const received = own.filter(({ from }) => from === 'server').reduce((sum, { bytes }) => sum + bytes, 0);
    expect(own.length).toBeGreaterThan(4);
    const page = await world.visit(`#/call/${story?.id}`);
    const words = received < 1000 ? `${received} B received` : `${(received / 1000).toFixed(1)} kB received`;
    await place(page).getByText(words).waitFor();
  });

  test('the result of a story stands above its course, unless something was asked', async () => {
    const page = await world.visit(`#/call/${world.storiesOf('parts')[0]?.id}`);
    const course = place(page).getByRole('region', { name: 'The course of the call' });
    const isResultAbove = async (): Promise<boolean> => {
      const [one, other] = [result(page), course].map((part) =>
        part.evaluate((element) => element.getBoundingClientRect().top),
      );
      return ((await one) ?? 0) < ((await other) ?? 0);
    };
    await course.waitFor();
    expect(await isResultAbove()).toBe(true);

    const [asked] = world.storiesOf('asks');
    await world.inspector.run('answer', {
      story: asked?.id,
      question: asked?.questions[0]?.id,
      answer: { action: 'accept', content: { name: 'Ann' } },
    });
    await expect.poll(() => world.storiesOf('asks')[0]?.state).toBe('ok');
    await page.goto(`${page.url().split('#')[0]}#/call/${asked?.id}`);
    await place(page).getByRole('heading', { name: 'asks' }).waitFor();
    await result(page).getByText('thanks').waitFor();
    expect(await isResultAbove()).toBe(false);
  });

  test('the timeline says how many calls failed, and shows only these on a click', async () => {
    const page = await world.visit('#/timeline');
    const errors = page.getByRole('button', { name: '1 error' });
    await errors.click();
    await expect.poll(() => page.locator('#main .virtual-row').count()).toBe(1);
    await errors.click();
    await expect.poll(() => page.locator('#main .virtual-row').count()).toBeGreaterThan(1);
  });

  test.each(['#/tools/parts', '#/timeline', '#/tapes', '#/server/settings'])(
    'each button of %s that is only an icon has a name, also for the mouse',
    async (address) => {
      const page = await world.visit(address);
      await page
        .locator('#main .timeline-bar, #main .tapes, #main .tools-page, #main .server')
        .first()
        .waitFor();
      const nameless = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>('button, a.button')]
          .filter((button) => button.innerText.trim() === '' || button.querySelector('.timeline-word'))
          .filter((button) => button.checkVisibility() && !button.title)
          .map((button) => button.outerHTML.slice(0, 200)),
      );
      expect(nameless).toEqual([]);
    },
  );

  test('a field with a known format shows its name instead of the pattern that stands for it', async () => {
    const page = await world.visit('#/tools/formats');
    await field(page, 'code').waitFor();
    const hints = await page.locator('#main .form-pattern').allTextContents();
    expect(hints).toEqual(['email', 'uuid', '^[A-Z]{3}$']);
    await field(page, 'mail').fill('nobody');
    await page.getByText('Must be an email address.').waitFor();
    expect(await place(page).textContent()).not.toContain('Must match');
  });

  test('an optional union that is set begins without a value, and without an error', async () => {
    const page = await world.visit('#/tools/formats');
    const either = page.getByRole('group', { name: 'either' });
    await either.getByTitle('Set either').click();
    await either.getByRole('radio', { name: 'string' }).waitFor();
    expect(await either.locator('.form-error').count()).toBe(0);
    const text = either.locator('input.field');
    expect(await text.inputValue()).toBe('');
    await text.fill('x');
    // A field that is emptied does not go away.
    await text.fill('');
    await text.waitFor();
    await field(page, 'day').fill('2026-07-28');
    await field(page, 'mail').fill('ann@example.org');
    await field(page, 'id').fill('123e4567-e89b-42d3-a456-426614174000');
    await field(page, 'code').fill('ABC');
    await runTool(page);
    await expect.poll(() => world.storiesOf('formats').at(-1)?.state).toBe('ok');
    expect(world.storiesOf('formats').at(-1)?.args).not.toHaveProperty('either');
    await either.getByRole('button', { name: 'Leave out either' }).click();
    await either.getByTitle('Set either').waitFor();
  });
});
