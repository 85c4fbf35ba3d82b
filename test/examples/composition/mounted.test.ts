import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { callTool, expectMath, statusForHost } from '../../support/examples/wire.js';

// Runs each example unchanged, on a port of its own.

interface Mounted {
  readonly url: string;
  readonly close: () => Promise<void>;
}

const examples: Record<string, () => Promise<Mounted>> = {
  async express() {
    const { listening, close } = await import('../../../examples/express/server.js');
    await new Promise((resolve) => listening.once('listening', resolve));
    return { url: urlOf(listening.address() as AddressInfo), close };
  },
  async fastify() {
    const { app, url } = await import('../../../examples/fastify/server.js');
    return { url: `${url}/mcp`, close: () => app.close() };
  },
  async hono() {
    const { listening } = await import('../../../examples/hono/server.js');
    if (!listening.listening) await new Promise((resolve) => listening.once('listening', resolve));
    const close = (): Promise<void> => new Promise((resolve) => listening.close(() => resolve()));
    return { url: urlOf(listening.address() as AddressInfo), close };
  },
};

describe.each(Object.keys(examples))('the %s example', (name) => {
  let mounted: Mounted;

  beforeAll(async () => {
    vi.stubEnv('PORT', '0');
    mounted = (await examples[name]?.()) as Mounted;
  });

  afterAll(async () => {
    vi.unstubAllEnvs();
    await mounted.close();
  });

  test('serves both eras', () => expectMath(mounted.url));

  test('serves the other routes of the app', async () => {
    const page = await fetch(new URL('/', mounted.url));
    expect(await page.text()).toBe('The rest of the app');
  });

  test('rejects a foreign host name that resolves to this machine', async () => {
    expect(await statusForHost(mounted.url, 'evil.example')).toBe(403);
  });

  test('accepts a body of 2 MB, beyond the default limits of frameworks', async () => {
    const result = await callTool(mounted.url, 'add', { a: 1, b: 2, padding: 'x'.repeat(2_000_000) });
    expect(result).toMatchObject({ content: [{ text: '3' }] });
  });

  test('serves the health route next to the endpoint', async () => {
    const health = await fetch(`${mounted.url}/health`);
    expect(await health.json()).toEqual({ status: 'ok' });
  });
});

function urlOf({ port }: AddressInfo): string {
  return `http://127.0.0.1:${port}/mcp`;
}
