import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'fullmcp/client';
import { oauth } from 'fullmcp/oauth';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.js';
import { hasSuite, runAuthorizationSuite } from '../support/oauth/authorization-suite.js';
import { proxySetup } from '../support/oauth/proxy-setup.js';
import { describeInChromium, launch } from './chromium.js';

const setUp = proxySetup();
let browser: Browser;
const closing: (() => unknown)[] = [];

async function openPage(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(20_000);
  closing.push(() => context.close());
  return context.newPage();
}

/** Decides on our page, and logs in on the pages of the provider. Ends at the client's own address. */
async function logIn(page: Page, url: string, { isLoggedIn = false } = {}): Promise<void> {
  await page.goto(url);
  await page.getByRole('button', { name: 'Allow' }).click();
  if (!isLoggedIn) {
    await page.fill('input[name=login]', 'alice');
    await page.fill('input[name=password]', 'secret');
    await page.click('button[type=submit]');
  }
  await page.waitForSelector('input[name=prompt][value=consent]', { state: 'attached' });
  await page.click('button[type=submit]');
}

describeInChromium('oauthProxy in Chromium', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    browser = await launch();
  }, 60_000);
  afterAll(() => browser?.close());
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  it('logs a user in through consent and provider, without JavaScript', async () => {
    const { server } = await setUp();
    const page = await openPage({ javaScriptEnabled: false });
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    const texts: string[] = [];
    const open = async (url: string) => {
      await page.goto(url);
      texts.push(await page.innerText('main'));
      await logIn(page, url);
      await page.waitForURL((at) => at.port !== new URL(server.url).port && at.pathname.includes('callback'));
    };
    const client = await connect(server.url, {
      auth: oauth({ client: { name: 'Test program' }, open }),
      revision: '2026-07-28',
    });
    closing.push(() => client.close());
    expect(JSON.parse((await client.callTool('me')).text)).toMatchObject({ subject: 'alice' });
    expect(texts[0]).toContain('Allow Test program to use Files?');
    expect(texts[0]).toContain('An application on this computer');
    expect(texts[0]).toContain('Read your files');
    expect(complaints.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
  });

  it('does not show its pages in a frame of another site', async () => {
    const { flow } = await setUp();
    const site = createHttpServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(`<iframe src="${flow.authorizeUrl(flow.attempt()).replaceAll('&', '&amp;')}"></iframe>`);
    }).listen(0, '127.0.0.1');
    closing.push(() => site.close());
    await once(site, 'listening');
    const page = await openPage();
    const refusals: string[] = [];
    page.on('console', (message) => refusals.push(message.text()));
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    await expect.poll(() => refusals.join()).toMatch(/frame/i);
    for (const frame of page.frames()) expect(await frame.locator('form[action=consent]').count()).toBe(0);
  });

  it('does not take a decision that a page of another site submits', async () => {
    const { flow } = await setUp();
    const page = await openPage();
    await page.goto(flow.authorizeUrl(flow.attempt()));
    const request = await page.inputValue('input[name=request]');
    // `localhost` is another site than 127.0.0.1, although the server is the same computer.
    const site = createHttpServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(
        `<form method="post" action="${flow.base}/consent"><input name="request" value="${request}"><button name="decision" value="allow">Win a prize</button></form>`,
      );
    }).listen(0, '127.0.0.1');
    closing.push(() => site.close());
    await once(site, 'listening');
    await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`);
    const reply = page.waitForResponse(`${flow.base}/consent`);
    await page.click('button');
    expect((await reply).status()).toBe(403);
    // The same form on our own page works.
    await page.goto(flow.authorizeUrl(flow.attempt()));
    const allowed = page.waitForResponse(`${flow.base}/consent`);
    await page.getByRole('button', { name: 'Allow' }).click();
    const response = await allowed;
    expect(response.status()).toBe(200);
    await page.waitForURL((at) => at.pathname.startsWith('/interaction') || at.pathname === '/auth');
  });

  it('has a label for every field, one heading, and no text that is cut off on a narrow screen', async () => {
    const { flow } = await setUp();
    await flow.register({ client_name: 'x'.repeat(500) });
    for (const width of [320, 1280]) {
      const page = await openPage({ viewport: { width, height: 640 } });
      await page.goto(flow.authorizeUrl(flow.attempt({ scope: 'files:read files:write' })));
      expect(await page.locator('h1').count()).toBe(1);
      expect(await page.locator('html').getAttribute('lang')).toBe('en');
      expect(await page.getByLabel('Do not ask again in this browser').count()).toBe(1);
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(overflow).toBeLessThanOrEqual(0);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Allow');
    }
  });

  it('has the mark and the font of fullmcp, and loads nothing for them', async () => {
    const { flow } = await setUp();
    const page = await openPage();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    const url = flow.authorizeUrl(flow.attempt());
    await page.goto(url);
    await page.evaluate('document.fonts.ready');
    expect(await page.evaluate('[...document.fonts].map((font) => font.family + " " + font.status)')).toEqual(
      ['Inter loaded'],
    );
    expect(await page.locator('svg.mark').boundingBox()).toMatchObject({ width: 24, height: 24 });
    expect(asked.filter((address) => !address.endsWith('/favicon.ico'))).toEqual([url]);
    expect(complaints.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
  });

  describe.skipIf(!hasSuite())('the conformance suite for authorization servers', () => {
    for (const revision of ['2025-11-25', '2026-07-28'])
      it(`passes on ${revision}, without a warning`, async () => {
        const port = await freePort();
        const known = {
          id: 'conformance',
          name: 'The conformance suite',
          redirectUris: [`http://127.0.0.1:${port}/callback`],
        };
        const { server } = await setUp({ proxy: { clients: [known] } });
        const page = await openPage();
        const settings = {
          issuer: server.proxy.issuer,
          clientId: known.id,
          resource: server.url,
          port,
          revision,
        };
        const checks = await runAuthorizationSuite(settings, async (url) => {
          await logIn(page, url);
          await page.waitForURL((at) => at.port === String(port));
        });
        expect(checks.filter(({ status }) => status !== 'SUCCESS')).toEqual([]);
        expect(checks.map(({ id }) => id).sort()).toEqual([
          'authorization-code-grant',
          'authorization-server-metadata',
          'authorization-server-metadata-cimd',
        ]);
      });
  });
});
