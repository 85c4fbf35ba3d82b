// The caller for development, which the details of Connect name.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { openTarget } from '../../../src/cli/inspecting/open-target.js';
import { UsedServers } from '../../../src/cli/inspecting/used-servers.js';
import { describeInChromium } from '../../browser/chromium.js';
import { folderWith } from '../../cli/project/support.js';
import { place, result, runTool } from './support/find.js';
import { usePage } from './support/world.js';

/** A server that answers nobody whom it does not know. */
const TRACKER = `
import { defineWith, McpError } from 'fullmcp';
const { createServer, tool } = defineWith({
  user: ({ auth }) => {
    if (auth === undefined) throw new McpError('unauthorized', 'Log in first.');
    return auth.subject;
  },
});
export default createServer({
  name: 'tracker',
  version: '1.0.0',
  tools: {
    me: tool({ run: (_, { user, auth }) => ({ user, scopes: auth.scopes, team: auth.claims.team ?? 'none' }) }),
    admin: tool({ scopes: ['admin'], run: () => 'done' }),
  },
});
`;

const state = mkdtempSync(join(tmpdir(), 'fullmcp-caller-'));
const used = new UsedServers(join(state, 'used.json'));
afterAll(() => rmSync(state, { recursive: true, force: true }));

/** Types the address, and the caller and scopes under the details, and connects. */
async function connectAs(page: Page, { address, caller = '', scopes = '' }: Typed): Promise<void> {
  await page.getByLabel(/^A URL, a command/).fill(address);
  if (!(await page.getByLabel('Caller').isVisible()))
    await page.getByText('Headers, token, environment, caller, revision').click();
  await page.getByLabel('Caller').fill(caller);
  await page.getByLabel('Scopes').fill(scopes);
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
}

interface Typed {
  readonly address: string;
  readonly caller?: string;
  readonly scopes?: string;
}

describeInChromium('the caller of a server in a file', { timeout: 120_000 }, () => {
  const world = usePage({
    openTarget: (spec) => openTarget(spec, { places: async () => [], used }),
    onConnected: (spec, opened, failure) => void used.remember(spec, opened.address, failure),
  });
  const tracker = async (): Promise<string> =>
    join(await folderWith({ 'server.mjs': TRACKER }), 'server.mjs');
  /** The page without a connection. A process takes a while to start. */
  const visit = async (): Promise<Page> => {
    for (const { id } of world.inspector.snapshot().connections)
      await world.inspector.run('disconnect', { connection: id });
    const page = await world.visit('#/connect');
    page.setDefaultTimeout(60_000);
    return page;
  };

  test('is named with its scopes under Connect, and the handler and the copied command know it', async () => {
    const page = await visit();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const address = await tracker();
    await connectAs(page, { address, caller: 'ada', scopes: 'read, admin' });
    await place(page).getByRole('link', { name: /^me/ }).waitFor();
    await place(page)
      .getByRole('link', { name: /^admin/ })
      .waitFor();
    await runTool(page);
    await result(page).getByText('ada').first().waitFor();
    expect(world.storiesOf('me').at(-1)?.outcome).toMatchObject({
      content: [{ text: '{"user":"ada","scopes":["read","admin"],"team":"none"}' }],
    });
    await page.keyboard.press('c');
    await page.getByText('Copied as command line').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      `fullmcp call ${address} --as ada --scopes read,admin me`,
    );
  });

  test('may have claims, which are typed as JSON and are not remembered', async () => {
    const page = await visit();
    const caller = '{"subject":"bob","scopes":["read"],"claims":{"team":"blue"}}';
    await connectAs(page, { address: await tracker(), caller });
    await place(page).getByRole('link', { name: /^me/ }).waitFor();
    expect(
      await place(page)
        .getByRole('link', { name: /^admin/ })
        .count(),
    ).toBe(0);
    await runTool(page);
    await result(page).getByText('blue').first().waitFor();
    expect(JSON.stringify(await used.list())).not.toContain('blue');
  });

  test('is asked for where the server refuses to answer nobody, and replaces the connection', async () => {
    const page = await visit();
    const address = await tracker();
    await connectAs(page, { address });
    await place(page).getByRole('link', { name: /^me/ }).waitFor();
    await runTool(page);
    await place(page).getByText('Log in first.').first().waitFor();
    await place(page).getByRole('button', { name: 'Name a caller' }).click();
    // The address is there already, the details are open, and the cursor is where the name is typed.
    const caller = page.getByLabel('Caller');
    await expect.poll(() => caller.evaluate((field) => field === document.activeElement)).toBe(true);
    expect(await page.getByLabel(/^A URL, a command/).inputValue()).toBe(address);
    await page.keyboard.type('ada');
    await page.keyboard.press('Enter');
    await place(page).getByRole('link', { name: /^me/ }).waitFor();
    await runTool(page);
    await result(page).getByText('ada').first().waitFor();
    await expect.poll(() => world.inspector.snapshot().connections.length).toBe(1);
  });

  test('is refused with a sentence for anything that is not a file, without a subject, and for wrong JSON', async () => {
    const page = await visit();
    const address = await tracker();
    for (const [typed, says] of [
      [
        { address: 'http://127.0.0.1:9/mcp', caller: 'ada' },
        /A caller is for a JavaScript or TypeScript file/,
      ],
      [{ address, scopes: 'read' }, 'Scopes need a caller'],
      [{ address, caller: '{"subject":' }, 'The caller is not JSON.'],
      [{ address, caller: '{"subject":"ada","scope":["a"]}' }, 'Did you mean "scopes"?'],
    ] as const) {
      await connectAs(page, typed);
      const alert = page.locator('.connect-form .error-panel', { hasText: says });
      await alert.waitFor();
      // The typed words stay.
      expect(await page.getByLabel('Caller').inputValue()).toBe('caller' in typed ? typed.caller : '');
    }
    expect(world.inspector.snapshot().connections).toEqual([]);
  });
});
