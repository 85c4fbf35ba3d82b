import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, tool } from 'fullmcp';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { describeInChromium } from '../../browser/chromium.js';
import { loadAxe, violations } from './support/axe.js';
import { place } from './support/find.js';
import { usePage } from './support/world.js';

const folder = mkdtempSync(join(tmpdir(), 'fullmcp-requests-'));
const file = join(folder, 'mcp.requests.json');
let greeting = 'Hello';
let wiped = 0;
const server = createServer({
  name: 'shop',
  version: '1.0.0',
  tools: {
    greet: tool({
      description: 'Greet a person',
      annotations: { readOnly: true },
      input: z.object({ name: z.string() }),
      run: ({ name }) => `${greeting}, ${name}!`,
    }),
    count: tool({ annotations: { readOnly: true }, run: () => '42 apples' }),
    login: tool({
      annotations: { readOnly: true },
      input: z.object({ password: z.string() }),
      run: ({ password }) => `in with ${password}`,
    }),
    order: tool({
      annotations: { readOnly: true },
      run: async (_, { ask }) => {
        const { size } = await ask('size', {
          message: 'Which size?',
          schema: z.object({ size: z.string() }),
        });
        return `one ${size}`;
      },
    }),
    wipe: tool({ run: () => `wiped ${++wiped}` }),
  },
});

async function write(requests: readonly object[], more: object = {}): Promise<void> {
  await writeFile(file, JSON.stringify({ version: 1, ...more, requests }));
}

async function written(): Promise<{ requests: Record<string, unknown>[]; [field: string]: unknown }> {
  return JSON.parse(await readFile(file, 'utf8'));
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeInChromium('the requests of a project', () => {
  const world = usePage({ requestsFile: file });
  let id: string;
  beforeAll(async () => {
    id = await world.connect(server);
  });

  test('are saved from a run, run again, and shown beside what was expected', async () => {
    await world.inspector.run('call', { connection: id, tool: 'greet', args: { name: 'Ada' } });
    await expect.poll(() => world.storiesOf('greet').at(-1)?.state).toBe('ok');
    const page = await world.visit('#/tools/greet');
    await page.getByRole('button', { name: 'Keep this request' }).click();
    const dialog = page.getByRole('dialog', { name: 'Keep this request' });
    await loadAxe(page);
    expect(await violations(page)).toEqual([]);
    await dialog.getByLabel('Name').fill('greets Ada');
    expect(await dialog.getByRole('textbox', { name: 'Expected' }).inputValue()).toBe('Hello, Ada!');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await written()).toMatchObject({
      requests: [
        { name: 'greets Ada', tool: 'greet', arguments: { name: 'Ada' }, expect: { equal: 'Hello, Ada!' } },
      ],
      definitions: { tools: { greet: { description: 'Greet a person' } } },
    });

    await page.goto(page.url().replace(/#.*/, '#/requests'));
    await place(page).getByRole('button', { name: 'Run all' }).click();
    await place(page).getByText('2 passed, 0 failed.').waitFor();
    greeting = 'Hi';
    await place(page).getByRole('button', { name: 'Run greets Ada' }).click();
    await place(page).getByText('The result is "Hi, Ada!"; "Hello, Ada!" was expected.').waitFor();
    expect(await place(page).getByRole('figure', { name: 'Expected' }).textContent()).toContain(
      'Hello, Ada!',
    );
    await place(page)
      .getByRole('figure', { name: 'Result' })
      .getByText(/Hi, Ada!/)
      .first()
      .waitFor();
    expect(await violations(page)).toEqual([]);
    greeting = 'Hello';
    await place(page).getByRole('button', { name: 'Remove greets Ada' }).click();
    await place(page).getByText('No request is kept yet.').waitFor();
    expect(await written()).toEqual({ version: 1, requests: [] });
  });

  test('expect the text that was typed of a result that is text, also if it looks like a number', async () => {
    await write([]);
    await world.inspector.run('call', { connection: id, tool: 'count', args: {} });
    await expect.poll(() => world.storiesOf('count').at(-1)?.state).toBe('ok');
    const page = await world.visit('#/tools/count');
    const dialog = page.getByRole('dialog', { name: 'Keep this request' });
    const keep = async (name: string, words: string, text: string) => {
      await page.getByRole('button', { name: 'Keep this request' }).click();
      await dialog.getByLabel('Name').fill(name);
      await dialog.getByRole('combobox', { name: 'The result' }).selectOption({ label: words });
      await dialog.getByRole('textbox', { name: 'Expected' }).fill(text);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'hidden' });
    };
    await keep('has a number', 'contains', '42');
    await keep('is a number', 'is equal to', '42');
    await keep('is text', 'matches the schema', '{ "type": "string" }');
    expect((await written()).requests.map(({ expect: its }) => its)).toEqual([
      { contains: '42' },
      { equal: '42' },
      { matches: { type: 'string' } },
    ]);

    await page.goto(page.url().replace(/#.*/, '#/requests'));
    await place(page).getByRole('button', { name: 'Run all' }).click();
    await place(page).getByText('The result is "42 apples"; "42" was expected.').waitFor();
    expect(await place(page).getByRole('img', { name: 'As expected', exact: true }).count()).toBe(2);
  });

  test('have what can be done with each of them in one line on a phone', async () => {
    await write([{ name: 'counts the apples of the garden', tool: 'count', arguments: {} }]);
    const page = await world.visit('#/requests', { width: 390 });
    await place(page)
      .getByRole('button', { name: /^Run counts/ })
      .click();
    await place(page).getByRole('img', { name: 'As expected', exact: true }).waitFor();
    const tops = await place(page)
      .locator('.requests-line .button')
      .evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().top));
    expect(tops).toHaveLength(3);
    expect(new Set(tops).size).toBe(1);
  });

  test('that may change something run together only if the user says so', async () => {
    await write([
      { name: 'reads', tool: 'greet', arguments: { name: 'Ada' } },
      { name: 'wipes', tool: 'wipe' },
    ]);
    const page = await world.visit('#/requests');
    await place(page).getByRole('button', { name: 'Run all' }).click();
    await place(page).getByText('wipe may change something on this server.').waitFor();
    await place(page).getByRole('button', { name: 'Run only what reads' }).click();
    await place(page).getByRole('img', { name: 'As expected' }).waitFor();
    expect(wiped).toBe(0);
  });

  test('whose file is damaged say so with the place, and nothing is written over it', async () => {
    await writeFile(file, '{\n "version": 1,\n "requests": [,]\n}');
    const page = await world.visit('#/requests');
    await place(page)
      .getByText(/line 3, column 15: /)
      .waitFor();
    const story = world.storiesOf('greet').at(-1)?.id;
    await expect(world.inspector.run('saveRequest', { story, name: 'x', expect: {} })).rejects.toThrow(
      'cannot be used',
    );
    expect(await readFile(file, 'utf8')).toContain('[,]');
  });
});

describeInChromium('a kept request', () => {
  const world = usePage({ requestsFile: file });
  let id: string;
  beforeAll(async () => {
    id = await world.connect(server);
  });

  test('has variables in the place of its secrets, and their values are neither in the file nor in the page', async () => {
    await write([]);
    await world.inspector.run('call', { connection: id, tool: 'login', args: { password: 'sesame-4711' } });
    await expect.poll(() => world.storiesOf('login').at(-1)?.state).toBe('ok');
    const story = world.storiesOf('login').at(-1)?.id;
    await world.inspector.run('saveRequest', { story, name: 'in', expect: { contains: 'in with' } });
    expect(await written()).toMatchObject({
      env: ['PASSWORD'],
      requests: [{ tool: 'login', arguments: { password: '$\u007bPASSWORD}' } }],
    });
    expect(await readFile(file, 'utf8')).not.toContain('sesame');

    vi.stubEnv('PASSWORD', 'another-sesame-4712');
    const ran = await world.inspector.run('runRequests', { connection: id, names: ['in'] });
    expect(ran).toMatchObject({ reports: [{ problems: [] }, { name: 'in', problems: [] }] });
    const messages = world.inspector.snapshot().messages.map(({ seq }) => world.inspector.message(seq)?.text);
    const seen = JSON.stringify([
      world.storiesOf('login').at(-1),
      messages.slice(-2),
      world.inspector.tape(id),
    ]);
    expect(seen).not.toContain('another-sesame-4712');
  });

  test('is answered by its own answers', async () => {
    await write([
      { name: 'orders', tool: 'order', answers: { size: 'large' }, expect: { equal: 'one large' } },
    ]);
    const ran = await world.inspector.run('runRequests', { connection: id, names: ['orders'] });
    expect(ran).toMatchObject({ reports: [{ name: 'orders', problems: [] }] });
  });
});
