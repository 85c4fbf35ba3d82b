// The commonest chores with the keyboard alone. The table of docs/inspector.md has the keys that are counted here.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import demo from '../../../examples/demo/server.js';
import { type Serving, serve } from '../../../src/node.js';
import { describeInChromium } from '../../browser/chromium.js';
import { place, result } from './support/find.js';
import { type PageWorld, usePage } from './support/world.js';

const folder = mkdtempSync(join(tmpdir(), 'fullmcp-keyboard-'));
const file = join(folder, 'mcp.requests.json');
let serving: Serving;
beforeAll(async () => {
  serving = await serve(demo, { port: 0, signals: false });
});
afterAll(async () => {
  await serving.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Two hands on a keyboard. They count each key, and each letter that finds something; the values of a user are not counted. */
class Hands {
  readonly page: Page;
  readonly words: string[] = [];
  count = 0;

  constructor(page: Page) {
    this.page = page;
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      this.words.push(`\`${key.replace('Control', 'Ctrl').replace('+k', '+K').replace('ArrowDown', '↓')}\``);
      this.count += 1;
      await this.page.keyboard.press(key);
    }
  }

  /** Types letters that find something. */
  async find(text: string): Promise<void> {
    this.words.push(text);
    this.count += text.length;
    await this.page.keyboard.type(text);
  }

  /** Types a value. */
  async fill(text: string): Promise<void> {
    await this.page.keyboard.type(text);
  }

  /** Tab until the focus is in an element like this one. */
  async tabTo(selector: string): Promise<void> {
    for (let at = 0; at < 30 && !(await this.isAt(selector)); at++) await this.press('Tab');
    expect(await this.isAt(selector), selector).toBe(true);
  }

  /** Waits for the focus: keys that come before it belong to something else. */
  async at(selector: string): Promise<void> {
    await expect.poll(() => this.isAt(selector), { message: selector }).toBe(true);
  }

  isAt(selector: string): Promise<boolean> {
    return this.page.evaluate((like) => document.activeElement?.matches(like) === true, selector);
  }
}

interface Chore {
  /** Where it begins. */
  readonly hash: string;
  /** The element that has the focus at the beginning. */
  readonly at: string;
  /** A call that was made before. */
  readonly before?: { readonly tool: string; readonly args: object };
  readonly run: (hands: Hands, world: PageWorld) => Promise<void>;
}

const ROW = '.list-row[aria-current]';
const ADDED = { tool: 'add', args: { a: 2, b: 40 } };

const CHORES: Readonly<Record<string, Chore>> = {
  'call the tool that is shown': {
    hash: '#/tools',
    at: ROW,
    run: async (hands) => {
      await hands.press('Control+Enter');
      await result(hands.page).getByText('42', { exact: true }).waitFor();
    },
  },
  'call another tool, with one argument': {
    hash: '#/tools',
    at: ROW,
    run: async (hands) => {
      await hands.press('/');
      await hands.find('find');
      await hands.press('Enter');
      await hands.at('[id="argument/id"]');
      await hands.fill('2');
      await hands.press('Control+Enter');
      await result(hands.page).getByText('Lantern').first().waitFor();
    },
  },
  'find a tool from anywhere, and call it': {
    hash: '#/server',
    at: '*',
    run: async (hands) => {
      await hands.press('Control+k');
      await hands.at('dialog input');
      await hands.find('dice');
      await hands.page.getByRole('option', { name: /roll_dice/, selected: true }).waitFor();
      await hands.press('Enter');
      await hands.at('[id="argument/count"]');
      await hands.press('Control+Enter');
      await result(hands.page).getByText('rolls').first().waitFor();
    },
  },
  'fill in a nested form, and run it': {
    hash: '#/tools/place_order',
    at: ROW,
    run: async (hands) => {
      await hands.press('Enter');
      await hands.at('[id^="argument/"]');
      for (const [name, value] of [
        ['customer/name', 'Ann'],
        ['customer/email', 'ann@example.org'],
        ['customer/address/street', 'Main Street 1'],
        ['customer/address/city', 'Graz'],
      ]) {
        await hands.tabTo(`[id="argument/${name}"]`);
        await hands.fill(value ?? '');
      }
      await hands.tabTo('[id="argument/payment/last4"]');
      await hands.fill('4242');
      await hands.press('Control+Enter');
      await result(hands.page).getByText('total').first().waitFor();
    },
  },
  'answer two questions of a call': {
    hash: '#/tools/order_pizza',
    at: ROW,
    run: async (hands) => {
      await hands.press('Control+Enter');
      await hands.at('.question input');
      await hands.tabTo('.question input[type=checkbox]');
      await hands.press('Space', 'Control+Enter');
      await place(hands.page)
        .getByText(/in oven/)
        .waitFor();
      await hands.at('.question *');
      await hands.press('y', 'Control+Enter');
      await result(hands.page)
        .getByText(/ready in ten minutes/)
        .waitFor();
    },
  },
  'run the last call again': {
    hash: '#/tools/add',
    at: ROW,
    before: ADDED,
    run: async (hands, world) => {
      await hands.press('r');
      await expect.poll(() => world.storiesOf('add').at(-1)?.repeats).toBeDefined();
      await result(hands.page).getByText('42').waitFor();
    },
  },
  'stop a call that runs': {
    hash: '#/tools/countdown?from=60',
    at: ROW,
    run: async (hands) => {
      await hands.press('Control+Enter');
      await hands.page.getByText(/of 60/).first().waitFor();
      await hands.press('Control+.');
      await hands.page.getByText('cancelled').first().waitFor();
    },
  },
  'read the raw message of the last call': {
    hash: '#/tools/add',
    at: ROW,
    before: ADDED,
    run: async (hands) => {
      await hands.press('t');
      await hands.at('#timeline-list');
      await hands.press('ArrowDown');
      await hands.page.locator('.timeline .message').waitFor();
      await hands.press('w');
      await hands.page.getByRole('figure', { name: 'Message' }).getByText('"jsonrpc"').waitFor();
    },
  },
  'keep the last call as a request, and run the requests': {
    hash: '#/tools/add',
    at: ROW,
    before: ADDED,
    run: async (hands) => {
      await hands.press('s');
      await hands.at('dialog input');
      await hands.press('Enter');
      await hands.page.getByRole('dialog').waitFor({ state: 'detached' });
      await hands.at(ROW);
      await hands.press('6');
      await hands.at('.place .button.main');
      await hands.press('Enter');
      await place(hands.page)
        .getByText(/[1-9] passed, 0 failed\./)
        .waitFor();
      await hands.at('.place .button.main');
    },
  },
  'copy the call as a command line': {
    hash: '#/tools/add',
    at: ROW,
    run: async (hands) => {
      await hands.press('c');
      await hands.page.getByText('Copied as command line').waitFor();
    },
  },
  'connect to another server': {
    hash: '#/tools',
    at: ROW,
    run: async (hands) => {
      await hands.press('Control+k');
      await hands.at('dialog input');
      await hands.find('another');
      await hands.page.getByRole('option', { name: /another server/, selected: true }).waitFor();
      await hands.press('Enter');
      await hands.at('.connect-form textarea');
      await hands.fill(serving.url);
      await hands.press('Enter');
      await hands.page.locator('.frame-transport', { hasText: 'http' }).waitFor();
      await hands.at(ROW);
    },
  },
  'change to the dark theme': {
    hash: '#/tools',
    at: ROW,
    run: async (hands) => {
      await hands.press('Control+k');
      await hands.at('dialog input');
      await hands.find('dark');
      await hands.page.getByRole('option', { name: /Dark theme/, selected: true }).waitFor();
      await hands.press('Enter');
      await expect
        .poll(() => hands.page.evaluate(() => document.documentElement.dataset['theme']))
        .toBe('dark');
      await hands.at(ROW);
    },
  },
};

describeInChromium('the keyboard alone is enough', () => {
  const world = usePage({ requestsFile: file });
  let id: string;
  beforeAll(async () => {
    id = await world.connect(demo);
  });
  const counted: string[] = [];

  test.each(Object.entries(CHORES))('to %s', async (name, { hash, at, before, run }) => {
    if (before !== undefined) {
      await world.inspector.run('call', { connection: id, ...before });
      await expect.poll(() => world.storiesOf(before.tool).at(-1)?.state).toBe('ok');
    }
    const page = await world.visit(hash);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.evaluate(() => {
      for (const type of ['pointerdown', 'pointermove', 'wheel'])
        addEventListener(type, () => document.body.setAttribute('data-mouse', type), true);
    });
    await place(page).locator('h1').first().waitFor();
    const hands = new Hands(page);
    await hands.at(at);
    await run(hands, world);
    expect(await page.locator('body').getAttribute('data-mouse')).toBeNull();
    counted.push(`| ${name} | ${wordsOf(hands)} | ${hands.count} |`);
  });

  test('and the table of the documentation has these numbers', () => {
    console.log(counted.join('\n'));
    expect(counted).toHaveLength(Object.keys(CHORES).length);
    const page = readFileSync(new URL('../../../docs/inspector.md', import.meta.url), 'utf8');
    expect(counted.filter((row) => !page.includes(row))).toEqual([]);
  });
});

/** The keys in their order, as in "`Ctrl+K` dice `Enter`"; a key that is pressed several times is there once. */
function wordsOf({ words }: Hands): string {
  const runs: { word: string; count: number }[] = [];
  for (const word of words) {
    const last = runs.at(-1);
    if (last?.word === word) last.count += 1;
    else runs.push({ word, count: 1 });
  }
  return runs.map(({ word, count }) => (count === 1 ? word : `${count} × ${word}`)).join(' ');
}
