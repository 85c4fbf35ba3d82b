import { fileURLToPath } from 'node:url';
import { type ConnectOptions, connect } from 'fullmcp/client';
import { memoryTokenStore, type OAuthEvent, oauth } from 'fullmcp/oauth';
import { afterEach, describe, expect, test } from 'vitest';
import { TestUser } from '../support/oauth/user.js';
import { until } from '../support/until.js';
import { startObserved } from './support/observed-server.js';

// Our client logs in to servers that are protected with the helpers of others.

const script = fileURLToPath(new URL('fixtures/protected-servers.mjs', import.meta.url));
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const kinds = [
  { kind: 'v1', name: 'the official SDK, version 1', revision: '2025-11-25', refreshes: false },
  { kind: 'v2', name: 'the official SDK, version 2', revision: '2026-07-28', refreshes: false },
  { kind: 'better-auth-1.6', name: 'Better Auth 1.6', revision: '2026-07-28', refreshes: true },
  { kind: 'better-auth-1.7', name: 'Better Auth 1.7', revision: '2026-07-28', refreshes: true },
] as const;

describe.each(kinds)('a server protected with the helpers of $name', ({ kind, revision, refreshes }) => {
  test('lets the client in after one login, and in the next run without one', async () => {
    const server = await startObserved(script, kind);
    closing.push(server.stop);
    const user = new TestUser();
    const events: OAuthEvent[] = [];
    const store = memoryTokenStore();
    const open = async () => {
      const options: ConnectOptions = {
        auth: oauth({ open: user.open, store, onEvent: (event) => events.push(event) }),
      };
      const client = await connect(`${server.origin}/mcp`, options);
      closing.push(() => client.close());
      return client;
    };
    const client = await open().catch((error: unknown) => {
      throw new Error(`${(error as Error).message}\n${server.output()}`);
    });
    expect(client.server.revision).toBe(revision);
    expect((await client.callTool('hello')).text).toBe('hello');
    expect((await (await open()).callTool('hello')).text).toBe('hello');
    expect(user.opened).toHaveLength(1);
    await until('the last page', () => user.lastPages.at(-1)?.includes('You are logged in') === true);
    const how = events.flatMap((event) => (event.type === 'tokens' ? [event.how] : []));
    expect(how).toEqual(['login']);

    if (!refreshes) return;
    // The access token is lost, as if it had ended.
    const key = `tokens user ${server.origin}/mcp`;
    const tokens = JSON.parse((await store.get(key)) as string);
    expect(tokens.refreshToken).toEqual(expect.any(String));
    await store.set(key, JSON.stringify({ ...tokens, accessToken: 'lost' }));
    expect((await (await open()).callTool('hello')).text).toBe('hello');
    expect(user.opened).toHaveLength(1);
  });
});
