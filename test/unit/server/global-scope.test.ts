import { createServer, prompt, resource, tool } from 'fullmcp';
import { apiKey, bearer, hashApiKey, jwt } from 'fullmcp/auth';
import { createHandler } from 'fullmcp/http';
import {
  circuitBreaker,
  concurrency,
  errors,
  logging,
  outputBudget,
  rateLimit,
  timeout,
} from 'fullmcp/middleware';
import { afterEach, expect, test, vi } from 'vitest';
import { ask, callTool } from '../../support/examples/wire.js';

// Workers run the code of a module outside of any request. There they refuse random values, timers and requests, and the Worker
// does not start.

const url = 'https://mcp.example.com/mcp';

afterEach(() => vi.unstubAllGlobals());

test('a server and its handler are created without random values, timers and requests, and then serve', async () => {
  const digest = await hashApiKey('k'.repeat(40));
  const restore = refuseAsInGlobalScope();
  const server = createServer({
    name: 'worker',
    version: '1.0.0',
    changes: true,
    use: [
      errors({ mask: ['remote_error'] }),
      logging({ log: () => undefined }),
      rateLimit({ tools: '100/min' }),
      timeout(60_000),
      concurrency({ limit: 20 }),
      circuitBreaker(),
      outputBudget({ maxChars: 1000 }),
    ],
    tools: {
      plain: tool({ run: () => 'plain' }),
      task: tool({ task: 'optional', run: () => 'task' }),
      once: tool({ idempotency: true, run: () => 'once' }),
    },
    resources: { 'note://1': resource({ onSubscribe: () => undefined, read: () => 'note' }) },
    prompts: { hello: prompt({ run: () => 'hello' }) },
  });
  const handlers = [
    createHandler(server),
    createHandler(server, { secret: 's'.repeat(32) }),
    createHandler(server, { auth: apiKey({ keys: [{ hash: digest, subject: 'a' }] }) }),
    createHandler(server, { auth: bearer(() => ({ subject: 'a' })), publicUrl: url }),
    createHandler(server, {
      auth: jwt({ issuer: 'https://login.example.com', audience: url }),
      publicUrl: url,
    }),
  ];
  restore();
  expect(handlers).toHaveLength(5);
  const [open] = handlers as [(typeof handlers)[number]];
  for (const name of ['plain', 'task', 'once'])
    expect(await callTool(url, name, {}, (request) => open(request))).toMatchObject({
      content: [{ text: name }],
    });
  expect(await ask(url, 'server/discover', {}, (request) => open(request))).toHaveLength(1);
});

/** Refuses what Workers refuse outside of a request. */
function refuseAsInGlobalScope(): () => void {
  const refuse = (): never => {
    throw new Error('Disallowed operation called within global scope.');
  };
  vi.spyOn(crypto, 'getRandomValues').mockImplementation(refuse);
  vi.spyOn(crypto, 'randomUUID').mockImplementation(refuse);
  vi.spyOn(Math, 'random').mockImplementation(refuse);
  for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'fetch']) vi.stubGlobal(name, refuse);
  return () => {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  };
}
