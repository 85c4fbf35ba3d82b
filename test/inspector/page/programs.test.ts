import { createServer, jsonSchema, ToolError, tool } from 'fullmcp';
import { quickjs } from 'fullmcp/code';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInChromium } from '../../browser/chromium.js';
import { until } from '../../support/until.js';
import { loadAxe, violations } from './support/axe.js';
import { field, place, result, runTool } from './support/find.js';
import { usePage } from './support/world.js';

const one = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } as const;

const server = createServer({
  name: 'shop',
  version: '1.0.0',
  logger: () => undefined,
  code: { engine: quickjs({ threads: 1 }), approve: 'destructive' },
  tools: {
    list: tool({ annotations: { readOnly: true }, run: () => ({ ids: ['a', 'b'] }) }),
    remove: tool({
      input: jsonSchema(one),
      run: (input) => {
        const { id } = input as unknown as { id: string };
        if (id === 'b') throw new ToolError('b is locked');
        return { removed: id };
      },
    }),
  },
});

const code = `const { ids } = await tools.list({});
for (const id of ids) {
  await tools.remove({ id });
}
return ids.length;`;

describeInChromium('a program in the page of the inspector', () => {
  const world = usePage();
  let finished: number;
  beforeAll(async () => {
    const connection = await world.connect(server);
    const { story } = (await world.inspector.run('call', {
      connection,
      tool: 'run_code',
      args: { code },
    })) as { story: number };
    const questions = () => world.storiesOf('run_code')[0]?.questions ?? [];
    await until('the question', () => questions().length === 1);
    const answer = { action: 'accept', content: { approve: true } };
    await world.inspector.run('answer', { story, question: questions()[0]?.id, answer });
    await until('the end', () => world.storiesOf('run_code')[0]?.state === 'tool-error');
    finished = story;
  });
  afterAll(() => server.close());

  const program = (page: Page) => place(page).getByRole('region', { name: 'Program', exact: true });
  const calls = (page: Page) => program(page).getByRole('table');
  const row = (page: Page, call: string) => calls(page).getByRole('row').filter({ hasText: call });

  test('shows its calls before the user approves what it would change, and what became of it', async () => {
    const page = await world.visit('#/tools/run_code');
    await field(page, 'code').fill(code);
    await runTool(page);
    await place(page)
      .getByRole('heading', { name: /2 × remove/ })
      .waitFor();
    await row(page, 'list({})').getByText('{"ids":["a","b"]}').waitFor();
    expect(await calls(page).getByRole('row').count()).toBe(2);
    await page.getByRole('radio', { name: 'Yes' }).check();
    await place(page)
      .getByRole('button', { name: /^Answer/ })
      .click();
    await result(page).getByText('Line 3: ToolError: b is locked').first().waitFor();
    await program(page).getByText('3 calls, 1 failed').waitFor();
    const removed = row(page, 'remove({"id":"a"})');
    await removed.getByText('approved').waitFor();
    await removed.getByText('{"removed":"a"}').waitFor();
    await row(page, 'remove({"id":"b"})').getByText('b is locked').waitFor();
  });

  test('shows its lines in the story of its call, with their calls and the line that failed, and axe finds nothing', async () => {
    const page = await world.visit(`#/call/${finished}`);
    await row(page, 'remove({"id":"b"})').getByText('b is locked').waitFor();
    expect(await program(page).locator('.program-line').allTextContents()).toEqual([
      '1const { ids } = await tools.list({});1 call',
      '2for (const id of ids) {',
      '3  await tools.remove({ id });failed here2 calls1 failed',
      '4}',
      '5return ids.length;',
    ]);
    expect(await place(page).getByRole('region', { name: 'Arguments' }).count()).toBe(0);
    await loadAxe(page);
    expect(await violations(page)).toEqual([]);
    const phone = await world.visit(`#/call/${finished}`, { width: 390 });
    await calls(phone).waitFor();
    expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  });

  test('is put into the form with the cursor at the line that was chosen, and runs when the user has changed it', async () => {
    const page = await world.visit(`#/call/${finished}`);
    const before = world.storiesOf('run_code').length;
    await program(page).getByRole('button', { name: '3', exact: true }).click();
    const lineAtCursor = () =>
      page.evaluate(() => {
        const text = document.activeElement as HTMLTextAreaElement | null;
        return text?.value?.slice(text.selectionStart).split('\n')[0];
      });
    await expect.poll(lineAtCursor).toBe('  await tools.remove({ id });');
    expect(await field(page, 'code').inputValue()).toBe(code);
    expect(world.storiesOf('run_code')).toHaveLength(before);
    await page.keyboard.type('break;');
    await runTool(page);
    await expect.poll(() => world.storiesOf('run_code').at(-1)?.state).toBe('ok');
    expect(world.storiesOf('run_code').at(-1)?.program?.calls).toMatchObject([{ tool: 'list', line: 1 }]);
    await program(page).getByText('1 call', { exact: true }).first().waitFor();
  });
});
