import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import demo from '../../../examples/demo/server.js';
import { foundServers } from '../../../src/cli/inspecting/found-servers.js';
import { UsedServers } from '../../../src/cli/inspecting/used-servers.js';
import { type Serving, serve } from '../../../src/node.js';
import { describeInChromium } from '../../browser/chromium.js';
import { field, place, result, runTool } from './support/find.js';
import { demoCommand, usePage } from './support/world.js';

describeInChromium('the page of the inspector connects', () => {
  const world = usePage();
  let serving: Serving;
  beforeAll(async () => {
    serving = await serve(demo, { port: 0, signals: false });
  });
  afterAll(() => serving.close());

  test.each([
    { over: 'stdio', typed: () => demoCommand, revision: '2026-07-28' },
    { over: 'http', typed: () => serving.url, revision: '2026-07-28' },
    { over: 'http+sse', typed: () => serving.url.replace(/mcp$/, 'sse'), revision: '2025-11-25' },
    { over: 'websocket', typed: () => serving.url.replace('http', 'ws'), revision: '2026-07-28' },
  ])('over $over, from the typed address to the first result', async ({ over, typed, revision }) => {
    const page = await world.visit('#/connect');
    await page.getByLabel('A URL, a command, or a pasted mcpServers JSON').fill(typed());
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await place(page)
      .getByRole('link', { name: /^add\b(?!_)/ })
      .click();
    await field(page, 'a').fill('2');
    await field(page, 'b').fill('40');
    await runTool(page);
    await result(page).getByText('42').waitFor();
    const connection = world.inspector.snapshot().connections.at(-1);
    expect(connection).toMatchObject({ transport: over, revision, status: 'ready' });
    await expect.poll(() => page.locator('.frame-revision').first().textContent()).toContain(revision);
  });

  test('says what to do if nothing listens, and keeps what was typed', async () => {
    const page = await world.visit('#/connect');
    const field = page.getByLabel('A URL, a command, or a pasted mcpServers JSON');
    await field.fill('http://127.0.0.1:9/mcp');
    await field.press('Enter');
    await page
      .getByText(/nothing listens|refused/i)
      .first()
      .waitFor();
    await page
      .getByRole('button', { name: /try again/i })
      .first()
      .waitFor();
  });

  test('shows each step of connecting with its time', async () => {
    await world.connect(serving.url);
    const page = await world.visit('#/timeline');
    await page
      .getByText(/connect/)
      .first()
      .waitFor();
    const steps = world.inspector.snapshot().connections.at(-1)?.steps ?? [];
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.every(({ ms }) => ms !== undefined)).toBe(true);
  });
});

describeInChromium('the servers that were used before', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-used-'));
  const used = new UsedServers(join(folder, 'used.json'));
  beforeAll(async () => {
    for (const cwd of ['/work/shop', '/work/bank', '/work/shop'])
      await used.remember({ text: 'server.js', cwd }, 'server.js', undefined);
    for (const spec of [{ text: 'npx demo' }, { command: 'npx', args: ['demo'] }])
      await used.remember(spec, 'npx demo', undefined);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const world = usePage({ found: () => foundServers([], used) });

  test('are never two equal rows: the folder tells them apart', async () => {
    const page = await world.visit('#/connect');
    const rows = page.getByRole('region', { name: 'Found here' }).getByRole('listitem');
    await expect
      .poll(async () => (await rows.allTextContents()).map((text) => text.replace(/today$/, '')))
      .toEqual(['npx demo', 'server.jsin /work/shop', 'server.jsin /work/bank']);
  });
});
