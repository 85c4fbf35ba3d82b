import { bridgeScript } from 'fullmcp/apps';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeInWholeChromium } from '../chromium.js';
import type { HostWindow } from './fixtures/host.js';
import { evil, hostileServer } from './fixtures/hostile-server.js';
import { appFrame, notesUntil, useHosts } from './use-hosts.js';

// Pages, windows and hosts that do not keep to the rules, in a real browser.

type Host = { readonly callTool: (name: string) => Promise<unknown> };
declare const host: Host & Record<string, (...args: unknown[]) => Promise<unknown>>;

describeInWholeChromium('apps that misbehave', { timeout: 60_000 }, () => {
  const hosts = useHosts(hostileServer(), 'host');

  async function show(name: string): Promise<Page> {
    const page = await hosts.open();
    const target = { url: hosts.url(), name };
    await page.evaluate(({ url, name }) => (window as unknown as HostWindow).show(url, name), target);
    return page;
  }
  const logged = async (page: Page): Promise<unknown> =>
    (await notesUntil(page, (notes) => notes.some(([what]) => what === 'log'))).find(
      ([what]) => what === 'log',
    )?.[2];
  const ready = (page: Page): Promise<void> =>
    page.evaluate(() => (window as unknown as HostWindow).view.ready);

  it('call the tools of their own server alone, by its names, even if it is mounted in another one', async () => {
    const page = await show('shop_sales');
    await page.evaluate(() => (window as unknown as HostWindow).run({ year: 2026 }).then(() => undefined));
    const frame = await appFrame(page);
    await frame.waitForSelector('rect');
    await frame.click('button');
    await frame.waitForFunction(() => document.querySelector('h1')?.textContent === 'Sales of 2027');
    expect(await notesUntil(page, () => true)).toContainEqual(['approve', 'tools/call', 'shop_sales_data']);
    // A tool of the outer server, by its name there.
    const refused = await frame.evaluate(
      () =>
        new Promise((resolve) => {
          addEventListener('message', ({ data }) => data.id === 'cross' && resolve(data.error?.message));
          const params = { name: 'for_apps', arguments: {} };
          parent.postMessage({ jsonrpc: '2.0', id: 'cross', method: 'tools/call', params }, '*');
        }),
    );
    expect(refused).toBe('The server has no such tool for apps.');
  });

  it('cannot call a tool that is for the model alone, or one that the server does not list', async () => {
    const page = await show('polite');
    await ready(page);
    const frame = await appFrame(page);
    const attempt = (name: string): Promise<unknown> =>
      frame.evaluate(
        (tool) =>
          host.callTool(tool).then(
            (result) => (result as { content: { text: string }[] }).content[0]?.text,
            (error) => error.message,
          ),
        name,
      );
    expect(await attempt('for_apps')).toBe('done');
    expect(await attempt('for_the_model')).toBe('The server has no such tool for apps.');
    expect(await attempt('no_such_tool')).toBe('The server has no such tool for apps.');
  });

  it('read the resources that the host approves, send messages, and open links of the web alone', async () => {
    const page = await show('polite');
    await ready(page);
    const frame = await appFrame(page);
    const outcomes = await frame.evaluate(async () => {
      const attempt = (work: Promise<unknown>): Promise<unknown> =>
        work.then(
          (result) => result,
          (error) => error.message,
        );
      return [
        await attempt(host['readResource']?.('notes://today') as Promise<unknown>),
        await attempt(host['readResource']?.('secret://plans') as Promise<unknown>),
        await attempt(host['openLink']?.('javascript:alert(1)') as Promise<unknown>),
        await attempt(host['openLink']?.('https://example.com/a') as Promise<unknown>),
        await attempt(host['sendMessage']?.('Hello') as Promise<unknown>),
        await attempt(host['sendMessage']?.([{ type: 'unknown' }]) as Promise<unknown>),
        await attempt(host['requestDisplayMode']?.('fullscreen') as Promise<unknown>),
        await attempt(host['request']?.('sampling/createMessage') as Promise<unknown>),
      ];
    });
    expect(outcomes).toEqual([
      { contents: [expect.objectContaining({ uri: 'notes://today', text: 'Buy milk' })] },
      'The host does not allow this.',
      '"url" must be an http: or https: URL.',
      undefined,
      undefined,
      '"content" must be an array of content blocks.',
      'inline',
      'Method not found: sampling/createMessage',
    ]);
    const notes = await notesUntil(page, () => true);
    expect(notes.filter(([what]) => what === 'link')).toEqual([['link', 'https://example.com/a']]);
    expect(notes).toContainEqual(['message', [{ type: 'text', text: 'Hello' }]]);
  });

  it('get the arguments and the result of a call once, in order, and are told before they are removed', async () => {
    const page = await show('polite');
    await page.evaluate(async () => {
      const { view } = window as unknown as HostWindow;
      await view.run();
      await view.ready;
      view.setContext({ theme: 'light' });
    });
    const frame = await appFrame(page);
    await frame.waitForFunction(() => (globalThis as unknown as { seen?: unknown[] }).seen?.length === 4);
    const seen = await frame.evaluate(() => (globalThis as unknown as { seen: unknown[] }).seen);
    expect(seen).toEqual([
      ['theme', 'dark'],
      ['input', {}],
      ['result', expect.objectContaining({ content: [{ type: 'text', text: 'This is polite.' }] })],
      ['theme', 'light'],
    ]);
    await page.evaluate(() => (window as unknown as HostWindow).view.close('The tab was closed.'));
    expect(await logged(page)).toEqual({ teardown: 'The tab was closed.' });
  });

  it('are refused before they have greeted, may greet once, and cannot make the frame huge', async () => {
    const page = await show('liar');
    const answers = (await logged(page)) as { id: string; error?: { code: number }; result?: object }[];
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual(
      expect.arrayContaining([
        ['early', -32600],
        ['first', undefined],
        ['second', -32600],
        ['proto', -32601],
        ['late', undefined],
      ]),
    );
    expect(answers).toHaveLength(5);
    expect(await page.$eval('iframe', (frame) => frame.style.height)).toBe('5000px');
    expect(await notesUntil(page, () => true)).not.toContainEqual(['log', 'info', 'too early']);
  });

  it('cannot send giant messages, or more requests than are open at a time', async () => {
    const page = await show('giant');
    const outcomes = await logged(page);
    expect(outcomes).toEqual([-32600, -32600, -32600, -32600, 'DataCloneError', 64, 136]);
  });

  it('cannot leave their page, whose policy would be lost, and are closed if they try', async () => {
    const page = await hosts.open();
    const visited: string[] = [];
    page.on('framenavigated', (frame) => visited.push(frame.url()));
    await page.evaluate(() =>
      addEventListener('message', ({ data }) => {
        (window as unknown as HostWindow).notes.push(['received', data.method]);
      }),
    );
    await page.evaluate((url) => (window as unknown as HostWindow).show(url, 'leaver'), hosts.url());
    const notes = await notesUntil(page, (all) => all.some(([what]) => what === 'closed'));
    expect(notes).toContainEqual(['closed', 'The app has left its page.']);
    expect(notes).not.toContainEqual(['received', 'tools/call']);
    expect(visited.some((url) => url.startsWith('data:'))).toBe(false);
    expect(await page.$('iframe')).toBe(null);
  });

  it('reach neither the host, nor storage, nor the network, nor frames', async () => {
    const page = await show('reacher');
    expect(await logged(page)).toEqual({
      fetch: 'blocked',
      parent: 'blocked',
      storage: 'blocked',
      frame: 'blocked',
    });
  });

  it('may have the data of others in them, which cannot end its element', async () => {
    const page = await hosts.open();
    await page.evaluate(() => {
      addEventListener('message', ({ data }) => {
        if (data === 'escaped') (window as unknown as HostWindow).notes.push(['escaped']);
      });
    });
    const target = { url: hosts.url(), name: 'data' };
    await page.evaluate(({ url, name }) => (window as unknown as HostWindow).show(url, name), target);
    expect(await logged(page)).toBe(evil);
    expect(await notesUntil(page, () => true)).not.toContainEqual(['escaped']);
  });

  it('hear only their host, and the host hears only them, whatever other windows send', async () => {
    const page = await show('polite');
    await ready(page);
    const frame = await appFrame(page);
    await frame.waitForFunction(() => 'seen' in globalThis);
    // A frame of somebody else sends to both. Its last message to the host shows that all were delivered.
    await page.evaluate(
      () =>
        new Promise<void>((resolve) => {
          addEventListener('message', ({ data }) => data === 'all sent' && resolve());
          const stranger = document.createElement('iframe');
          stranger.sandbox.add('allow-scripts');
          stranger.srcdoc = `<script>
            const result = { jsonrpc: '2.0', method: 'ui/notifications/tool-result', params: { content: [{ type: 'text', text: 'forged' }] } };
            for (const target of [parent.frames[0], parent.frames[0].frames[0]]) {
              target.postMessage(result, '*');
              target.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-resource-ready', params: { html: 'forged' } }, '*');
              for (let id = 0; id < 10; id++) target.postMessage({ jsonrpc: '2.0', id, result: { content: [], forged: true } }, '*');
            }
            parent.postMessage({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'for_apps' } }, '*');
            parent.postMessage({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'forged' } }, '*');
            parent.postMessage('all sent', '*');
          </script>`;
          document.body.append(stranger);
        }),
    );
    const called = await frame.evaluate(() => host.callTool('for_apps'));
    expect(called).toMatchObject({ content: [{ text: 'done' }] });
    expect(called).not.toHaveProperty('forged');
    expect(
      JSON.stringify(await frame.evaluate(() => (globalThis as unknown as { seen: unknown }).seen)),
    ).not.toContain('forged');
    const notes = await notesUntil(page, () => true);
    expect(JSON.stringify(notes)).not.toContain('forged');
    expect(notes.filter(([what]) => what === 'approve')).toEqual([['approve', 'tools/call', 'for_apps']]);
  });

  it('say so when no host shows them, when the host never answers, and when it answers something else', async () => {
    const page = await hosts.browser().newPage();
    const failureOf = (): Promise<string> =>
      page.evaluate(() =>
        (globalThis as unknown as { connectToHost: (options: object) => Promise<never> })
          .connectToHost({ timeoutMs: 100 })
          .catch((error: Error) => error.message),
      );
    await page.setContent(`<!doctype html>${bridgeScript()}`);
    expect(await failureOf()).toBe(
      'No host shows this page: it has no parent window. Open it as an app of an MCP server.',
    );
    const frameOf = async (reply: string): Promise<string> => {
      await page.setContent(
        `<!doctype html><script>addEventListener('message', ({ source, data }) => { ${reply} });</script><iframe></iframe>`,
      );
      const frame = await appFrame(page, { sandbox: false });
      await frame.setContent(`<!doctype html>${bridgeScript()}`);
      return frame.evaluate(() =>
        (globalThis as unknown as { connectToHost: (options: object) => Promise<unknown> })
          .connectToHost({ timeoutMs: 1000 })
          .then(
            () => 'connected',
            (error: Error) => error.message,
          ),
      );
    };
    expect(await frameOf('')).toBe(
      'ui/initialize was not answered within 1000 ms. Is the other window listening?',
    );
    expect(await frameOf(`source.postMessage({ jsonrpc: '2.0', id: data.id, result: 'text' }, '*')`)).toBe(
      'The response has neither a result nor an error.',
    );
    expect(
      await frameOf(
        `source.postMessage({ jsonrpc: '2.0', id: data.id, error: { code: 1, message: 'No' } }, '*')`,
      ),
    ).toBe('No');
    expect(
      await frameOf(
        `source.postMessage({ jsonrpc: '2.0', id: data.id, result: { hostInfo: 'x'.repeat(5e6) } }, '*')`,
      ),
    ).toBe('The message is larger than 4000000 characters, or is not JSON.');
    await page.close();
  });
});
