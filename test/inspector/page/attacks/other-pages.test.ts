import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { describeInChromium, WEBSITE } from '../../../browser/chromium.js';
import { place, result, runTool } from '../support/find.js';
import { useAttack, type Watched } from './attack.js';

// Pages of others in the browser of a user who has the inspector open. They know its address, although they could not.

describeInChromium('another page in the same browser', { timeout: 120_000 }, () => {
  const attack = useAttack();
  beforeAll(async () => {
    await attack.connect('words');
  });

  const address = (path: string): string => new URL(path, attack.served.url.split('?', 1)[0]).href;

  /** The inspector is open, with its cookie. Beside it opens a page of this host. */
  async function beside(host: string): Promise<Watched & { other: Page }> {
    const watched = await attack.visit();
    await place(watched.page).getByRole('link', { name: /^ok/ }).waitFor();
    attack.website.html = '<!doctype html><title>Other</title>';
    const other = await watched.context.newPage();
    await other.goto(`http://${host}:${attack.website.port}/`);
    return { ...watched, other };
  }

  // The second is the same site for a browser, which sends it the cookie.
  test.each([WEBSITE, '127.0.0.1'])('at %s reads nothing and runs nothing', async (host) => {
    const { other } = await beside(host);
    const connections = attack.inspector.snapshot().connections.length;
    const tried = await other.evaluate(async (base) => {
      const attempt = (act: () => Promise<unknown>) => act().then(String, () => 'refused');
      const post = (init: RequestInit) => () =>
        fetch(`${base}api/run/connect`, {
          method: 'POST',
          credentials: 'include',
          body: '{"text":"words"}',
          ...init,
        });
      return {
        snapshot: await attempt(() => fetch(`${base}api/snapshot`, { credentials: 'include' })),
        preflight: await attempt(post({ headers: { 'content-type': 'application/json' } })),
        simple: await attempt(async () => (await post({ mode: 'no-cors' })()).type),
        events: await attempt(
          () =>
            new Promise((resolve, reject) => {
              const source = new EventSource(`${base}api/events?after=0`, { withCredentials: true });
              source.onopen = () => resolve('open');
              source.onerror = () => reject(new Error('refused'));
            }),
        ),
        socket: await attempt(
          () =>
            new Promise((resolve, reject) => {
              const socket = new WebSocket(`${base.replace('http', 'ws')}api/events`);
              socket.onopen = () => resolve('open');
              socket.onerror = () => reject(new Error('refused'));
            }),
        ),
        script: await attempt(
          () =>
            new Promise((resolve, reject) => {
              const script = Object.assign(document.createElement('script'), { src: `${base}api/snapshot` });
              script.onload = () => resolve('loaded');
              script.onerror = () => reject(new Error('refused'));
              document.head.append(script);
            }),
        ),
      };
    }, address(''));
    const { simple, ...others } = tried;
    expect(others).toEqual({
      snapshot: 'refused',
      preflight: 'refused',
      events: 'refused',
      socket: 'refused',
      script: 'refused',
    });
    // It may be sent, and nobody may see the refusal.
    expect(['opaque', 'refused']).toContain(simple);
    expect(attack.inspector.snapshot().connections.length).toBe(connections);
  });

  test.each([WEBSITE, '127.0.0.1'])('at %s cannot send a form', async (host) => {
    const { other } = await beside(host);
    const connections = attack.inspector.snapshot().connections.length;
    const answered = other.waitForResponse((response) => response.url().includes('api/run/connect'));
    await other.evaluate((action) => {
      const form = Object.assign(document.createElement('form'), {
        method: 'post',
        enctype: 'text/plain',
        action,
      });
      form.append(
        Object.assign(document.createElement('input'), { name: '{"text":"words","x":"', value: '"}' }),
      );
      document.body.append(form);
      form.submit();
    }, address('api/run/connect'));
    expect((await answered).status()).toBeGreaterThanOrEqual(401);
    expect(attack.inspector.snapshot().connections.length).toBe(connections);
  });

  test.each([WEBSITE, '127.0.0.1'])(
    'at %s cannot show the inspector in a frame or hold its window',
    async (host) => {
      const { other } = await beside(host);
      const framed = other.waitForEvent('framenavigated', (frame) => frame !== other.mainFrame());
      await other.evaluate((src) => {
        document.body.append(Object.assign(document.createElement('iframe'), { src }));
      }, attack.served.url);
      expect((await framed).url()).toMatch(/^chrome-error:/);
      const opened = other.context().waitForEvent('page');
      await other.evaluate((url) => Object.assign(window, { held: window.open(url) }), attack.served.url);
      const page = await opened;
      await place(page).waitFor();
      expect(await page.evaluate(() => window.opener)).toBe(null);
      await expect
        .poll(() => other.evaluate(() => (window as unknown as { held: Window }).held.closed))
        .toBe(true);
    },
  );

  test('that lets its name point to this computer gets nothing but a refusal', async () => {
    const { context } = await beside(WEBSITE);
    const rebound = await context.newPage();
    const url = attack.served.url.replace('127.0.0.1', WEBSITE);
    for (const each of [url, `${url.split('?', 1)[0]}api/snapshot`]) {
      const response = await rebound.goto(each);
      expect(response?.status()).toBe(403);
      expect(await response?.headerValue('set-cookie')).toBe(null);
    }
    expect(await context.cookies(url)).toEqual([]);
  });

  test('learns neither the token nor the cookie', async () => {
    const { context, page } = await beside('127.0.0.1');
    expect(page.url()).not.toContain('token');
    expect(await page.evaluate(() => document.cookie)).toBe('');
    // Another server of this computer: browsers do not tell ports apart.
    for (const { headers } of attack.website.visits) expect(headers.cookie).toBeUndefined();
    attack.website.visits.length = 0;
    await page.goto(address('#/tools/markdown'));
    await runTool(page);
    await result(page).waitFor();
    const opened = context.waitForEvent('page');
    await result(page).getByRole('link', { name: 'site', exact: true }).click();
    const linked = await opened;
    await linked.waitForLoadState();
    expect(await linked.evaluate(() => [document.referrer, window.opener])).toEqual(['', null]);
    const [visit] = attack.website.visits;
    expect([visit?.path, visit?.headers.referer, visit?.headers.cookie]).toEqual([
      '/linked',
      undefined,
      undefined,
    ]);
  });
});
