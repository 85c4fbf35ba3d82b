import { sandboxPage } from 'fullmcp/apps';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeInWholeChromium, WEBSITE } from '../chromium.js';
import type { HostWindow } from './fixtures/host.js';
import { hostileServer } from './fixtures/hostile-server.js';
import { appFrame, notesUntil, useHosts } from './use-hosts.js';

// Apps in a sandbox at an origin of its own, as the specification wants it for hosts that are websites.

describeInWholeChromium('apps in a sandbox', { timeout: 60_000 }, () => {
  const hosts = useHosts(hostileServer(), 'host', 'official');

  async function show(page: Page, name: string, sandbox = hosts.sandbox()): Promise<void> {
    const target = { url: hosts.url(), name, sandbox };
    await page.evaluate(
      ({ url, name, sandbox }) => (window as unknown as HostWindow).show(url, name, { sandbox }),
      target,
    );
  }

  it('run in a host whose policy allows nothing but the sandbox', async () => {
    const page = await hosts.open('host', { strict: true });
    await show(page, 'shop_sales');
    await page.evaluate(() => (window as unknown as HostWindow).run({ year: 2026 }).then(() => undefined));
    const frame = await appFrame(page);
    await frame.waitForSelector('rect');
    await frame.click('button');
    await frame.waitForFunction(() => document.querySelector('h1')?.textContent === 'Sales of 2027');
    await page.waitForFunction(
      () => Number.parseInt(document.querySelector('iframe')?.style.height ?? '', 10) > 160,
    );
    await page.evaluate(() => (window as unknown as HostWindow).view.close());
    expect(await page.$('iframe')).toBe(null);
  });

  it('run with the official host in front of our sandbox', async () => {
    const page = await hosts.open('official');
    const target = { url: hosts.url(), sandbox: hosts.sandbox() };
    await page.evaluate(
      ({ url, sandbox }) =>
        (window as unknown as { show: (...args: unknown[]) => Promise<void> }).show(
          url,
          'shop_sales',
          { year: 2026 },
          sandbox,
        ),
      target,
    );
    const frame = await appFrame(page);
    await frame.waitForSelector('rect');
    expect(await frame.textContent('h1')).toBe('Sales of 2026');
  });

  it('are closed when they leave, and the browser refuses to take them elsewhere', async () => {
    const page = await hosts.open('host', { strict: true });
    await show(page, 'leaver');
    const notes = await notesUntil(page, (all) => all.some(([what]) => what === 'closed'));
    expect(notes).toEqual([['closed', 'The app has left its page.']]);
  });

  it('cannot send the messages of the sandbox', async () => {
    const page = await hosts.open('host');
    await show(page, 'forger');
    const notes = await notesUntil(page, (all) => all.length > 0);
    expect(notes).toEqual([['log', 'info', {}]]);
    const outer = await appFrame(page, { sandbox: false });
    expect(await outer.$$('iframe')).toHaveLength(1);
  });

  it('reach nothing that they could not reach without a sandbox', async () => {
    const page = await hosts.open('host');
    await show(page, 'reacher');
    const notes = await notesUntil(page, (all) => all.length > 0);
    expect(notes[0]?.[2]).toEqual({
      fetch: 'blocked',
      parent: 'blocked',
      storage: 'blocked',
      frame: 'blocked',
    });
  });

  it('are not shown to a website that the sandbox does not know, or at the origin of the host', async () => {
    const page = await hosts.open('host', { host: WEBSITE });
    const blocked = page.waitForEvent('framenavigated', (frame) => frame !== page.mainFrame());
    await page.evaluate((sandbox) => {
      document.body.append(Object.assign(document.createElement('iframe'), { src: sandbox }));
    }, hosts.sandbox());
    expect((await blocked).url()).toMatch(/^chrome-error:/);
    const own = await hosts.open('host');
    await expect(show(own, 'polite', '/sandbox')).rejects.toThrow('must be a page at another origin');
  });

  it('need a sandbox that names its hosts', () => {
    for (const host of ['*', 'https://*.example.com', "'self'", 'https://a.example; script-src *', ''])
      expect(() => sandboxPage({ hosts: [host] })).toThrow('must be origins');
    expect(() => sandboxPage({ hosts: [] })).toThrow('at least one');
  });
});
