import { createServer, prompt, resource, tool, user } from 'fullmcp';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { CatalogView, ToolView } from '../../../src/inspector/contract/connection.js';
import type { InspectorEvent } from '../../../src/inspector/contract/inspector.js';
import { type ServedInspector, serveInspector } from '../../../src/inspector/host/serve-inspector.js';
import { emptyCatalog } from '../../../src/inspector/session/connection/catalog.js';
import { describeInChromium, launch } from '../../browser/chromium.js';
import { until } from '../../support/until.js';
import { longestTask, slowness } from './main-thread.js';
import { manyStories } from './many-stories.js';
import { loadAxe, violations } from './support/axe.js';
import { place } from './support/find.js';
import { usePage } from './support/world.js';

const tree = (page: Page): Locator => place(page).getByRole('tree');
const groups = (page: Page): Locator => tree(page).locator('.list-group');
const group = (page: Page, name: string): Locator => groups(page).filter({ hasText: name });
const rows = (page: Page): Locator => place(page).locator('.list-row');
const row = (page: Page, name: string): Locator => rows(page).filter({ hasText: name });
const filter = (page: Page): Locator => place(page).getByLabel('Filter Tools');
const count = (page: Page): Locator => place(page).locator('.list-filter [aria-live]');
const hash = (page: Page): Promise<string> => page.evaluate(() => decodeURIComponent(location.hash));

const NOON = Date.UTC(2026, 0, 1, 12);

/** The name in the row that has the focus. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { activeElement } = document;
    const name = activeElement?.querySelector('.tools-row-name, .list-group-name');
    return name?.textContent ?? activeElement?.ariaLabel ?? activeElement?.id ?? '';
  });

/** Presses keys, and says which row has the focus then. */
async function press(page: Page, ...keys: readonly string[]): Promise<string> {
  for (const key of keys) await page.keyboard.press(key);
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  return focused(page);
}

const query = z.object({ query: z.string().describe('The words to look for.') });

/** 120 tools of three services, and three of none. */
const gateway = createServer({
  name: 'gateway',
  version: '1.0.0',
  tools: Object.fromEntries([
    ...['github_', 'slack.', 'google-drive_'].flatMap((service) =>
      Array.from({ length: 40 }, (_, at) => [
        `${service}${['list', 'get'][at % 2]}_${at}`,
        tool({
          description: `Looks at shelf ${at} of ${service}.`,
          input: query,
          annotations: {
            readOnly: service !== 'slack.',
            ...(service === 'slack.' && at < 4 && { destructive: true }),
          },
          run: () => {
            if (at === 7) throw new Error('No.');
            return 'ok';
          },
        }),
      ]),
    ),
    ...['ping', 'echo', 'status'].map((name) => [
      name,
      tool({ description: `Says ${name}.`, input: query, annotations: { readOnly: true }, run: () => 'ok' }),
    ]),
  ]),
  resources: Object.fromEntries(
    ['notes://all/', 'file:///home/'].flatMap((root) =>
      Array.from({ length: 30 }, (_, at) => [
        `${root}${at}`,
        resource({ title: `Page ${at}`, read: () => 'words' }),
      ]),
    ),
  ),
  prompts: Object.fromEntries(
    ['write_', 'read_'].flatMap((verb) =>
      Array.from({ length: 30 }, (_, at) => [`${verb}${at}`, prompt({ run: () => [user('words')] })]),
    ),
  ),
});

describeInChromium('hundreds of tools', () => {
  const world = usePage();
  let connection: string;
  beforeAll(async () => {
    connection = await world.connect(gateway);
  });

  const call = async (name: string): Promise<void> => {
    const before = world.storiesOf(name).length;
    await world.inspector.run('call', { connection, tool: name, args: { query: 'x' } });
    await until('the call is over', () => world.storiesOf(name)[before]?.endedAt !== undefined);
  };
  const mark = async (page: Page, name: string): Promise<void> => {
    await place(page).getByRole('button', { name: 'Filter by mark' }).click();
    await page.getByRole('menuitemcheckbox', { name }).click();
  };

  test('are in groups by their prefixes, which are closed except the one of the tool that is shown', async () => {
    const page = await world.visit('#/tools/slack.get_1');
    await expect
      .poll(() => groups(page).allTextContents())
      .toEqual(['github_40', 'slack.40', 'google-drive_40', 'Other3']);
    await expect.poll(() => group(page, 'slack.').getAttribute('aria-expanded')).toBe('true');
    expect(await group(page, 'github_').getAttribute('aria-expanded')).toBe('false');
    expect(await rows(page).count()).toBe(43);
  });

  test('have their whole names in a group, of which the shared part is dimmed', async () => {
    const page = await world.visit('#/tools/github_get_1');
    const name = row(page, 'github_get_1').first().locator('.tools-row-name');
    expect(await name.textContent()).toMatch(/^github_get_1$/);
    expect(await name.locator('.muted').textContent()).toBe('github_');
  });

  test('stay in groups that were opened or closed when the page is loaded again, but not in another session', async () => {
    const states = (where: Page): Promise<readonly (string | null)[]> =>
      groups(where).evaluateAll((all) => all.map((each) => each.ariaExpanded));
    const page = await world.visit('#/tools/ping');
    await group(page, 'github_').click();
    await page.reload();
    await expect.poll(() => states(page)).toEqual(['true', 'false', 'false', 'true']);
    await row(page, 'github_get_1').first().click();
    await group(page, 'Other').click();
    await page.reload();
    await expect.poll(() => states(page)).toEqual(['true', 'false', 'false', 'false']);
    const other = await world.visit('#/tools/ping');
    await expect.poll(() => states(other)).toEqual(['false', 'false', 'false', 'true']);
  });

  test('are filtered by a mark and by words at once, and an empty result leads back', async () => {
    const page = await world.visit('#/tools');
    await mark(page, 'destructive');
    await expect.poll(() => count(page).textContent()).toContain('4 of 123');
    expect(await rows(page).count()).toBe(4);
    expect(await groups(page).count()).toBe(0);
    await filter(page).fill('get');
    await expect.poll(() => count(page).textContent()).toContain('2 of 123');
    await filter(page).fill('github');
    await place(page).getByText('No tool that is marked “destructive” has “github” in it.').waitFor();
    await place(page).getByRole('button', { name: 'Show all 123 tools' }).click();
    await expect.poll(() => groups(page).count()).toBe(4);
    expect(await filter(page).inputValue()).toBe('');
    expect(await focused(page)).toBe('Filter Tools');
    await mark(page, 'destructive');
    await expect.poll(() => rows(page).count()).toBe(4);
    await place(page).getByRole('button', { name: 'destructive', exact: true }).click();
    await expect.poll(() => groups(page).count()).toBe(4);
    await mark(page, 'read-only');
    await mark(page, 'destructive');
    await place(page).getByText('No tool is marked “read-only” and “destructive”.').waitFor();
    await press(page, '/', 'Escape');
    await expect.poll(() => groups(page).count()).toBe(4);
  });

  test('have only the marks that some of them have, with the number of these', async () => {
    await call('github_get_7');
    const page = await world.visit('#/tools');
    await place(page).getByRole('button', { name: 'Filter by mark' }).click();
    const findings = world.inspector.catalog(connection)?.findings ?? [];
    const found = new Set(
      findings
        .filter(({ kind, severity }) => kind === 'tool' && severity !== 'advice')
        .map(({ name }) => name),
    );
    await expect
      .poll(() => page.getByRole('menuitemcheckbox').allTextContents())
      .toEqual([`findings${found.size}`, 'read-only83', 'destructive4', 'failed last1']);
    await page.getByRole('menuitemcheckbox', { name: 'failed last' }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
    await rows(page).getByRole('img', { name: 'The latest call failed' }).waitFor();
  });

  test('that were called last are on top, five at most, and not while the list is filtered', async () => {
    const page = await world.visit('#/tools');
    for (const name of ['ping', 'echo', 'status', 'slack.get_1', 'github_get_3', 'ping']) await call(name);
    const first = (): Promise<readonly (string | null)[]> =>
      tree(page).evaluate((list) =>
        [...list.querySelectorAll('.list-group-name, .tools-row-name')]
          .slice(0, 7)
          .map((each) => each.textContent),
      );
    await expect
      .poll(first)
      .toEqual(['Recent', 'ping', 'github_get_3', 'slack.get_1', 'status', 'echo', 'github_']);
    expect(await group(page, 'Recent').textContent()).toBe('Recent5');
    await mark(page, 'read-only');
    await expect.poll(() => group(page, 'Recent').count()).toBe(0);
    await press(page, 'Escape', '/', 'Escape');
    await rows(page).filter({ hasText: 'slack.get_1' }).first().click();
    await expect.poll(() => hash(page)).toBe('#/tools/slack.get_1');
    // It is shown already: its group stays closed.
    expect(await group(page, 'slack.').getAttribute('aria-expanded')).toBe('false');
  });

  test('are one tab stop, and arrows, Home, End and Page Down move in their list', async () => {
    const page = await world.visit('#/tools/github_list_0');
    await expect.poll(() => group(page, 'github_').getAttribute('aria-expanded')).toBe('true');
    await group(page, 'Recent').click();
    await filter(page).focus();
    expect(await press(page, 'ArrowDown')).toBe('Recent');
    expect(await press(page, 'ArrowDown')).toBe('github_');
    expect(await press(page, 'ArrowDown', 'ArrowDown')).toBe('github_get_1');
    expect(await press(page, 'ArrowUp')).toBe('github_list_0');
    expect(await press(page, 'End')).toBe('status');
    expect(await press(page, 'ArrowDown')).toBe('status');
    expect(await press(page, 'Home')).toBe('Recent');
    expect(await press(page, 'PageDown')).toBe('github_list_8');
    expect(await press(page, 'j', 'k', 'k')).toBe('github_get_7');
    expect(await tree(page).locator('[tabindex="0"]').count()).toBe(1);
    await press(page, 'Tab');
    expect(await tree(page).evaluate((list) => list.contains(document.activeElement))).toBe(false);
    await press(page, 'Shift+Tab');
    expect(await focused(page)).toBe('github_get_7');
  });

  test('are left and reached with the arrows to the sides, and Enter goes into the form', async () => {
    const page = await world.visit('#/tools/github_list_0');
    await expect.poll(() => group(page, 'github_').getAttribute('aria-expanded')).toBe('true');
    await row(page, 'github_list_0').last().focus();
    expect(await press(page, 'ArrowRight')).toBe('github_list_0');
    expect(await press(page, 'ArrowLeft')).toBe('github_');
    expect(await press(page, 'ArrowLeft')).toBe('github_');
    expect(await group(page, 'github_').getAttribute('aria-expanded')).toBe('false');
    expect(await press(page, 'ArrowLeft', 'ArrowDown')).toBe('slack.');
    expect(await press(page, 'ArrowRight')).toBe('slack.');
    expect(await group(page, 'slack.').getAttribute('aria-expanded')).toBe('true');
    expect(await press(page, 'ArrowRight')).toBe('slack.list_0');
    expect(await press(page, 'ArrowDown', 'Space')).toBe('slack.get_1');
    await expect.poll(() => hash(page)).toBe('#/tools/slack.get_1');
    await press(page, 'ArrowDown', 'Enter');
    await expect.poll(() => hash(page)).toBe('#/tools/slack.list_2');
    await expect.poll(() => focused(page)).toBe('argument/query');
    await press(page, 'Escape');
    await expect.poll(() => focused(page)).toBe('slack.list_2');
  });

  test('are found by typing their names or what follows the prefix, if letters are not keys of the page', async () => {
    // The latest calls stand above the groups.
    await call('github_get_3');
    const page = await world.visit('#/tools/github_list_0');
    await page.evaluate(() => localStorage.setItem('fullmcp.letterKeys', 'false'));
    // However long the keys take, they are one word until the clock says otherwise.
    const at = (ms: number): Promise<void> => page.clock.setFixedTime(NOON + ms);
    await at(0);
    await page.reload();
    await expect.poll(() => group(page, 'github_').getAttribute('aria-expanded')).toBe('true');
    await group(page, 'github_').focus();
    expect(await press(page, ...'get_11')).toBe('github_get_11');
    // Another word begins after a while, and the same letter finds the next name.
    await at(1000);
    expect(await press(page, 's')).toBe('slack.');
    await at(2000);
    expect(await press(page, 's')).toBe('status');
    await at(3000);
    expect(await press(page, ...'gith')).toBe('github_get_3');
  });

  test('stay filtered while they are opened one after the other', async () => {
    const page = await world.visit('#/tools');
    await filter(page).fill('slack list');
    await row(page, 'slack.list_12').click();
    await place(page).getByRole('heading', { name: 'slack.list_12' }).waitFor();
    expect(await filter(page).inputValue()).toBe('slack list');
    expect(await focused(page)).toBe('slack.list_12');
    expect(await rows(page).count()).toBe(20);
  });

  test('stay filtered on a phone, where the list makes room for the tool that is opened', async () => {
    const page = await world.visit('#/tools', { width: 390 });
    await mark(page, 'read-only');
    await filter(page).fill('github list');
    await row(page, 'github_list_12').click();
    await place(page).getByRole('button', { name: 'Run', exact: true }).waitFor();
    await page.goBack();
    await expect.poll(() => count(page).textContent()).toContain('20 of 123');
    expect(await filter(page).inputValue()).toBe('github list');
    await press(page, 'Escape', '/');
    await page.keyboard.type('ping');
    expect(await filter(page).inputValue()).toBe('ping');
  });

  test.each([
    ['light', 1440],
    ['dark', 390],
  ] as const)('have no findings of axe in groups, in the %s theme and %i wide', async (theme, width) => {
    const page = await world.visit('#/tools', { theme, width });
    await group(page, 'slack.').click();
    await mark(page, 'read-only');
    await expect.poll(() => group(page, 'slack.').count()).toBe(0);
    await loadAxe(page);
    expect(await violations(page)).toEqual([]);
    await place(page).getByRole('button', { name: 'Filter by mark' }).click();
    await page.getByRole('menuitemcheckbox').first().waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    const levels = await tree(page)
      .getByRole('treeitem')
      .evaluateAll((all) => all.map(({ ariaLevel, ariaSetSize }) => `${ariaLevel} of ${ariaSetSize}`));
    expect(new Set(levels)).toContain('1 of 3');
  });

  test('do not differ from resources and prompts in this: both have groups in long lists', async () => {
    const page = await world.visit('#/resources');
    await expect.poll(() => groups(page).allTextContents()).toEqual(['notes://all/30', 'file:///home/30']);
    const prompts = await world.visit('#/prompts');
    await expect.poll(() => groups(prompts).allTextContents()).toEqual(['write_30', 'read_30']);
    expect(await row(prompts, 'write_3').first().locator('.row-name .muted').textContent()).toBe('write_');
  });

  test('share one line for the same finding, which opens the list of them', async () => {
    const page = await world.visit('#/server/findings');
    const rule = page.getByRole('region', { name: 'name-dot' });
    const line = rule.getByRole('button', { name: 'its name has a dot in 40' });
    expect(await line.getAttribute('aria-expanded')).toBe('false');
    expect(await rule.getByRole('link').count()).toBe(0);
    await line.click();
    expect(await rule.getByRole('link').count()).toBe(40);
    await rule.getByRole('link', { name: 'slack.get_11' }).click();
    await expect.poll(() => hash(page)).toBe('#/tools/slack.get_11');
    await page.goBack();
    await line.click();
    await line.click();
    expect(await rule.getByRole('link').count()).toBe(0);
  });
});

/** A tool as a server may send it. */
function listed(name: string): ToolView {
  const tool = {
    name,
    description: `Does ${name.slice(0, 60)} and says so.`,
    inputSchema: { type: 'object' },
  };
  return { tool, tokens: 10, isReadOnly: true, isDestructive: false, task: 'never' };
}

describeInChromium('2,000 tools', () => {
  let browser: Browser;
  const served: ServedInspector[] = [];
  /** 50 ms, or more on a computer that is very slow. */
  let most: number;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    for (const each of served) await each.close();
  });

  /** Opens the page of a server with these tools at another place. */
  async function visit(names: readonly string[], faults: string[] = []): Promise<Page> {
    const catalog: CatalogView = {
      ...emptyCatalog,
      version: 1,
      tools: names.map(listed),
      findings: names.map((name) => ({
        severity: 'warning',
        rule: 'name-dot',
        kind: 'tool',
        name,
        message: 'its name has a dot',
      })),
    };
    const inspecting = await serveInspector({ ...manyStories(0).inspector, catalog: () => catalog });
    served.push(inspecting);
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(30_000);
    page.on('pageerror', ({ message }) => faults.push(message));
    await page.goto(`${inspecting.url}#/server/settings`);
    await page.locator('.server-settings').waitFor();
    most ??= 50 * (await slowness(page));
    return page;
  }
  const show = async (page: Page, hash: string, ready: string): Promise<void> => {
    await page.evaluate((next) => {
      location.hash = next;
    }, hash);
    await page.locator(ready).first().waitFor();
  };
  const frame = (page: Page) =>
    page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => resolve(0))));
  /** The longest task of the best of three attempts: a computer that does more than this is slow now and then. */
  const least = async (
    page: Page,
    work: () => Promise<void>,
    before?: () => Promise<void>,
  ): Promise<number> => {
    let longest = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < 3 && longest >= most; attempt++) {
      await before?.();
      longest = Math.min(longest, await longestTask(page, work));
    }
    return longest;
  };
  /** Scrolls the list a long way, a step for each frame. */
  const scroll = async (page: Page): Promise<void> => {
    for (let step = 1; step <= 30; step++) {
      await place(page)
        .locator('.list-rows')
        .evaluate((list, part) => {
          list.scrollTop = ((part * 7919) % 30) * (list.scrollHeight / 30);
        }, step);
      await frame(page);
    }
  };

  test.each([
    ['of 40 prefixes', Array.from({ length: 2000 }, (_, at) => `service${at % 40}_tool${at}`)],
    ['of which each has its own prefix', Array.from({ length: 2000 }, (_, at) => `service${at}_tool`)],
    ['that share one prefix', Array.from({ length: 2000 }, (_, at) => `service_tool${at}`)],
  ])('%s open, scroll and are filtered and walked through without a task over 50 ms', async (_, names) => {
    const page = await visit(names);
    const away = () => show(page, '#/server', 'h1, h2');
    expect(await least(page, () => show(page, '#/tools', '.list-row'), away)).toBeLessThan(most);
    expect(await least(page, () => scroll(page))).toBeLessThan(most);
    await filter(page).focus();
    const typing = async (): Promise<void> => {
      await page.keyboard.type('service1', { delay: 15 });
      await expect.poll(() => count(page).textContent()).toMatch(/ of 2000/);
      await page.keyboard.press('Escape');
      await expect.poll(() => count(page).textContent()).toMatch(/^2000/);
    };
    expect(await least(page, typing)).toBeLessThan(most);
    const walking = async (): Promise<void> => {
      await press(page, 'ArrowDown', 'End', 'ArrowUp', 'Home');
    };
    expect(await least(page, walking)).toBeLessThan(most);
    expect(await page.locator('*').count()).toBeLessThan(2500);
    await page.close();
  });

  test('with the same finding have it on one line, and open without a task over 50 ms', async () => {
    const page = await visit(Array.from({ length: 2000 }, (_, at) => `a.b${at}`));
    expect(
      await longestTask(page, () => show(page, '#/server/findings', '.server-finding-line')),
    ).toBeLessThan(most);
    await page.getByRole('button', { name: 'its name has a dot in 2000' }).click();
    expect(await page.getByRole('region', { name: 'name-dot' }).getByRole('link').count()).toBe(100);
    await page.getByRole('button', { name: 'Show 200 more of 2000' }).click();
    expect(await page.getByRole('region', { name: 'name-dot' }).getByRole('link').count()).toBe(300);
    await page.close();
  });

  test('that change while one of them has the focus leave the focus in the list', async () => {
    let names = Array.from({ length: 70 }, (_, at) => `${at % 2 ? 'git' : 'web'}_${at}`);
    const listeners = new Set<(event: InspectorEvent) => void>();
    const { inspector } = manyStories(0);
    const inspecting = await serveInspector({
      ...inspector,
      catalog: () => ({ ...emptyCatalog, version: 1, tools: names.map(listed) }),
      subscribe: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    });
    served.push(inspecting);
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(`${inspecting.url}#/tools/git_1`);
    await row(page, 'git_5').first().focus();
    names = names.filter((name) => name !== 'git_5');
    const [connection] = inspector.snapshot().connections;
    if (connection)
      for (const listener of listeners)
        listener({ seq: 1, type: 'connection', connection: { ...connection, catalogVersion: 2 } });
    await expect.poll(() => count(page).textContent()).toMatch(/^69/);
    await expect.poll(() => focused(page)).toBe('git_1');
    await page.close();
  });

  test('with hostile names are listed, grouped and opened, and nothing is turned around or too long', async () => {
    const names = [
      ...Array.from({ length: 60 }, (_, at) => `${'x'.repeat(10_000)}_${at}`),
      ...Array.from({ length: 60 }, (_, at) => `\u202evil\u0007_${at}`),
      ...Array.from({ length: 60 }, (_, at) => `عربي_${at}`),
      ...Array.from({ length: 60 }, (_, at) => '_-./:'.repeat(1 + at)),
      ...Array.from({ length: 20 }, () => 'twin_twin'),
      ...Array.from({ length: 20 }, (_, at) => `a${'_'.repeat(1000)}${at}`),
      '__proto__',
      'constructor',
      '',
    ];
    const faults: string[] = [];
    const page = await visit(names, faults);
    await show(page, '#/tools', '.list-group');
    const texts: string[] = [];
    await filter(page).press('ArrowDown');
    // One group after the other is opened, and the list is walked through.
    for (let step = 0; step < 8; step++) {
      await press(page, 'ArrowRight', 'PageDown', 'PageDown', 'End', 'ArrowUp', 'Home');
      texts.push(...(await tree(page).locator('.list-row, .list-group').allTextContents()));
      const closed = tree(page).locator('.list-group[aria-expanded=false]');
      if ((await closed.count()) > 0) await closed.first().click();
    }
    expect(
      texts.filter((text) => text.includes('\u202e') || text.includes('\u0007') || text.length > 400),
    ).toEqual([]);
    expect(texts.join(' ')).toContain('\\u{202e}vil\\u{7}_');
    await filter(page).fill('twin');
    await expect.poll(() => rows(page).count()).toBe(20);
    await rows(page).nth(19).click();
    await place(page).getByRole('heading', { name: 'twin_twin' }).waitFor();
    await filter(page).fill('xxxxxxxx');
    await expect.poll(() => count(page).textContent()).toContain('60 of 283');
    await filter(page).fill('no such tool');
    await place(page).getByRole('button', { name: 'Show all 283 tools' }).click();
    await expect.poll(() => count(page).textContent()).toMatch(/^283/);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(1440);
    expect(faults).toEqual([]);
    await page.close();
  });
});
