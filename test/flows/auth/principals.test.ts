import { createServer, tool } from 'fullmcp';
import { bearer } from 'fullmcp/auth';
import { serve } from 'fullmcp/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openEvents, send } from '../../support/http/http.js';
import { type ModernOptions, modern } from '../../support/http/modern.js';
import { initializeMessage, jsonHeaders, openSession, sessionClient } from '../../support/http/sessions.js';

// The same subject at two issuers, without an issuer, and names that try to look like another principal.
const callers: Readonly<Record<string, { readonly subject: string; readonly issuer?: string }>> = {
  owner: { subject: 'ann', issuer: 'https://a.example' },
  'another issuer': { subject: 'ann', issuer: 'https://b.example' },
  'no issuer': { subject: 'ann' },
  'the printed pair as a subject': { subject: '["https://a.example","ann"]' },
  'a subject with a part of the issuer': { subject: '","ann', issuer: 'https://a.example' },
};
const others = Object.keys(callers).filter((name) => name !== 'owner');
const tokens = Object.keys(callers).map((name, i) => [`token-${i}`, name] as const);
const headersOf = (name: string) => ({
  authorization: `Bearer ${tokens.find(([, caller]) => caller === name)?.[0]}`,
});

let url = '';
let close: () => Promise<void>;
let runs = 0;
beforeAll(async () => {
  const server = createServer({
    name: 'principals',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    auth: bearer((token) => callers[tokens.find(([known]) => known === token)?.[1] ?? '']),
    tools: {
      count: tool({ idempotency: true, run: () => `run ${++runs}` }),
      job: tool({ task: 'required', run: () => 'done' }),
      ask: tool({
        run: async (_, ctx) => {
          const answer = await ctx.elicit('sure', {
            message: 'Sure?',
            schema: z.object({ ok: z.boolean() }),
          });
          return JSON.stringify(answer);
        },
      }),
      notes: tool({
        run: async (_, { progress }) => {
          progress(1, 2, 'begun');
          return 'noted';
        },
      }),
    },
  });
  const serving = await serve(server, { port: 0, signals: false });
  ({ url } = serving);
  close = serving.close;
});
afterAll(() => close());

const capabilities = {
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: { form: {} },
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
};

async function as(
  name: string,
  method: string,
  params: Record<string, unknown>,
  meta: ModernOptions['meta'] = {},
) {
  const { taskId } = params;
  const headers = { ...headersOf(name), ...(taskId !== undefined && { 'mcp-name': String(taskId) }) };
  const options = { headers, meta: { ...capabilities, ...meta } };
  const reply = await modern(url, method, params, options);
  return JSON.parse(reply.text) as { result?: Record<string, unknown>; error?: { message: string } };
}

describe.each(others)('A caller with %s', (other) => {
  it('cannot use a session, its streams or its end', async () => {
    const { id } = await openSession(url, '2025-11-25', {}, headersOf('owner'));
    const session = sessionClient(url, id);
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'notes', _meta: { progressToken: 'p' } },
    };
    const body = JSON.stringify(call);
    const events = await openEvents(url, { headers: { ...session.headers, ...headersOf('owner') }, body });
    const first = await events.next();
    await events.rest();
    const stolen = headersOf(other);
    expect((await session.post(call, stolen)).status).toBe(404);
    expect((await session.get(stolen)).status).toBe(404);
    expect((await session.get({ ...stolen, 'last-event-id': String(first?.id) })).status).toBe(404);
    expect((await send(url, { method: 'DELETE', headers: { 'mcp-session-id': id, ...stolen } })).status).toBe(
      404,
    );
    expect((await session.post({ ...call, id: 2 }, headersOf('owner'))).status).toBe(200);
    const resumed = await session.get({ ...headersOf('owner'), 'last-event-id': String(first?.id) });
    expect((await resumed.rest()).map(({ data }) => data).join()).toContain('noted');
  });

  it('cannot post to a connection of HTTP+SSE', async () => {
    const events = await openEvents(url.replace('/mcp', '/sse'), {
      method: 'GET',
      headers: headersOf('owner'),
    });
    const messages = new URL((await events.next())?.data ?? '', url).href;
    const post = (name: string) =>
      send(messages, {
        headers: { ...jsonHeaders, ...headersOf(name) },
        body: JSON.stringify(initializeMessage('2024-11-05')),
      });
    expect((await post(other)).status).toBe(404);
    expect((await post('owner')).status).toBe(202);
    events.drop();
  });

  it('cannot see a task', async () => {
    const created = await as('owner', 'tools/call', { name: 'job' });
    const taskId = created.result?.['taskId'];
    expect(taskId).toEqual(expect.any(String));
    const stolen = await as(other, 'tasks/get', { taskId });
    expect(stolen).toMatchObject({ error: { code: -32602, message: `Unknown task: ${taskId}` } });
    expect((await as('owner', 'tasks/get', { taskId })).result).toBeDefined();
  });

  it('cannot use the sealed state of a question', async () => {
    const asked = await as('owner', 'tools/call', { name: 'ask' });
    const requestState = asked.result?.['requestState'];
    const inputResponses = { sure: { action: 'accept', content: { ok: true } } };
    const stolen = await as(other, 'tools/call', { name: 'ask', requestState, inputResponses });
    expect(stolen.error).toBeDefined();
    const own = await as('owner', 'tools/call', { name: 'ask', requestState, inputResponses });
    expect(JSON.stringify(own.result)).toContain('accept');
  });

  it('does not get the outcome of an idempotency key', async () => {
    const meta = { 'fullmcp/idempotencyKey': `key for ${other}` };
    const text = async (name: string) =>
      JSON.stringify((await as(name, 'tools/call', { name: 'count' }, meta)).result?.['content']);
    const own = await text('owner');
    expect(await text(other)).not.toBe(own);
    expect(await text('owner')).toBe(own);
  });
});
