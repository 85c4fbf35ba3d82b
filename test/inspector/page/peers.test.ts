import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { describeInChromium } from '../../browser/chromium.js';
import { script as everything } from '../../interop/support/everything.js';
import { type ObservedServer, startObserved } from '../../interop/support/observed-server.js';
import { field, place, result, runTool } from './support/find.js';
import { usePage } from './support/world.js';

// The page against servers that others have written: the reference server, and servers of both official SDKs.

const sdk = (version: 'v1' | 'v2'): string =>
  fileURLToPath(new URL(`../../interop/fixtures/sdk-${version}-server.mjs`, import.meta.url));

/** The steps of a visit, in the words of the server. */
interface Features {
  readonly sum: { readonly tool: string; readonly says: string };
  readonly question: {
    readonly tool: string;
    readonly field: string;
    /** The result of the server after the answer Ada. */
    readonly says: RegExp;
  };
  readonly resource: {
    readonly uri: string;
    readonly says: RegExp;
    /** Such a resource is read when its page opens. */
    readonly isListed: boolean;
  };
  readonly prompt: {
    readonly name: string;
    readonly args: Readonly<Record<string, string>>;
    readonly says: string;
  };
  /** The tool that changes the resource. */
  readonly change: { readonly tool: string; readonly args: Readonly<Record<string, string>> };
}

const ofEverything: Features = {
  sum: { tool: 'get-sum', says: 'The sum of 2 and 40 is 42.' },
  question: { tool: 'trigger-elicitation-request', field: 'name', says: /Name: Ada/ },
  resource: { uri: 'demo://resource/dynamic/text/1', says: /Resource 1/, isListed: false },
  prompt: { name: 'simple-prompt', args: {}, says: 'This is a simple prompt without arguments.' },
  change: { tool: 'toggle-subscriber-updates', args: {} },
};
const ofSdk: Features = {
  sum: { tool: 'add', says: '42' },
  question: { tool: 'name', field: 'name', says: /"name":"Ada"/ },
  resource: { uri: 'text://hello', says: /Hello, world/, isListed: true },
  prompt: { name: 'review', args: { code: 'let a', language: 'rust' }, says: 'Review this rust:' },
  change: { tool: 'touch', args: { uri: 'text://hello' } },
};

const onStdio = (script: string) => async (): Promise<string> => `${process.execPath} ${script} stdio`;

describeInChromium('the page of the inspector with servers of others', { timeout: 120_000 }, () => {
  const world = usePage();
  const servers: ObservedServer[] = [];
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  const onHttp = (script: string, path: string, argument: string) => async (): Promise<string> => {
    const server = await startObserved(script, argument);
    servers.push(server);
    return `${server.origin}${path}`;
  };

  async function go(page: Page, address: string): Promise<void> {
    await page.goto(`${page.url().split('#', 1)[0]}#/${address}`);
  }

  test.each([
    {
      name: 'everything',
      over: 'stdio',
      revision: '2025-11-25',
      start: onStdio(everything),
      has: ofEverything,
    },
    {
      name: 'everything',
      over: 'http',
      revision: '2025-11-25',
      start: onHttp(everything, '/mcp', 'streamableHttp'),
      has: ofEverything,
    },
    {
      name: 'everything',
      over: 'http+sse',
      revision: '2025-11-25',
      start: onHttp(everything, '/sse', 'sse'),
      has: ofEverything,
    },
    { name: 'SDK v2', over: 'stdio', revision: '2026-07-28', start: onStdio(sdk('v2')), has: ofSdk },
    {
      name: 'SDK v2',
      over: 'http',
      revision: '2026-07-28',
      start: onHttp(sdk('v2'), '/mcp', 'http'),
      has: ofSdk,
    },
    {
      name: 'SDK v1',
      over: 'http+sse',
      revision: '2025-11-25',
      start: onHttp(sdk('v1'), '/sse', 'http'),
      has: ofSdk,
    },
  ])('$name over $over', async ({ over, revision, start, has }) => {
    const page = await world.visit('#/connect');
    await page.getByLabel('A URL, a command, or a pasted mcpServers JSON').fill(await start());
    await page.getByRole('button', { name: 'Connect', exact: true }).click();

    await place(page)
      .getByRole('link', { name: new RegExp(`^${has.sum.tool}\\b(?!_)`) })
      .click();
    await field(page, 'a').fill('2');
    await field(page, 'b').fill('40');
    await runTool(page);
    await result(page).getByText(has.sum.says).first().waitFor();
    const connection = world.inspector.snapshot().connections.at(-1);
    expect(connection).toMatchObject({ transport: over, revision, status: 'ready' });

    await go(page, `tools/${has.question.tool}`);
    await place(page).getByRole('heading', { name: has.question.tool, exact: true }).waitFor();
    await runTool(page);
    await page
      .locator('.question')
      .getByLabel(new RegExp(`^${has.question.field}\\*?$`))
      .fill('Ada');
    await place(page)
      .getByRole('button', { name: /^Answer/ })
      .click();
    await result(page).getByText(has.question.says).first().waitFor();

    await go(page, `prompts/${has.prompt.name}`);
    for (const [name, value] of Object.entries(has.prompt.args))
      await place(page)
        .getByLabel(new RegExp(`^${name}\\*?$`))
        .fill(value);
    await place(page).getByRole('button', { name: /^Get/ }).click();
    await place(page).getByText(has.prompt.says).first().waitFor();

    await go(page, `resources/${encodeURIComponent(has.resource.uri)}`);
    if (!has.resource.isListed) await place(page).getByRole('button', { name: 'Read', exact: true }).click();
    await place(page).getByText(has.resource.says).first().waitFor();
    await place(page).getByRole('button', { name: 'Subscribe', exact: true }).click();
    await place(page)
      .getByText(/listening since/)
      .waitFor();
    const { tool, args } = has.change;
    await world.inspector.run('call', { connection: connection?.id ?? '', tool, args });
    await place(page)
      .getByText(/\d updates?, latest/)
      .waitFor();
    await world.inspector.run('disconnect', { connection: connection?.id ?? '' });
  });
});
