import type { Server } from 'fullmcp';
import { type Serving, serve } from 'fullmcp/node';
import type { Browser, Frame, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { until } from '../../support/until.js';
import { launch } from '../chromium.js';
import { type HostSite, openHostSite } from './host-site.js';

export interface Hosts {
  /** Opens the page of a host; it is closed after the test. */
  readonly open: (script?: string, options?: Parameters<HostSite['page']>[1]) => Promise<Page>;
  /** The address of the sandbox. */
  readonly sandbox: () => string;
  /** The address of the server. */
  readonly url: () => string;
  readonly browser: () => Browser;
}

/** A browser, the website of hosts, and a server for the tests of a `describe`. */
export function useHosts(server: Server, ...scripts: readonly string[]): Hosts {
  let browser: Browser;
  let site: HostSite;
  let serving: Serving;
  const pages: Page[] = [];

  beforeAll(async () => {
    [browser, site, serving] = await Promise.all([
      launch('whole'),
      openHostSite(...scripts),
      serve(server, { port: 0, signals: false }),
    ]);
  }, 120_000);

  afterEach(async () => {
    for (const page of pages.splice(0)) await page.context().close();
  });

  afterAll(async () => {
    await browser?.close();
    await serving?.close();
    await site?.[Symbol.asyncDispose]();
  });

  return {
    async open(script = scripts[0] as string, options = {}) {
      const context = await browser.newContext();
      context.setDefaultTimeout(10_000);
      const page = await context.newPage();
      pages.push(page);
      await page.goto(site.page(script, options));
      await page.waitForFunction(() => 'show' in window);
      return page;
    },
    sandbox: () => site.sandbox,
    url: () => `http://localhost:${serving.port}/mcp`,
    browser: () => browser,
  };
}

/** The frame of the app that a page shows: in that of a sandbox, unless the app is shown without one. */
export async function appFrame(page: Page, { sandbox = true } = {}): Promise<Frame> {
  const outer = await frameIn(page);
  return sandbox ? frameIn(outer) : outer;
}

async function frameIn(place: Page | Frame): Promise<Frame> {
  const element = await place.waitForSelector('iframe', { state: 'attached' });
  const frame = await element.contentFrame();
  if (frame === null) throw new Error('The frame has no page');
  return frame;
}

/** A browser that handles messages of several megabytes on a busy machine takes its time. */
const PATIENCE_MS = 45_000;

/** Waits until the host has noted something, and returns all notes. */
export async function notesUntil(page: Page, found: (notes: unknown[][]) => boolean): Promise<unknown[][]> {
  let notes: unknown[][] = [];
  await until(
    'the host notes it',
    async () => {
      notes = await page.evaluate(() => (window as unknown as { notes: unknown[][] }).notes);
      return found(notes);
    },
    PATIENCE_MS,
  );
  return notes;
}
