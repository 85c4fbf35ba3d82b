import { createServer, tool } from 'fullmcp';
import { app, apps, withApp } from 'fullmcp/apps';
import type { Frame, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { describeInChromium } from '../../browser/chromium.js';
import { until } from '../../support/until.js';
import { place, runTool } from './support/find.js';
import { usePage } from './support/world.js';

// A page that shows its result, and does on a click what an app might do, or should not.
const html = `<!doctype html><p id="out">waiting</p>
<button id="call">call</button><button id="secret">secret</button><button id="leave">leave</button><button id="reach">reach</button>
<script>
const out = document.querySelector('#out');
const waiting = new Map();
let next = 1;
const send = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
const request = (method, params) => new Promise((resolve) => {
  waiting.set(next, resolve);
  send({ id: next++, method, params });
});
addEventListener('message', ({ data }) => {
  if (data.method === 'ui/notifications/tool-result') out.textContent = 'result ' + data.params.content[0].text;
  waiting.get(data.id)?.(data);
});
const show = async (method, params) => {
  const { result, error } = await request(method, params);
  out.textContent = error ? 'error ' + error.message : 'answer ' + result.content[0].text;
};
document.querySelector('#call').onclick = () => show('tools/call', { name: 'double', arguments: { n: 21 } });
document.querySelector('#secret').onclick = () => show('tools/call', { name: 'hidden', arguments: {} });
document.querySelector('#leave').onclick = () => { location.href = 'https://example.com/?stolen'; };
document.querySelector('#reach').onclick = () => {
  const found = [];
  for (const [name, look] of [['top', () => top.document.title], ['cookie', () => document.cookie || 'none'], ['storage', () => localStorage.length]]) {
    try { found.push(name + ' ' + look()); } catch { found.push(name + ' refused'); }
  }
  fetch('https://example.com/').then(() => 'sent', () => 'blocked').then((how) => { out.textContent = found.join(', ') + ', fetch ' + how; });
};
request('ui/initialize', { protocolVersion: '2026-01-26', appInfo: { name: 'test', version: '1' }, appCapabilities: {} })
  .then(() => send({ method: 'ui/notifications/initialized', params: {} }));
</script>`;

const chart = app({ uri: 'ui://test/chart', html });
const server = createServer({
  name: 'apps',
  version: '1.0.0',
  tools: {
    chart: withApp(tool({ run: () => 'Hello from the tool' }), chart),
    double: tool({ input: z.object({ n: z.number() }), run: ({ n }) => n * 2 }),
    hidden: withApp(tool({ run: () => 'not for apps' }), chart, { visibility: ['model'] }),
  },
  extensions: [apps(chart)],
});

describeInChromium('an app in the page of the inspector', () => {
  const world = usePage();
  beforeAll(async () => {
    await world.connect(server);
  });

  async function open(): Promise<{ page: Page; frame: Frame }> {
    const page = await world.visit('#/tools/chart');
    // The page shows the latest run, and another one would replace its frame.
    if (world.storiesOf('chart').length === 0) await runTool(page);
    await until('the app shows the result', async () => {
      const shown = page.frames().at(-1);
      return (
        (
          await shown
            ?.locator('#out')
            .textContent({ timeout: 1000 })
            .catch(() => '')
        )?.startsWith('result') === true
      );
    });
    return { page, frame: page.frames().at(-1) as Frame };
  }

  test('runs at another origin, and shows the call', async () => {
    const { page, frame } = await open();
    expect(await frame.locator('#out').textContent()).toBe('result Hello from the tool');
    const [, outer] = page.frames();
    expect(new URL(outer?.url() ?? '').origin).not.toBe(new URL(page.url()).origin);
    await page.getByText('runs in a frame that reaches nothing but what you allow').waitFor();
  });

  test('calls a tool of its server only after the user allowed it, and the call is in the timeline', async () => {
    const { page, frame } = await open();
    await frame.locator('#call').click();
    await place(page).getByText('The app wants to call the tool “double”.').waitFor();
    expect(world.storiesOf('double')).toHaveLength(0);
    await place(page).getByRole('button', { name: 'Allow', exact: true }).click();
    await expect.poll(() => frame.locator('#out').textContent()).toBe('answer 42');
    expect(world.storiesOf('double')).toHaveLength(1);
    await frame.locator('#call').click();
    await place(page).getByRole('button', { name: 'Refuse' }).click();
    await expect.poll(() => frame.locator('#out').textContent()).toMatch(/^error/);
    expect(world.storiesOf('double')).toHaveLength(1);
  });

  test('cannot call a tool that is not for apps, even if the user allows it', async () => {
    const { page, frame } = await open();
    await frame.locator('#secret').click();
    await place(page).getByRole('button', { name: 'Allow', exact: true }).click();
    await expect
      .poll(() => frame.locator('#out').textContent())
      .toBe('error The server has no such tool for apps.');
    expect(world.storiesOf('hidden')).toHaveLength(0);
  });

  test('reaches neither the page, nor cookies, nor storage, nor the network', async () => {
    const { frame } = await open();
    await frame.locator('#reach').click();
    await expect
      .poll(() => frame.locator('#out').textContent())
      .toBe('top refused, cookie refused, storage refused, fetch blocked');
  });

  test('that leaves its page is closed', async () => {
    const { page, frame } = await open();
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    await frame.locator('#leave').click();
    await place(page).getByText('The app was closed.').waitFor();
    expect(urls.filter((url) => url.includes('stolen'))).toEqual([]);
    await place(page).getByRole('button', { name: 'Open it again' }).waitFor();
  });
});
