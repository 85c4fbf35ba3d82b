import { connect } from 'fullmcp/client';
import { expect, it } from 'vitest';
import { server } from '../../../examples/app/server.js';
import { describeInWholeChromium } from '../chromium.js';
import type { HostWindow } from './fixtures/host.js';
import { appFrame, notesUntil, useHosts } from './use-hosts.js';

// The chart of examples/app in two hosts: ours, and one that is made with the official library alone.

interface OfficialWindow {
  readonly show: (url: string, name: string, args: object) => Promise<void>;
  readonly tearDown: () => Promise<object>;
}

const next = (year: number): number[] =>
  Array.from({ length: 12 }, (_, month) => ((year * 7 + month * 11) % 40) + 5);

describeInWholeChromium('the chart of the example', { timeout: 60_000 }, () => {
  const hosts = useHosts(server, 'host', 'official');

  it('is drawn by our host, calls a tool through it, and takes on its style', async () => {
    const page = await hosts.open('host');
    await page.evaluate((url) => (window as unknown as HostWindow).show(url, 'sales'), hosts.url());
    await page.evaluate(() => (window as unknown as HostWindow).run({ year: 2026 }).then(() => undefined));
    const frame = await appFrame(page);
    await frame.waitForSelector('rect');
    expect(await frame.textContent('h1')).toBe('Sales of 2026');
    const heights = await frame.$$eval('rect', (bars) =>
      bars.map((bar) => Number(bar.getAttribute('height'))),
    );
    expect(heights).toEqual(next(2026));
    expect(await frame.$eval('rect', (bar) => getComputedStyle(bar).fill)).toBe('rgb(1, 2, 3)');
    expect(await frame.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');

    await frame.click('button');
    await frame.waitForFunction(() => document.querySelector('h1')?.textContent === 'Sales of 2027');
    const again = await frame.$$eval('rect', (bars) => bars.map((bar) => Number(bar.getAttribute('height'))));
    expect(again).toEqual(next(2027));
    const notes = await notesUntil(page, (all) => all.some(([what]) => what === 'context'));
    expect(notes).toContainEqual(['approve', 'tools/call', 'sales_data']);
    expect(notes).toContainEqual([
      'context',
      [{ type: 'text', text: 'The user looks at the sales of 2027.' }],
    ]);
    await page.waitForFunction(
      () => Number.parseInt(document.querySelector('iframe')?.style.height ?? '', 10) > 160,
    );

    await page.evaluate(() => (window as unknown as HostWindow).view.close());
    expect(await page.$('iframe')).toBe(null);
  });

  it('is drawn by the host of the guide', async () => {
    const page = await hosts.open('host');
    await page.evaluate((url) => (window as unknown as HostWindow).showGuide(url), hosts.url());
    const frame = await appFrame(page);
    await frame.waitForSelector('rect');
    expect(await frame.textContent('h1')).toBe('Sales of 2026');
  });

  it('is drawn by the official host, and calls a tool through it', async () => {
    const page = await hosts.open('official');
    await page.evaluate(
      (url) => (window as unknown as OfficialWindow).show(url, 'sales', { year: 2026 }),
      hosts.url(),
    );
    const frame = await appFrame(page, { sandbox: false });
    await frame.waitForSelector('rect');
    const heights = await frame.$$eval('rect', (bars) =>
      bars.map((bar) => Number(bar.getAttribute('height'))),
    );
    expect(heights).toEqual(next(2026));
    expect(await frame.evaluate(() => document.documentElement.dataset['theme'])).toBe('light');

    await frame.click('button');
    await frame.waitForFunction(() => document.querySelector('h1')?.textContent === 'Sales of 2027');
    const notes = await notesUntil(
      page,
      (all) => all.some(([what]) => what === 'context') && all.some(([what]) => what === 'size'),
    );
    expect(notes).toContainEqual(['page', 'text/html;profile=mcp-app']);
    expect(notes).toContainEqual([
      'app',
      { name: 'Sales', version: '1.0.0' },
      { availableDisplayModes: ['inline'] },
    ]);
    expect(notes).toContainEqual([
      'context',
      [{ type: 'text', text: 'The user looks at the sales of 2027.' }],
    ]);
    expect(await page.evaluate(() => (window as unknown as OfficialWindow).tearDown())).toEqual({});
  });

  it('is text for a host that does not declare the extension', async () => {
    await using client = await connect(hosts.url());
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['sales']);
    const { text } = await client.callTool('sales', { year: 2026 });
    expect(text).toBe(`Sales of 2026 by month: ${next(2026).join(', ')}.`);
    await expect(client.callTool('sales_data', { year: 2026 })).rejects.toThrow('Unknown tool: sales_data');
  });
});
