import { expect, test } from 'vitest';
import worker from '../../../examples/deploy/cloudflare/worker.js';
import * as route from '../../../examples/next/app/api/mcp/route.js';
import { expectMath, modern, post } from '../../support/examples/wire.js';

// Handlers for runtimes that pass a Request, called as those runtimes call them.

const env = { MCP_SECRET: 'a secret that is long enough to be one' };
const list = modern('tools/list');

test('the Next.js route serves both eras', () =>
  expectMath(
    'http://localhost:3000/api/mcp',
    (request) =>
      (route as unknown as Record<string, (...args: unknown[]) => Promise<Response>>)[request.method]?.(
        request,
        { params: Promise.resolve({}) },
      ) as Promise<Response>,
  ));

test('the Next.js route rejects a foreign host name that resolves to this machine', async () => {
  const response = await route.POST(post('http://evil.example/api/mcp', list.body, list.headers));
  expect(response.status).toBe(403);
});

test('the Next.js route answers the preflight of a browser', async () => {
  const headers = { origin: 'http://localhost:5173', 'access-control-request-headers': 'mcp-method' };
  const response = await route.OPTIONS(
    new Request('http://localhost:3000/api/mcp', { method: 'OPTIONS', headers }),
  );
  expect([response.status, response.headers.get('access-control-allow-headers')]).toEqual([
    204,
    'mcp-method',
  ]);
});

test('the worker serves both eras', () =>
  expectMath('https://math.example.workers.dev/mcp', (request) => worker.fetch(request, env)));

test('the worker rejects requests from web pages of other origins', async () => {
  const headers = { ...(list.headers as Record<string, string>), origin: 'https://evil.example' };
  const response = await worker.fetch(post('https://math.example.workers.dev/mcp', list.body, headers), env);
  expect(response.status).toBe(403);
});
