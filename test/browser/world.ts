import { type Serving, serve } from 'fullmcp/node';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { launch } from './chromium.js';
import { type Demo, demo } from './demo-server.js';
import { openSite, type Site } from './site.js';
import { type Visit, visit } from './visit.js';

export interface World {
  readonly site: Site;
  readonly demo: Demo;
  /** The server's address; its origin is not that of the page. */
  readonly url: (scheme?: 'http' | 'ws', path?: string) => string;
  /** Opens the page, under the name `host`; it is closed after the test. */
  readonly open: (scenario: Readonly<Record<string, string>>, host?: string) => Promise<Visit>;
}

/** A browser, a site and a server for the tests of a `describe`. */
export function useWorld(): World {
  let browser: Browser;
  let site: Site;
  let serving: Serving;
  const demoServer = demo();
  const visits: Visit[] = [];

  beforeAll(async () => {
    [browser, site, serving] = await Promise.all([
      launch(),
      openSite(),
      serve(demoServer.server, { port: 0, signals: false }),
    ]);
  }, 120_000);

  afterEach(async () => {
    for (const past of visits.splice(0)) await past[Symbol.asyncDispose]();
  });

  afterAll(async () => {
    await browser?.close();
    await serving?.close();
    await site?.[Symbol.asyncDispose]();
  });

  return {
    get site() {
      return site;
    },
    demo: demoServer,
    url: (scheme = 'http', path = '/mcp') => `${scheme}://localhost:${serving.port}${path}`,
    async open(scenario, host = '127.0.0.1') {
      const opened = await visit(browser, `http://${host}:${site.port}`, scenario);
      visits.push(opened);
      return opened;
    },
  };
}
