import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInChromium } from '../../browser/chromium.js';
import { type ProtectedSetup, startProtected } from '../../support/oauth/provider.js';
import { loadAxe, violations } from './support/axe.js';
import { place, result, runTool } from './support/find.js';
import { usePage } from './support/world.js';

describeInChromium('a login through OAuth', () => {
  const world = usePage();
  let setup: ProtectedSetup;
  beforeAll(async () => {
    setup = await startProtected();
  });
  afterAll(() => setup.close());

  test('opens on a click only, shows each hop and the token, and is forgotten', async () => {
    const page = await world.visit('#/connect');
    await page.getByLabel('A URL, a command, or a pasted mcpServers JSON').fill(setup.url);
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    const link = page.getByRole('link', { name: /^Log in at/ });
    await link.waitFor();
    expect(page.context().pages()).toHaveLength(1);
    // The cursor is at the next thing to do.
    await expect.poll(() => link.evaluate((element) => element === document.activeElement)).toBe(true);
    await loadAxe(page);
    expect(await violations(page)).toEqual([]);
    expect(await link.getAttribute('rel')).toBe('noreferrer noopener');

    const [login] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
    await login.locator('input[name=login]').fill('ann');
    await login.locator('input[name=password]').fill('secret');
    await login.locator('button[type=submit]').click();
    await login.locator('button[type=submit]').click();
    await page.bringToFront();
    // The time in which the user logged in is not the server's.
    await expect
      .poll(() => world.inspector.snapshot().stories.find(({ kind }) => kind === 'connect')?.state)
      .toBe('ok');
    const connecting = world.inspector.snapshot().stories.find(({ kind }) => kind === 'connect');
    expect(connecting?.youMs).toBeGreaterThan(connecting?.serverMs ?? 0);
    await place(page).getByRole('link', { name: /^read/ }).click();
    await runTool(page);
    await result(page).getByText('read').first().waitFor();

    await page.keyboard.press('Escape');
    await page.goto(`${page.url().split('#')[0]}#/server/auth`);
    await place(page)
      .getByText(/Logged in/)
      .waitFor();
    for (const step of ['asked without a token', 'found its metadata', 'you agreed', 'got a token'])
      await place(page)
        .getByRole('button', { name: new RegExp(step) })
        .first()
        .waitFor();
    await place(page)
      .getByRole('button', { name: /got a token/ })
      .click();
    await place(page).getByText('grant_type=authorization_code').waitFor();
    expect(await violations(page)).toEqual([]);
    // No token reaches the page.
    const [issued = ''] = setup.issued;
    expect(issued.length).toBeGreaterThan(20);
    expect(await page.content()).not.toContain(issued);
    expect(JSON.stringify(world.inspector.snapshot())).not.toContain(issued);

    await place(page).getByRole('button', { name: 'Forget everything' }).click();
    await place(page).getByRole('button', { name: 'Forget everything: really?' }).click();
    await expect.poll(() => world.inspector.snapshot().connections[0]?.auth.token).toBeUndefined();
    await expect.poll(() => place(page).getByText('Claims').count()).toBe(0);
  });
});
