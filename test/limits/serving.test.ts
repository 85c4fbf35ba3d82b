import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createServer, resource, tool } from 'fullmcp';
import { bearer } from 'fullmcp/auth';
import { connect } from 'fullmcp/client';
import { createHandler } from 'fullmcp/http';
import { createNodeHandler, serve } from 'fullmcp/node';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { modernStream } from '../support/http/modern.js';
import { openSession, sessionClient } from '../support/http/sessions.js';

// Limitations that pages name, of servers over HTTP and of sessions. A test passes while its limitation holds: when one fails, the
// feature has arrived, and the sentence that names the test must go, together with the test.

const quiet = { name: 'limits', version: '1.0.0', logger: () => undefined };
const secret = 'a secret of at least 32 characters';

test('a handler that is mounted below a path has its other paths there', async () => {
  const app = express();
  app.use('/mcp', createNodeHandler(createServer(quiet)));
  const url = await listen(app);
  expect((await fetch(`${url}/mcp/health`)).status).toBe(200);
  expect((await fetch(`${url}/health`)).status).toBe(404);
});

test('Express answers malformed JSON in HTML if its parser comes first', async () => {
  const app = express();
  app.use(express.json());
  app.use('/mcp', createNodeHandler(createServer(quiet)));
  const url = await listen(app);
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(`${url}/mcp`, { method: 'POST', body: '{"a":', headers });
  expect(reply.status).toBe(400);
  expect(reply.headers.get('content-type')).toContain('text/html');
});

test('the metadata of a protected server does not list the scopes of its rules by itself', async () => {
  const server = createServer({
    ...quiet,
    tools: { write: tool({ scopes: ['notes:write'], run: () => 'written' }) },
  });
  const audience = 'http://localhost/mcp';
  const auth = bearer(() => undefined, { resource: { authorizationServers: ['https://login.example.com'] } });
  const handler = createHandler(server, { auth, publicUrl: audience });
  onTestFinished(() => handler.close());
  const reply = await handler(new Request('http://localhost/.well-known/oauth-protected-resource/mcp'));
  expect(reply.status).toBe(200);
  expect(await reply.json()).not.toHaveProperty('scopes_supported');
  expect(server.scopes).toEqual(['notes:write']);
});

test('a change of a resource costs a read for each subscriber that is authenticated', async () => {
  let reads = 0;
  const server = createServer({
    ...quiet,
    changes: true,
    resources: { 'note://1': resource({ read: () => `read ${++reads}` }) },
  });
  const auth = ({ headers }: IncomingMessage) => ({ subject: String(headers['x-caller']) });
  await using serving = await serve(server, { port: 0, auth, signals: false });
  const streams = await Promise.all(
    ['ada', 'bob'].map((name) =>
      modernStream(
        serving.url,
        'subscriptions/listen',
        { notifications: { resourceSubscriptions: ['note://1'] } },
        { headers: { 'x-caller': name } },
      ),
    ),
  );
  for (const stream of streams) await stream.next();
  const before = reads;
  server.changed.resource('note://1');
  for (const stream of streams) expect((await stream.next())?.data).toContain('note://1');
  expect(reads - before).toBe(2);
});

test('without a cluster, a session that was ended in one process is still served by another', async () => {
  const urls = await Promise.all(['a', 'b'].map(() => servedUrl()));
  const [first = '', second = ''] = urls;
  const { id, headers } = await openSession(first);
  expect((await fetch(first, { method: 'DELETE', headers })).ok).toBe(true);
  expect((await sessionClient(first, id).request('tools/list')).status).toBe(404);
  expect((await sessionClient(second, id).request('tools/list')).status).toBe(200);
});

test('a field with several choices is sent to a client of 2025-06-18 unchanged', async () => {
  const schema = z.object({ toppings: z.array(z.enum(['olives', 'ham'])) });
  const server = createServer({
    ...quiet,
    tools: { order: tool({ run: (_, ctx) => ctx.ask('pizza', { message: 'Which?', schema }) }) },
  });
  await using serving = await serve(server, { port: 0, signals: false });
  let form: unknown;
  await using client = await connect(serving.url, {
    revision: '2025-06-18',
    elicit: (question) => {
      form = question;
      return { action: 'accept', content: { toppings: ['ham'] } };
    },
  });
  await client.callTool('order');
  expect(form).toMatchObject({ schema: { properties: { toppings: { type: 'array' } } } });
});

test('the ttl that a client of 2025-11-25 asks for is ignored', async () => {
  const server = createServer({
    ...quiet,
    tasks: { ttlMs: 60_000 },
    tools: { slow: tool({ task: 'optional', run: () => 'done' }) },
  });
  await using serving = await serve(server, { port: 0, signals: false });
  const session = await openSession(serving.url, '2025-11-25', { tasks: {} });
  const { text } = await session.request('tools/call', { name: 'slow', task: { ttl: 5 } });
  expect(text).toContain('"ttl":60000');
});

test('a change reaches only the subscribers in its own process if there is no bus', async () => {
  const server = () =>
    createServer({ ...quiet, changes: true, resources: { 'note://{id}': resource({ read: () => 'x' }) } });
  const [here, elsewhere] = [server(), server()];
  await using serving = await serve(here, { port: 0, secret, signals: false });
  const filter = { notifications: { resourceSubscriptions: ['note://1', 'note://2'] } };
  const stream = await modernStream(serving.url, 'subscriptions/listen', filter);
  await stream.next();
  elsewhere.changed.resource('note://1');
  here.changed.resource('note://2');
  expect((await stream.next())?.data).toContain('note://2');
  await elsewhere.close();
});

async function servedUrl(): Promise<string> {
  const serving = await serve(createServer(quiet), { port: 0, secret, signals: false });
  onTestFinished(() => serving.close());
  return serving.url;
}

/** Serves an app of Express on any port, until the test ends. */
async function listen(app: ReturnType<typeof express>): Promise<string> {
  const http = app.listen(0, '127.0.0.1');
  onTestFinished(() => void http.close());
  await new Promise((resolve) => http.once('listening', resolve));
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}
