// A browser and an inspector with its page, for the tests of a file.

import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Target } from '../../../../src/connect/targets/target.js';
import type { TargetSpec } from '../../../../src/inspector/contract/connection.js';
import type { InspectorOptions, OpenedTarget } from '../../../../src/inspector/contract/options.js';
import type { Story } from '../../../../src/inspector/contract/story.js';
import { createInspector, type RunningInspector } from '../../../../src/inspector/create-inspector.js';
import { type ServedInspector, serveInspector } from '../../../../src/inspector/host/serve-inspector.js';
import type { Revision } from '../../../../src/protocol/tables/revisions.js';
import { launch } from '../../../browser/chromium.js';
import { until } from '../../../support/until.js';

/** The command that starts the demo over stdio. */
export const demoCommand = `${process.execPath} ${fileURLToPath(
  new URL('../../../../build/examples/demo/main.js', import.meta.url),
)} --stdio`;

export interface PageWorld {
  readonly inspector: RunningInspector;
  readonly browser: Browser;
  /** Opens the page at an address such as `#/tools/add`. A test fails if its page logs an error. */
  readonly visit: (hash?: string, options?: VisitOptions) => Promise<Page>;
  /** Connects to a server, waits for its lists, and shows it first. Returns the id of the connection. */
  readonly connect: (target: Target, revision?: Revision) => Promise<string>;
  /** The stories of a tool, prompt or URI, oldest first. */
  readonly storiesOf: (title: string) => readonly Story[];
}

interface VisitOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  /** The platform that the browser says it runs on, as in `MacIntel`. */
  readonly platform?: string;
  /** Whether it stays open for the next test. */
  readonly isKept?: boolean;
}

/** One browser and one inspector for the tests of a file. Each page has a context of its own. */
export function usePage(options: Partial<InspectorOptions> = {}): PageWorld {
  let browser: Browser;
  let inspector: RunningInspector;
  let served: ServedInspector;
  const objects = new Map<string, Target>();
  const contexts: BrowserContext[] = [];
  const kept: BrowserContext[] = [];
  const faults: string[] = [];

  beforeAll(async () => {
    browser = await launch();
    inspector = createInspector({
      version: '0.0.0',
      openTarget: async (spec) => openedOf(spec, objects),
      ...options,
    });
    served = await serveInspector(inspector);
  }, 120_000);
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(faults.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await served?.close();
    await inspector?.close();
  });

  return {
    get inspector() {
      return inspector;
    },
    get browser() {
      return browser;
    },
    async visit(hash = '', { width = 1440, height = 900, theme = 'light', platform, isKept = false } = {}) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        reducedMotion: 'reduce',
      });
      (isKept ? kept : contexts).push(context);
      context.setDefaultTimeout(15_000);
      if (platform !== undefined)
        await context.addInitScript((value) => {
          Object.defineProperty(navigator, 'platform', { get: () => value });
        }, platform);
      const page = await context.newPage();
      page.on('pageerror', (error) => faults.push(`${hash}: ${error.message}`));
      page.on('console', (message) => {
        // The browser notes each request that is refused; the page says why.
        const isRefusal = message.text().startsWith('Failed to load resource');
        const isOwn = message.location().url.startsWith(new URL(served.url).origin);
        if (message.type() === 'error' && isOwn && !isRefusal) faults.push(`${hash}: ${message.text()}`);
      });
      await page.goto(`${served.url}${hash}`);
      return page;
    },
    async connect(target, revision) {
      const name = `object ${objects.size}`;
      objects.set(name, target);
      const id = await inspector.open({ text: name, ...(revision !== undefined && { revision }) });
      await until('the lists are there', () => {
        const view = inspector.snapshot().connections.find((each) => each.id === id);
        if (view?.status === 'failed') throw new Error(view.failure?.message);
        return (view?.catalogVersion ?? 0) > 0;
      });
      return id;
    },
    storiesOf: (title) => inspector.snapshot().stories.filter((story) => story.title === title),
  };
}

/** A server of this process by its name, a URL, or a command. */
function openedOf(spec: TargetSpec, objects: ReadonlyMap<string, Target>): OpenedTarget {
  const text = spec.url ?? spec.text ?? '';
  const [command = '', ...args] = text.split(' ');
  const target = objects.get(text) ?? (/^\w+:\/\//.test(text) ? text : { command, args });
  const revision = spec.revision as Revision | undefined;
  return { target, options: { ...(revision !== undefined && { revision }) }, address: text, typed: text };
}
