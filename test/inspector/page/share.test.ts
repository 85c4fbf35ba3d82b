import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createServer, tool } from 'fullmcp';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { describeInChromium } from '../../browser/chromium.js';
import { usePage } from './support/world.js';

const ATTACK = `</pre></section><script>document.title='owned'</script><img src="https://evil.example/x.png" onerror="document.title='owned'"><iframe src="https://evil.example"></iframe><meta http-equiv="refresh" content="0;url=https://evil.example">\u202e\u0000`;

const server = createServer({
  name: `shop ${ATTACK}`.slice(0, 100),
  version: '1.0.0',
  tools: {
    hostile: tool({
      input: z.object({ password: z.string(), text: z.string() }),
      run: ({ password, text }) => `${text} ${ATTACK} ${password} and ghp_0123456789abcdefghijABCDEFGHIJ0123`,
    }),
  },
});

describeInChromium('a shared call', () => {
  const world = usePage();

  test('is one file that opens without a server, runs nothing, fetches nothing and has no secrets', async () => {
    const id = await world.connect(server);
    const args = { password: 'sesame-4711', text: `typed ${ATTACK}` };
    await world.inspector.run('call', { connection: id, tool: 'hostile', args });
    await expect.poll(() => world.storiesOf('hostile').at(-1)?.state).toBe('ok');
    const story = world.storiesOf('hostile').at(-1)?.id;
    const page = await world.visit(`#/call/${story}`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Share' }).first().click(),
    ]);
    const html = await readFile(await download.path(), 'utf8');
    expect(html).not.toContain('sesame-4711');
    expect(html).not.toContain('ghp_0123456789');
    const file = join(tmpdir(), `fullmcp-share-${crypto.randomUUID()}.html`);
    onTestFinished(() => rm(file, { force: true }));
    await writeFile(file, html);

    const context = await world.browser.newContext();
    onTestFinished(() => context.close());
    const shared = await context.newPage();
    const fetched: string[] = [];
    shared.on('request', (request) => fetched.push(request.url()));
    await shared.goto(pathToFileURL(file).href);
    await shared.waitForLoadState('load');
    expect(fetched).toEqual([pathToFileURL(file).href]);
    expect(await shared.title()).toContain('hostile');
    expect(await shared.locator('script, img, iframe, a, form, [onerror]').count()).toBe(0);
    expect(await shared.getByRole('heading', { name: 'Result' }).count()).toBe(1);
    expect(await shared.locator('pre').last().textContent()).toContain(
      "<script>document.title='owned'</script>",
    );
    expect(html).not.toContain('\u202e');
  });
});
