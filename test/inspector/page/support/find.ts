// Where things are on the page of the inspector.

import type { Locator, Page } from 'playwright-core';

/** The place that is shown, without the bar and the timeline. */
export const place = (page: Page): Locator => page.locator('#main');

/** The field of a form with this name, whether it is required or not. */
export const field = (page: Page, name: string): Locator =>
  place(page).getByLabel(new RegExp(`^${name}\\*?$`));

export const result = (page: Page): Locator => place(page).getByRole('region', { name: 'Result' });

/** Waits for the form of a tool, and runs it with the keyboard. */
export async function runTool(page: Page): Promise<void> {
  await place(page).getByRole('button', { name: 'Run', exact: true }).waitFor();
  await page.keyboard.press('Control+Enter');
}
