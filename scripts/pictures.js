// Makes the pictures of the inspector in docs/pictures, from the demo, so that they never get old. With a folder as argument, makes
// pictures of every screen there instead, for somebody to look at: light and dark, at three widths.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { root } from './files.js';

const [folder] = process.argv.slice(2);
const WIDE = { width: 1280, height: 800 };
const SIZES = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 390, height: 844 },
];
const ORDER = {
  customer: {
    name: 'Ann Miller',
    email: 'ann@example.org',
    address: { street: 'Mill Lane 4', city: 'Bremen', country: 'DE' },
  },
  lines: [
    { sku: 'ROPE-10', quantity: 2, gift: false },
    { sku: 'LAMP-01', quantity: 1, gift: true },
  ],
  payment: { kind: 'card', last4: '4242' },
};

/**
 * Each screen: its address, and what to do there before the picture.
 * @type {Readonly<Record<string, { at: string, go?: (page: import('playwright-core').Page) => Promise<void> }>>}
 */
const SCREENS = {
  connect: { at: '#/connect' },
  'tool-before': { at: '#/tools/countdown' },
  tools: { at: `#/tools/place_order?${new URLSearchParams(flat(ORDER))}`, go: run },
  'tool-failed': { at: '#/tools/find_order?id=9', go: runOnce },
  'tool-text': { at: '#/tools/add?a=2&b=40', go: runOnce },
  'tool-list': { at: '#/tools' },
  question: { at: '#/tools/order_pizza', go: orderPizza },
  story: { at: '#/call/' },
  'menu-copy': { at: '#/tools/add?a=2&b=40', go: (page) => press(page, /^Copy as/) },
  'menu-servers': { at: '#/tools', go: (page) => press(page, /Servers$/) },
  palette: { at: '#/tools/add?a=2&b=40', go: (page) => page.keyboard.press('Control+k') },
  keys: { at: '#/tools/add?a=2&b=40', go: (page) => page.keyboard.press('?') },
  resources: { at: '#/resources' },
  resource: { at: '#/resources/demo%3A%2F%2Freadme' },
  template: { at: '#/resources/notes%3A%2F%2F%7Bid%7D' },
  prompts: { at: '#/prompts/explain' },
  tasks: { at: '#/tasks' },
  requests: { at: '#/requests' },
  server: { at: '#/server' },
  authorization: { at: '#/server/auth' },
  logs: { at: '#/server/logs' },
  latency: { at: '#/server/latency' },
  tokens: { at: '#/server/tokens' },
  findings: { at: '#/server/findings' },
  settings: { at: '#/server/settings' },
  timeline: { at: '#/timeline' },
  tapes: { at: '#/tapes' },
};
/** The pictures of the docs. */
const KEPT = ['tools', 'question', 'story'];

process.chdir(root);
const inspector = spawn(
  process.execPath,
  ['dist/cli/fullmcp.js', 'inspect', 'build/examples/demo/server.js', '--no-open'],
  { stdio: ['ignore', 'pipe', 'pipe'] },
);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium' });
try {
  const url = await addressOf(inspector);
  if (folder === undefined) await keep(url);
  else await showAll(url, folder);
} finally {
  await browser.close();
  inspector.kill();
  await once(inspector, 'exit');
}

/** @param {string} url */
async function keep(url) {
  mkdirSync('docs/pictures', { recursive: true });
  const page = await open(url, WIDE, 'light');
  // The picture has the difference to the run before.
  await show(page, 'tools');
  for (const name of KEPT) {
    await show(page, name);
    await save(`inspector-${name}`, await page.screenshot());
  }
  await save('consent', await consent());
}

/** @param {string} name @param {Buffer} png */
async function save(name, png) {
  const webp = await compressed(png.toString('base64'));
  writeFileSync(`docs/pictures/${name}.webp`, webp);
  console.log(`docs/pictures/${name}.webp ${Math.round(webp.length / 1000)} kB`);
}

/** The consent page of a server with a login. */
async function consent() {
  const { consentPage } = await import('../build/modules/oauth/proxy/pages/consent-page.js');
  const reply = await consentPage({
    client: { kind: 'document', id: 'https://editor.example/client.json', name: 'Example editor' },
    redirectUri: 'http://127.0.0.1:33418/callback',
    scopes: new Map([
      ['files:read', 'Read your files'],
      ['files:write', 'Change your files'],
    ]),
    server: 'Files',
    host: 'files.example.com',
    provider: 'GitHub',
    request: '',
    cookies: [],
  });
  const page = await browser.newPage({ viewport: { width: 640, height: 780 } });
  await page.setContent(await reply.text());
  await page.evaluate(() => document.fonts.ready);
  return page.screenshot();
}

/** @param {string} url @param {string} into */
async function showAll(url, into) {
  mkdirSync(into, { recursive: true });
  for (const viewport of SIZES)
    for (const theme of /** @type {const} */ (['light', 'dark'])) {
      const page = await open(url, viewport, theme);
      for (const name of Object.keys(SCREENS)) {
        await show(page, name);
        await page.screenshot({ path: `${into}/${name}-${viewport.width}-${theme}.png` });
        // Closes what is open on top.
        await page.keyboard.press('Escape');
      }
      await page.close();
    }
}

/** @param {string} url @param {{ width: number, height: number }} viewport @param {'light' | 'dark'} colorScheme */
async function open(url, viewport, colorScheme) {
  const page = await browser.newPage({
    viewport,
    colorScheme,
    reducedMotion: 'reduce',
    deviceScaleFactor: 1,
  });
  await page.goto(url);
  await page.getByText('ready').first().waitFor({ state: 'attached' });
  return page;
}

/** @param {import('playwright-core').Page} page @param {string} name */
async function show(page, name) {
  const screen = SCREENS[name];
  if (screen === undefined) throw new Error(`There is no screen ${name}.`);
  const hash = name === 'story' ? `#/call/${await latestStory(page)}` : screen.at;
  await page.evaluate((address) => {
    location.hash = address;
  }, hash);
  await settled(page);
  await screen.go?.(page);
  await settled(page);
  await page.evaluate(() => document.fonts.ready);
}

/** @param {import('playwright-core').Page} page */
async function run(page) {
  await page.keyboard.press('Control+Enter');
  await page.getByText('fits its schema').first().waitFor({ state: 'attached' });
}

/** @param {import('playwright-core').Page} page */
async function runOnce(page) {
  await page.keyboard.press('Control+Enter');
}

/** Opens the menu of the first button with this name that can be seen. @param {import('playwright-core').Page} page @param {RegExp} name */
async function press(page, name) {
  const buttons = page.getByRole('button', { name }).filter({ visible: true });
  if ((await buttons.count()) > 0) await buttons.first().click();
}

/** @param {import('playwright-core').Page} page */
async function orderPizza(page) {
  // The call of the picture before may still ask.
  await page.keyboard.press('Control+.');
  await settled(page);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('checkbox', { name: 'ham' }).check();
  await page.getByRole('button', { name: /^Answer/ }).click();
  await page
    .getByText(/Right\?/)
    .first()
    .waitFor();
}

/** The number of the latest call that asked. @param {import('playwright-core').Page} page */
async function latestStory(page) {
  const { stories } = await page.evaluate(async () => (await fetch('api/snapshot')).json());
  return stories.findLast((/** @type {{ title: string }} */ { title }) => title === 'order_pizza')?.id ?? 1;
}

/** Two frames without a change of the page. @param {import('playwright-core').Page} page */
async function settled(page) {
  await page.waitForLoadState('networkidle').catch(() => undefined);
  await page.evaluate(
    () =>
      new Promise((resolve) => {
        let timer = setTimeout(resolve, 300);
        new MutationObserver(() => {
          clearTimeout(timer);
          timer = setTimeout(resolve, 300);
        }).observe(document.body, { childList: true, subtree: true });
        setTimeout(resolve, 3000);
      }),
  );
}

/** The picture as WebP, which is a third of the size. @param {string} png */
async function compressed(png) {
  const blank = await browser.newPage();
  const data = await blank.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
    canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
    return canvas.toDataURL('image/webp', 0.9).split(',')[1] ?? '';
  }, png);
  await blank.close();
  return Buffer.from(data, 'base64');
}

/** @param {object} value @param {string} [before] @returns {Record<string, string>} */
function flat(value, before = '') {
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      before + key,
      typeof each === 'object' ? JSON.stringify(each) : String(each),
    ]),
  );
}

/** @param {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, import('node:stream').Readable>} child */
async function addressOf(child) {
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      const found = /http:\S+/.exec(line)?.[0];
      if (found !== undefined) child.emit('address', found);
    });
  const [address] = await once(child, 'address', { signal: AbortSignal.timeout(30_000) });
  return String(address);
}
