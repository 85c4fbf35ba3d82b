// Checks of a page's accessibility.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Makes axe ready in a page: not as a script of the page, which its policy would refuse. */
export async function loadAxe(page: Page): Promise<void> {
  await page.evaluate(axe);
}

/** The violations that axe finds, as one line each. */
export async function violations(page: Page): Promise<readonly string[]> {
  const found = await page.evaluate(() =>
    (
      globalThis as unknown as { axe: { run: (options: object) => Promise<{ violations: Violation[] }> } }
    ).axe.run({ resultTypes: ['violations'] }),
  );
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
