import { createServer, prompt, resource, tool, user } from 'fullmcp';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { describeInChromium } from '../../browser/chromium.js';
import { place, result, runTool } from './support/find.js';
import { usePage } from './support/world.js';

const SCRIPT =
  '<img src=x onerror="globalThis.pwned=1"><script>globalThis.pwned=1</script><svg onload="globalThis.pwned=1">';
const MARKDOWN = `# Title ${SCRIPT}

[click](javascript:globalThis.pwned=1) [data](data:text/html,<script>pwned=1</script>) ![image](https://evil.example/pixel.png)
<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>

[fine](https://example.com/) ${'['.repeat(3000)} ${'*'.repeat(3000)} ${'`'.repeat(3000)}

| a | ${SCRIPT} |
|---|---|
| ${'|'.repeat(2000)} |
`;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><script>globalThis.pwned=1</script><image href="https://evil.example/svg.png"/></svg>`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const server = createServer({
  name: `evil\u202egnp ${SCRIPT}`,
  version: SCRIPT,
  title: `Evil ${SCRIPT}`,
  instructions: MARKDOWN,
  tools: {
    markdown: tool({ description: MARKDOWN, run: () => MARKDOWN }),
    pictures: tool({
      run: () => ({
        content: [
          { type: 'image', mimeType: 'image/svg+xml', data: base64(SVG) },
          { type: 'image', mimeType: 'text/html', data: base64(SCRIPT) },
          { type: 'audio', mimeType: 'audio/html"onerror=pwned', data: base64('x') },
          { type: 'resource_link', uri: 'javascript:globalThis.pwned=1', name: SCRIPT },
          { type: 'resource', resource: { uri: 'file:///x', mimeType: 'text/html', text: SCRIPT } },
        ],
      }),
    }),
    form: tool({
      input: z.object({
        [`__proto__${SCRIPT}`]: z.string().describe(MARKDOWN).default(SCRIPT),
        constructor: z.enum([SCRIPT, 'b']).optional(),
      }),
      run: (input) => JSON.stringify(input),
    }),
    large: tool({ input: z.object({ mb: z.number() }), run: ({ mb }) => 'x'.repeat(mb * 1_000_000) }),
    ask: tool({
      run: async (_, { ask }) => {
        await ask('q', { message: MARKDOWN, schema: z.object({ [SCRIPT]: z.boolean() }) });
        return 'done';
      },
    }),
  },
  resources: {
    'evil://markdown': resource({
      title: SCRIPT,
      description: MARKDOWN,
      mimeType: 'text/markdown',
      read: () => MARKDOWN,
    }),
    'evil://html': resource({ mimeType: 'text/html', read: () => SCRIPT }),
  },
  prompts: {
    evil: prompt({
      description: MARKDOWN,
      args: z.object({ x: z.string().optional() }),
      run: () => [user(MARKDOWN)],
    }),
  },
});

describeInChromium('a hostile server', () => {
  const world = usePage();
  beforeAll(async () => {
    await world.connect(server);
  });

  /** Watches a page: requests to elsewhere, dialogs, other pages. */
  function watch(page: Page): string[] {
    const seen: string[] = [];
    const { origin } = new URL(page.url());
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(origin) && !url.startsWith('blob:') && !url.startsWith('data:'))
        seen.push(`request ${url}`);
    });
    page.on('dialog', (dialog) => {
      seen.push('dialog');
      void dialog.dismiss();
    });
    page.context().on('page', () => seen.push('page'));
    return seen;
  }

  async function isHarmless(page: Page, seen: readonly string[]): Promise<void> {
    expect(await page.evaluate(() => (globalThis as { pwned?: unknown }).pwned)).toBeUndefined();
    const hrefs = await page.evaluate(() =>
      Array.from(document.querySelectorAll('a'), (link) => link.getAttribute('href') ?? ''),
    );
    expect(hrefs.filter((href) => /^\s*(?:javascript|data|vbscript):/i.test(href))).toEqual([]);
    expect(await page.locator('iframe, script:not([src]), object, embed').count()).toBe(0);
    expect(seen).toEqual([]);
  }

  test.each([
    '#/tools/markdown',
    '#/tools/pictures',
    '#/tools/form',
    '#/tools/ask',
    '#/resources/evil%3A%2F%2Fmarkdown',
    '#/resources/evil%3A%2F%2Fhtml',
    '#/prompts/evil',
    '#/server',
    '#/server/findings',
    '#/server/tokens',
    '#/timeline',
  ])('runs nothing, leaks nothing and links nowhere at %s', async (hash) => {
    const page = await world.visit(hash);
    const seen = watch(page);
    await place(page).locator('h1, h2').first().waitFor({ state: 'attached' });
    const before = world.inspector.snapshot().stories.length;
    if (/tools|prompts/.test(hash)) {
      await place(page).locator('.button.main').first().waitFor();
      await place(page).locator('.button.main').first().click();
      await expect.poll(() => world.inspector.snapshot().stories.length).toBeGreaterThan(before);
      await expect.poll(() => world.inspector.snapshot().stories.at(-1)?.state).not.toBe('running');
    }
    for (const link of await place(page).locator('a[href^="https://example.com"]').all())
      expect(await link.getAttribute('rel')).toContain('noopener');
    await isHarmless(page, seen);
  });

  test('shows characters that turn text around as what they are', async () => {
    const page = await world.visit('#/server');
    await place(page).getByText('evil\\u{202e}gnp').first().waitFor();
    expect(await page.locator('body').textContent()).not.toContain('\u202e');
  });

  test('sends 50 MB, and the page stays usable', async () => {
    const page = await world.visit('#/tools/large?mb=50');
    await runTool(page);
    await expect.poll(() => world.storiesOf('large').at(-1)?.state, { timeout: 30_000 }).toBe('ok');
    await place(page)
      .getByText(/50(\.\d)? MB/)
      .first()
      .waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('5');
    await place(page).getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await page.evaluate(() => document.body.textContent?.length ?? 0)).toBeLessThan(2_000_000);
    await page.close();
    // Nor does it come back with each reload.
    const again = await world.visit('#/tools/large');
    await result(again).or(place(again)).first().waitFor();
    expect(JSON.stringify(world.inspector.snapshot()).length).toBeLessThan(5_000_000);
  });
});
