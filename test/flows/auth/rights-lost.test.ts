import { createServer, resource, tool } from 'fullmcp';
import { type AuthProvider, bearer } from 'fullmcp/auth';
import { serve } from 'fullmcp/node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Events, openEvents, send } from '../../support/http/http.js';
import { modern, modernStream } from '../../support/http/modern.js';
import { initializeMessage, jsonHeaders, openSession, sessionClient } from '../../support/http/sessions.js';
import { until } from '../../support/until.js';

// One caller whose tokens have other scopes from request to request, and whose rights end in the middle of things.

let url = '';
let close: () => Promise<void>;
let runs: string[] = [];
/** The people that `allow` lets in. */
const friends = new Set(['ann']);

/** A token is a name, and the scopes after it: `ann+secret`. */
const auth: AuthProvider = bearer((token) => {
  const [subject = '', ...scopes] = token.split('+');
  return { subject, scopes, issuer: 'https://a.example' };
});

const confirm = { message: 'Sure?', schema: z.object({ ok: z.boolean() }) };
const server = createServer({
  name: 'rights',
  version: '1.0.0',
  secret: 'x'.repeat(32),
  logger: () => undefined,
  changes: true,
  auth,
  tools: {
    open: tool({ run: () => 'open' }),
    secret: tool({
      scopes: ['secret'],
      idempotency: true,
      run: () => {
        runs.push('secret');
        return 'the secret';
      },
    }),
    ask: tool({
      scopes: ['secret'],
      run: async (_, ctx) => {
        runs.push('ask');
        await ctx.elicit('sure', confirm);
        return 'the secret';
      },
    }),
    job: tool({
      scopes: ['secret'],
      task: 'optional',
      run: async (_, ctx) => {
        await ctx.elicit('sure', confirm);
        return 'the secret';
      },
    }),
    friends: tool({
      allow: (caller) => caller !== undefined && friends.has(caller.subject),
      task: 'optional',
      run: async (_, ctx) => {
        await ctx.elicit('sure', confirm);
        return 'the secret';
      },
    }),
  },
  resources: {
    'doc://friends': resource({
      allow: (caller) => caller !== undefined && friends.has(caller.subject),
      read: () => 'the secret',
    }),
    'doc://open': resource({ read: () => 'open' }),
  },
});

beforeAll(async () => {
  const serving = await serve(server, { port: 0, signals: false });
  ({ url } = serving);
  close = serving.close;
});
afterAll(() => close());
afterEach(() => {
  runs = [];
  friends.add('ann');
});

const as = (token: string) => ({ authorization: `Bearer ${token}` });
const capabilities = {
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: { form: {} },
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
};

async function call(token: string, method: string, params: Record<string, unknown>, meta = {}) {
  const { taskId } = params;
  const headers = { ...as(token), ...(taskId !== undefined && { 'mcp-name': String(taskId) }) };
  const reply = await modern(url, method, params, { headers, meta: { ...capabilities, ...meta } });
  return { ...reply, json: JSON.parse(reply.text) as { result?: Record<string, unknown>; error?: unknown } };
}

const inputResponses = { sure: { action: 'accept', content: { ok: true } } };

describe('a caller that has lost a scope', () => {
  it('cannot continue a call that has asked a question', async () => {
    const asked = await call('ann+secret', 'tools/call', { name: 'ask' });
    const requestState = asked.json.result?.['requestState'];
    const params = { name: 'ask', requestState, inputResponses };
    runs = [];
    const refused = await call('ann', 'tools/call', params);
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      403,
      expect.stringContaining('error="insufficient_scope"'),
    ]);
    expect(runs).toEqual([]);
    expect((await call('ann+secret', 'tools/call', params)).text).toContain('the secret');
  });

  it('does not get the stored outcome of its idempotency key', async () => {
    const meta = { 'fullmcp/idempotencyKey': 'once' };
    const first = await call('ann+secret', 'tools/call', { name: 'secret' }, meta);
    expect(first.text).toContain('the secret');
    const refused = await call('ann', 'tools/call', { name: 'secret' }, meta);
    expect([refused.status, refused.text.includes('the secret')]).toEqual([403, false]);
    expect((await call('ann+secret', 'tools/call', { name: 'secret' }, meta)).text).toBe(first.text);
    expect(runs).toEqual(['secret']);
  });

  it('cannot read, answer or cancel its task, nor watch it', async () => {
    const created = await call('ann+secret', 'tools/call', { name: 'job' });
    const taskId = created.json.result?.['taskId'];
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const refused = await call('ann', method, { taskId, inputResponses });
      expect([method, refused.status]).toEqual([method, 403]);
    }
    const watched = await modernStream(
      url,
      'subscriptions/listen',
      { notifications: { taskIds: [taskId] } },
      { headers: as('ann'), meta: capabilities },
    );
    expect((await watched.rest()).map(({ data }) => data).join()).not.toContain(String(taskId));
    expect((await call('ann+secret', 'tasks/get', { taskId })).json.result).toMatchObject({
      status: 'input_required',
    });
  });

  it('cannot use the tool in the session in which it could use it before, nor in a batch', async () => {
    const { id } = await openSession(url, '2025-03-26', {}, as('ann+secret'));
    const session = sessionClient(url, id);
    const request = (name: string, requestId: number) => ({
      jsonrpc: '2.0',
      id: requestId,
      method: 'tools/call',
      params: { name },
    });
    expect((await session.post(request('secret', 1), as('ann+secret'))).text).toContain('the secret');
    const refused = await session.post(request('secret', 2), as('ann'));
    expect([refused.status, refused.text.includes('the secret')]).toEqual([403, false]);
    const batch = [request('open', 3), request('secret', 4), request('friends', 5), request('nothing', 6)];
    const both = await session.post(batch, as('bob'));
    expect(both.status).toBe(404);
    const own = await session.post(batch.slice(0, 2), as('ann'));
    expect(own.text).toContain('"text":"open"');
    expect(own.text).toContain('This needs the scope secret');
    expect(own.text).not.toContain('the secret');
    friends.delete('ann');
    const hidden = await session.post(batch.slice(2), as('ann+secret'));
    const messages = [...hidden.text.matchAll(/"message":"([^"]*)"/g)].map(([, text]) => text);
    expect(messages.sort()).toEqual(['Unknown tool: friends', 'Unknown tool: nothing']);
    expect(runs).toEqual(['secret']);
  });
});

describe('HTTP+SSE', () => {
  async function opened(token: string) {
    const events = await openEvents(url.replace(/\/mcp$/, '/sse'), { method: 'GET', headers: as(token) });
    const address = new URL((await events.next())?.data ?? '', url).href;
    const post = (by: string, message: unknown) =>
      send(address, { headers: { ...jsonHeaders, ...as(by) }, body: JSON.stringify(message) });
    await post(token, initializeMessage('2024-11-05'));
    expect((await events.next())?.data).toContain('serverInfo');
    const reply = async (by: string, name: string, id: number) => {
      const message = { jsonrpc: '2.0', id, method: 'tools/call', params: { name } };
      expect((await post(by, message)).status).toBe(202);
      return String((await events.next())?.data);
    };
    return { events, reply } satisfies { events: Events; reply: unknown };
  }

  it('serves each message with the scopes of its own token, not with those of the token that opened the stream', async () => {
    const strong = await opened('ann+secret');
    expect(await strong.reply('ann+secret', 'secret', 1)).toContain('the secret');
    expect(await strong.reply('ann', 'secret', 2)).toContain('This needs the scope secret');
    strong.events.drop();
    const weak = await opened('ann');
    expect(await weak.reply('ann', 'secret', 1)).toContain('This needs the scope secret');
    expect(await weak.reply('ann+secret', 'secret', 2)).toContain('the secret');
    weak.events.drop();
  });
});

describe('a caller that `allow` refuses from now on', () => {
  it('does not find its tasks, as if there were none', async () => {
    const taskId = (await call('ann', 'tools/call', { name: 'friends' })).json.result?.['taskId'];
    const unknown = String(taskId).replaceAll(/./g, (c, at: number) =>
      at === 0 ? (c === 'a' ? 'b' : 'a') : c,
    );
    friends.delete('ann');
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const [gone, never] = await Promise.all(
        [taskId, unknown].map((id) => call('ann', method, { taskId: id, inputResponses })),
      );
      expect(gone?.status).toBe(never?.status);
      expect(gone?.text.replaceAll(String(taskId), 'ID')).toBe(never?.text.replaceAll(unknown, 'ID'));
    }
    friends.add('ann');
    expect((await call('ann', 'tasks/get', { taskId })).json.result).toMatchObject({
      status: 'input_required',
    });
  });

  it('is not told any more that a resource has changed, although its subscription stays open', async () => {
    const uris = ['doc://friends', 'doc://open'];
    const params = { notifications: { resourceSubscriptions: uris } };
    const events = await modernStream(url, 'subscriptions/listen', params, { headers: as('ann') });
    expect((await events.next())?.data).toContain('acknowledged');
    server.changed.resource('doc://friends');
    expect((await events.next())?.data).toContain('doc://friends');
    friends.delete('ann');
    server.changed.resource('doc://friends');
    server.changed.resource('doc://open');
    expect((await events.next())?.data).toContain('doc://open');
    events.drop();
  });

  it('is told nothing in a session of 2025-11-25 either', async () => {
    const { id } = await openSession(url, '2025-11-25', {}, as('ann'));
    const session = sessionClient(url, id);
    const seen: string[] = [];
    const stream = await session.get(as('ann'));
    void (async () => {
      for (let event = await stream.next(); event !== undefined; event = await stream.next())
        seen.push(event.data);
    })().catch(() => undefined);
    for (const [at, uri] of ['doc://friends', 'doc://open'].entries()) {
      const message = { jsonrpc: '2.0', id: at, method: 'resources/subscribe', params: { uri } };
      expect((await session.post(message, as('ann'))).text).toContain('"result":{}');
    }
    const told = (uri: string) => seen.filter((data) => data.includes(uri)).length;
    server.changed.resource('doc://friends');
    await until('the first change is reported', () => told('doc://friends') > 0);
    friends.delete('ann');
    const before = told('doc://friends');
    server.changed.resource('doc://friends');
    server.changed.resource('doc://open');
    await until('the change of the open resource is reported', () => told('doc://open') > 0);
    expect(told('doc://friends')).toBe(before);
    stream.drop();
  });
});
