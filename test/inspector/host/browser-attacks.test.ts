import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServedInspector, serveInspector } from '../../../src/inspector/host/serve-inspector.js';
import { describeInChromium, launch, WEBSITE } from '../../browser/chromium.js';
import { type FakeInspector, fakeInspector } from './support/fake-inspector.js';

/** The page runs in the browser, where these exist. */
declare const document: {
  createElement: (name: string) => Record<string, unknown> & { submit: () => void };
  body: { append: (element: unknown) => void };
};
declare const EventSource: new (
  url: string,
  options: object,
) => Record<'onopen' | 'onerror' | 'onmessage', () => void> & { close: () => void };

describeInChromium('in a browser that has the inspector open', () => {
  let inspector: FakeInspector;
  let served: ServedInspector;
  let browser: Browser;
  let context: BrowserContext;
  let own: Page;
  let evil: Server;
  let port: number;
  const cookies: string[] = [];

  beforeAll(async () => {
    inspector = fakeInspector();
    served = await serveInspector(inspector);
    evil = createServer((req, res) => {
      cookies.push(req.headers.cookie ?? '');
      res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>evil</title><body>');
    });
    await new Promise<void>((done) => evil.listen(0, '127.0.0.1', done));
    port = (evil.address() as AddressInfo).port;
    browser = await launch();
    context = await browser.newContext();
    own = await context.newPage();
    await own.goto(served.url);
  });
  afterAll(async () => {
    await browser?.close();
    evil?.closeAllConnections();
    evil?.close();
    await served?.close();
  });

  const base = (): string => new URL('.', served.url.replace(/\?.*/, '')).href;

  it('the page runs under its policy, and its address has no token any more', async () => {
    await own.waitForFunction('document.getElementById("app").textContent.length > 20');
    expect(own.url()).not.toContain('token');
    const [cookie] = await context.cookies(base());
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: new URL(base()).pathname });
    expect(await own.evaluate('document.cookie')).toBe('');
  });

  // A page at another port of this computer counts as the same site, so that the browser sends it strict cookies.
  for (const host of ['127.0.0.1', WEBSITE]) {
    it(`a page of ${host} can neither read, nor command, nor listen, nor frame, nor see the cookie`, async () => {
      const before = inspector.ran.length;
      const page = await context.newPage();
      await page.goto(`http://${host}:${port}/`);
      const got = await page.evaluate(async (at) => {
        const fetched = (path: string, init: RequestInit): Promise<string> =>
          fetch(at + path, { credentials: 'include', ...init }).then(
            (reply) => `${reply.type} ${reply.status}`,
            () => 'refused',
          );
        const json = { 'content-type': 'application/json' };
        const text = { 'content-type': 'text/plain' };
        const listening = new Promise<string>((done) => {
          const events = new EventSource(`${at}api/events?after=0`, { withCredentials: true });
          events.onopen = () => done('open');
          events.onerror = () => {
            events.close();
            done('refused');
          };
        });
        const socket = new Promise<string>((done) => {
          const opened = new WebSocket(`${at.replace('http', 'ws')}api/events`);
          opened.onopen = () => done('open');
          opened.onerror = () => done('refused');
        });
        const frame = document.createElement('iframe');
        frame['src'] = at;
        document.body.append(frame);
        return {
          read: await fetched('api/snapshot', {}),
          command: await fetched('api/run/connect', { method: 'POST', headers: json, body: '{}' }),
          simple: await fetched('api/run/connect', {
            method: 'POST',
            mode: 'no-cors',
            headers: text,
            body: '{}',
          }),
          listening: await listening,
          socket: await socket,
        };
      }, base());
      expect(got).toEqual({
        read: 'refused',
        command: 'refused',
        simple: 'refused',
        listening: 'refused',
        socket: 'refused',
      });
      await expect.poll(() => page.frames()[1]?.url()).toMatch(/^chrome-error:/);
      expect(inspector.ran.length).toBe(before);
      expect(cookies.join()).not.toContain('fullmcp-inspector');
      await page.close();
    });
  }

  it('a form that another page sends runs no command', async () => {
    const before = inspector.ran.length;
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${port}/`);
    const [reply] = await Promise.all([
      page.waitForResponse((one) => one.url().includes('api/run')),
      page.evaluate((action) => {
        const form = document.createElement('form');
        Object.assign(form, { method: 'POST', action, enctype: 'text/plain' });
        document.body.append(form);
        form.submit();
      }, `${base()}api/run/connect`),
    ]);
    expect([reply.status(), inspector.ran.length]).toEqual([403, before]);
    await page.close();
  });

  it('a name that was made to point here gets nothing, even with the token (DNS rebinding)', async () => {
    const page = await context.newPage();
    const reply = await page.goto(served.url.replace('127.0.0.1', WEBSITE));
    expect(reply?.status()).toBe(403);
    expect(await page.textContent('body')).toContain('answers only as localhost or 127.0.0.1');
    await page.close();
  });
});
