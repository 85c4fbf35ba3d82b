import { mkdtempSync, rmSync } from 'node:fs';
import { appendFile, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, tool } from 'fullmcp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createInspector } from '../../../src/inspector/create-inspector.js';
import { describeInChromium } from '../../browser/chromium.js';
import { until } from '../../support/until.js';
import { loadAxe, violations } from './support/axe.js';
import { place } from './support/find.js';
import { usePage } from './support/world.js';

const folder = mkdtempSync(join(tmpdir(), 'fullmcp-page-history-'));
const requestsFile = join(folder, 'mcp.requests.json');
const server = createServer({
  name: 'shop',
  version: '1.0.0',
  tools: {
    greet: tool({ input: z.object({ name: z.string() }), run: ({ name }) => `Hello, ${name}!` }),
    login: tool({
      input: z.object({ user: z.string(), password: z.string() }),
      run: ({ user }) => `in as ${user}`,
    }),
    rows: tool({ run: () => ({ rows: Array.from({ length: 4000 }, (_, at) => `row ${at} of many`) }) }),
  },
});

/** The inspector of an earlier visit. */
async function visitBefore(): Promise<void> {
  const inspector = createInspector({
    version: '0.0.0',
    historyFolder: folder,
    openTarget: async () => ({ target: server, options: {}, address: 'object 0', typed: 'shop' }),
  });
  const connection = await inspector.open({ text: 'shop' });
  await until('the lists are there', () => (inspector.catalog(connection)?.version ?? 0) > 0);
  for (const [name, args] of [
    ['greet', { name: 'Ada' }],
    ['login', { user: 'ada', password: 'sesame-4711' }],
    ['rows', {}],
  ] as const)
    await inspector.run('call', { connection, tool: name, args });
  await until('the calls are over', () =>
    inspector.snapshot().stories.every(({ kind, endedAt }) => kind !== 'tool' || endedAt !== undefined),
  );
  await inspector.close();
  // A line that somebody has broken.
  await appendFile(join(folder, 'history.ndjson'), '{"id":"torn');
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeInChromium('the calls of an earlier visit', () => {
  const world = usePage({ historyFolder: folder, requestsFile });
  beforeAll(async () => {
    await visitBefore();
    await world.connect(server);
  }, 120_000);

  test('stand in the timeline with those of today, and are opened to read', async () => {
    const page = await world.visit('#/timeline');
    const list = page.getByRole('listbox', { name: 'Calls, newest first' });
    await list.getByText('from an earlier visit').first().waitFor();
    expect(await list.locator('.is-earlier').count()).toBe(3);
    await page.getByText('is damaged: 1 of 4 calls cannot be read').waitFor();
    const [story] = world.storiesOf('greet');
    await page.goto(page.url().replace(/#.*/, `#/call/${story?.id}`));
    await place(page).getByText('From an earlier visit').waitFor();
    await place(page).getByText('Hello, Ada!').first().waitFor();
    expect(await place(page).getByRole('heading', { name: 'Messages' }).count()).toBe(0);
    await loadAxe(page);
    expect(await violations(page)).toEqual([]);
    await page.goto(page.url().replace(/#.*/, `#/call/${world.storiesOf('rows')[0]?.id}`));
    await place(page).getByText('the beginning was kept').waitFor();
  });

  test('are not shown as the result of a tool until they are picked, and then run again and are saved', async () => {
    const page = await world.visit('#/tools/greet');
    await place(page).getByRole('button', { name: /^Run/ }).first().waitFor();
    expect(await place(page).getByText('Hello, Ada!').count()).toBe(0);
    await page.getByRole('button', { name: 'Earlier runs' }).click();
    await page.getByRole('menuitem', { name: /earlier visit/ }).click();
    await place(page).getByText('Hello, Ada!').first().waitFor();
    await place(page).getByText('From an earlier visit').waitFor();

    await place(page).getByRole('button', { name: 'Keep this request' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(JSON.parse(await readFile(requestsFile, 'utf8'))).toMatchObject({
      requests: [{ tool: 'greet', arguments: { name: 'Ada' }, expect: { equal: 'Hello, Ada!' } }],
    });

    await place(page).getByRole('button', { name: 'Run again' }).click();
    await expect.poll(() => world.storiesOf('greet').length).toBe(2);
    expect(world.storiesOf('greet')[1]).toMatchObject({
      args: { name: 'Ada' },
      repeats: world.storiesOf('greet')[0]?.id,
    });
  });

  test('without their secrets are not sent, and their other arguments go into the form', async () => {
    const page = await world.visit('#/tools/login');
    await page.getByRole('button', { name: 'Earlier runs' }).click();
    await page.getByRole('menuitem', { name: /earlier visit/ }).click();
    await place(page).getByText('Secrets in its arguments were not kept.').waitFor();
    expect(await place(page).getByRole('textbox', { name: 'user' }).inputValue()).toBe('ada');
    expect(await place(page).getByRole('textbox', { name: 'password' }).inputValue()).toBe('');
    await place(page).getByRole('button', { name: 'Run again' }).click();
    await place(page).getByText('The history does not keep secrets.').waitFor();
    expect(world.storiesOf('login')).toHaveLength(1);
  });

  test('are forgotten under Settings, in the page and in the file', async () => {
    const page = await world.visit('#/server/settings');
    await place(page).getByRole('button', { name: 'Forget the history' }).click();
    await place(page).getByRole('button', { name: 'Forget the history: really?' }).click();
    await page.getByText('The history is forgotten').waitFor();
    await expect.poll(() => world.storiesOf('rows')).toEqual([]);
    await expect(readFile(join(folder, 'history.ndjson'), 'utf8')).rejects.toThrow('ENOENT');
  });
});
