import { createServer } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
});

test.each(['mysql://user:hidden@host/x', 'hidden', '__proto__:hidden'])(
  'MCP_CLUSTER_URL that names no engine is rejected, and its password is not shown: %s',
  async (url) => {
    vi.stubEnv('MCP_CLUSTER_URL', url);
    const server = createServer({ name: 'test', version: '1.0.0' });
    const error: unknown = await serve(server, { port: 0 }).catch((reason: unknown) => reason);
    expect(String(error)).toContain('must be a URL that begins with postgres://, redis:// or nats://.');
    expect(String(error)).not.toContain('hidden');
  },
);

test.each([
  ['postgres', 'postgres://user:hidden@127.0.0.1:1/x'],
  ['postgres', 'postgresql://user:hidden@127.0.0.1:1/x'],
  ['redis', 'redis://:hidden@127.0.0.1:1'],
  ['redis', 'valkey://:hidden@127.0.0.1:1'],
  ['nats', 'nats://user:hidden@127.0.0.1:1'],
])('MCP_CLUSTER_URL with an engine that cannot be reached names it, %s: %s', async (engine, url) => {
  vi.stubEnv('MCP_CLUSTER_URL', url);
  const server = createServer({ name: 'test', version: '1.0.0', logger: () => undefined });
  const error: unknown = await serve(server, { port: 0 }).catch((reason: unknown) => reason);
  expect(String(error).toLowerCase()).toContain(`${engine} at 127.0.0.1:1`);
  expect(String(error)).not.toContain('hidden');
  await server.close();
});
