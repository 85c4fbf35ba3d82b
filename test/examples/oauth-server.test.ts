import { connect } from 'fullmcp/client';
import type { Serving } from 'fullmcp/node';
import { oauth } from 'fullmcp/oauth';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { freePort } from '../support/free-port.js';
import { Browser, ProxyFlow } from '../support/oauth/proxy-flow.js';
import { TestUser } from '../support/oauth/user.js';

// Runs examples/oauth-server as it is.

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  vi.resetModules();
});

async function start(
  env: Readonly<Record<string, string>> = {},
): Promise<{ serving: Serving; said: string[] }> {
  const said: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((line) => void said.push(line));
  const none = { GITHUB_CLIENT_ID: '', GITHUB_CLIENT_SECRET: '' };
  const all = { PORT: String(await freePort()), MCP_SECRET: 'x'.repeat(32), ...none, ...env };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  const { serving } = await import('../../examples/oauth-server/main.js');
  closing.push(serving.close);
  return { serving, said };
}

describe('the server behind GitHub', () => {
  test('runs without GitHub, and lets a user log in and use the API', async () => {
    const { serving, said } = await start();
    expect(said).toEqual([
      `Listening on ${serving.url}`,
      `The callback URL for GitHub is ${new URL('/callback', serving.url)}`,
    ]);
    const user = new TestUser();
    await using client = await connect(serving.url, { auth: oauth({ open: user.open }) });
    expect((await client.callTool('who_am_i')).text).toBe('ada, ada@example.com');
    expect((await client.callTool('list_repositories')).text).toBe('ada/engine\nada/notes');
    expect(user.opened).toHaveLength(1);
  });

  test('sends users to the real GitHub if there is an app for it', async () => {
    const { serving } = await start({ GITHUB_CLIENT_ID: 'my-app', GITHUB_CLIENT_SECRET: 'my-secret' });
    const flow = new ProxyFlow(new URL(serving.url).origin);
    await flow.register();
    const url = new URL(await flow.allow(new Browser(), flow.attempt()));
    expect(`${url.origin}${url.pathname}`).toBe('https://github.com/login/oauth/authorize');
    expect(url.searchParams.get('client_id')).toBe('my-app');
  });
});
