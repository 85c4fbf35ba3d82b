// An inspector beside a hostile server, a browser that notes everything it does, and a website that waits for what leaks.

import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { createInspector, type RunningInspector } from '../../../../src/inspector/create-inspector.js';
import { type ServedInspector, serveInspector } from '../../../../src/inspector/host/serve-inspector.js';
import { launch, WEBSITE } from '../../../browser/chromium.js';
import { until } from '../../../support/until.js';

const script = fileURLToPath(new URL('hostile-server.js', import.meta.url));

/** A website of someone else. */
interface Website {
  readonly port: number;
  /** Under a name that only the browser of these tests knows. */
  readonly origin: string;
  /** The connections that were opened to it. */
  readonly connections: number;
  /** The requests that came. */
  readonly visits: { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** The resources that it serves. */
  html: string;
}

/** A page of the inspector, and what it did. */
export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Fails if something of the server ran, opened or left the inspector. */
  readonly expectUnharmed: () => Promise<void>;
}

export interface Attack {
  readonly inspector: RunningInspector;
  readonly served: ServedInspector;
  readonly website: Website;
  readonly browser: Browser;
  /** Connects to a kind of hostile server. Returns the id of the connection. */
  readonly connect: (kind: 'words' | 'many' | 'bulk') => Promise<string>;
  readonly visit: (hash?: string) => Promise<Watched>;
}

export function useAttack(): Attack {
  let browser: Browser;
  let inspector: RunningInspector;
  let served: ServedInspector;
  let site: Server;
  let connections = 0;
  const contexts: BrowserContext[] = [];
  const website: Website = {
    get port() {
      return (site.address() as AddressInfo).port;
    },
    get origin() {
      return `http://${WEBSITE}:${website.port}`;
    },
    get connections() {
      return connections;
    },
    visits: [],
    html: '',
  };

  beforeAll(async () => {
    site = createServer((req, res) => {
      website.visits.push({ path: req.url ?? '', headers: req.headers });
      res.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'no-store' }).end(website.html);
    });
    site.on('connection', () => connections++);
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    browser = await launch();
    inspector = createInspector({
      version: '0.0.0',
      openTarget: async ({ text = '' }) => ({
        target: { command: process.execPath, args: [script, text, website.origin] },
        options: { revision: '2025-11-25' },
        address: text,
        typed: text,
      }),
    });
    served = await serveInspector(inspector);
  }, 120_000);
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  afterAll(async () => {
    await browser?.close();
    await served?.close();
    await inspector?.close();
    site?.closeAllConnections();
    site?.close();
  });

  return {
    get inspector() {
      return inspector;
    },
    get served() {
      return served;
    },
    get browser() {
      return browser;
    },
    website,
    async connect(kind) {
      const id = await inspector.open({ text: kind });
      await until('the lists are there', () => {
        const view = inspector.snapshot().connections.find((each) => each.id === id);
        if (view?.status === 'failed') throw new Error(view.failure?.message);
        return (view?.catalogVersion ?? 0) > 0;
      });
      return id;
    },
    async visit(hash = '') {
      const context = await browser.newContext({ reducedMotion: 'reduce' });
      contexts.push(context);
      context.setDefaultTimeout(30_000);
      return watch(context, { url: served.url, hash, website });
    },
  };
}

interface WatchedWindow {
  pwned?: unknown;
  violations: string[];
}

async function watch(
  context: BrowserContext,
  { url, hash, website }: { url: string; hash: string; website: Website },
): Promise<Watched> {
  const requests: Request[] = [];
  const faults: string[] = [];
  const own = new URL(url);
  const before = website.visits.length;
  // A violation of the own policy of the page has got too far. Apps are in frames, with policies of their own.
  await context.addInitScript(() => {
    if (window !== window.top) return;
    const all: string[] = [];
    Object.assign(window, { violations: all });
    addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
      all.push(`${effectiveDirective} ${blockedURI}`);
    });
  });
  context.on('request', (request) => requests.push(request));
  const page = await context.newPage();
  context.on('page', (other) => faults.push(`opened ${other.url()}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => faults.push(`error ${error.message}`));
  page.on('crash', () => faults.push('crashed'));
  page.on('framenavigated', (frame) => {
    if (frame === page.mainFrame() && new URL(frame.url()).pathname !== own.pathname)
      faults.push(`left for ${frame.url()}`);
  });
  await page.goto(`${url}${hash}`);

  async function expectUnharmed(): Promise<void> {
    const seen = await page.evaluate(() => {
      const { pwned, violations } = window as unknown as WatchedWindow;
      const elements = [...document.querySelectorAll('*')];
      return {
        pwned: [pwned, ({} as WatchedWindow).pwned].filter((value) => value !== undefined),
        violations,
        handlers: elements.flatMap((element) =>
          element.getAttributeNames().filter((name) => /^on/.test(name)),
        ),
        strange: elements
          .filter((element) =>
            element.matches('base, object, embed, form[action], meta[http-equiv], foreignObject'),
          )
          .map(({ outerHTML }) => outerHTML.slice(0, 200)),
        scripts: [...document.scripts].map(({ src }) => src),
        addresses: [...document.body.querySelectorAll('[href], [src]')].map(
          (element) => element.getAttribute('href') ?? element.getAttribute('src') ?? '',
        ),
      };
    });
    expect(seen).toMatchObject({ pwned: [], violations: [], handlers: [], strange: [] });
    for (const address of [...seen.addresses, ...seen.scripts]) {
      const { protocol } = new URL(address, url);
      expect(['http:', 'https:', 'blob:', 'data:'], address.slice(0, 100)).toContain(protocol);
      if (protocol === 'data:') expect(address).toMatch(/^data:image\//);
    }
    for (const script of seen.scripts) expect(new URL(script).origin).toBe(own.origin);
    // The browser also reports requests that the policy of an app has stopped. Each of them fails; none reaches the website.
    await expect
      .poll(() => requests.filter((request) => !isOwn(request.url()) && request.failure() === null))
      .toEqual([]);
    expect([faults, website.visits.slice(before)]).toEqual([[], []]);
  }
  /** The inspector and its sandbox are at the same address, and the website has another name. */
  function isOwn(request: string): boolean {
    return /^(blob|data|about):/.test(request) || new URL(request).hostname === own.hostname;
  }
  return { page, context, expectUnharmed };
}
