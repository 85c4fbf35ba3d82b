import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { until } from '../support/until.js';

/** A page that is open, and everything that it shows, logs and keeps open. */
export interface Visit extends AsyncDisposable {
  readonly page: Page;
  /** The lines that the page has noted so far, parsed. */
  readonly notes: () => Promise<unknown[]>;
  /** The final result of the page. Fails if the result is a failure, or if something is still open. */
  readonly result: () => Promise<unknown>;
  /** Errors and warnings of the console, and uncaught exceptions. */
  readonly complaints: readonly string[];
  /** The requests of the page, as `method path`. */
  readonly sent: readonly string[];
}

/** Opens the page at `origin`, which runs the scenario. */
export async function visit(
  browser: Browser,
  origin: string,
  scenario: Readonly<Record<string, string>>,
): Promise<Visit> {
  // A separate context shares no cache, cookies or preflights with others.
  const context = await browser.newContext();
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const logged: string[] = [];
  const sent: string[] = [];
  const opening = new Set<object>();
  let overtaken = 0;
  const open = new Set<object>();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      logged.push(`${message.text()} at ${message.location().url}`);
  });
  page.on('pageerror', (error) => logged.push(`Not caught: ${error.message}`));
  page.on('request', (request) => {
    open.add(request);
    if (request.method() === 'GET') opening.add(request);
    if (request.method() === 'DELETE') overtaken += opening.size;
    sent.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
  page.on('response', (response) => opening.delete(response.request()));
  page.on('websocket', (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  await page.goto(`${origin}/?${new URLSearchParams(scenario)}`, { waitUntil: 'commit' });

  return {
    page,
    // The browser does not keep requests in order: the DELETE that ends a session may overtake the GET that opens its
    // stream. The browser then logs the 404, although the client has already aborted the GET.
    get complaints() {
      let ignored = 0;
      return logged.filter((line) => !(/\b404 .*\/mcp$/.test(line) && ignored++ < overtaken));
    },
    sent,
    notes: async () => (await page.locator('li').allTextContents()).map((text) => JSON.parse(text)),
    async result() {
      const output = page.locator('output[data-state]');
      const text = (await output.textContent()) ?? '';
      expect(await output.getAttribute('data-state'), text).toBe('done');
      await until('no request or socket outlives the client', () => open.size === 0);
      return JSON.parse(text);
    },
    async [Symbol.asyncDispose]() {
      await context.close();
    },
  };
}
