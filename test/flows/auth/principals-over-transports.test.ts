import { createServer, type Revision, tool } from 'fullmcp';
import { bearer } from 'fullmcp/auth';
import { type Client, connect } from 'fullmcp/client';
import { createHandler } from 'fullmcp/http';
import { serve } from 'fullmcp/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openEvents, send } from '../../support/http/http.js';
import { modern } from '../../support/http/modern.js';
import { initializeMessage, jsonHeaders, openSession } from '../../support/http/sessions.js';

// Two callers of one server, each with a real token, over every transport and era: nothing of one is the other's.

interface Wire {
  readonly name: string;
  readonly scheme: 'http' | 'ws';
  readonly path: string;
  readonly revision: Revision;
}

const wires: readonly Wire[] = [
  { name: 'HTTP 2026-07-28', scheme: 'http', path: '/mcp', revision: '2026-07-28' },
  { name: 'HTTP 2025-11-25', scheme: 'http', path: '/mcp', revision: '2025-11-25' },
  { name: 'HTTP 2025-03-26', scheme: 'http', path: '/mcp', revision: '2025-03-26' },
  { name: 'HTTP+SSE 2024-11-05', scheme: 'http', path: '/sse', revision: '2024-11-05' },
  { name: 'WebSocket 2026-07-28', scheme: 'ws', path: '/mcp', revision: '2026-07-28' },
  { name: 'WebSocket 2025-11-25', scheme: 'ws', path: '/mcp', revision: '2025-11-25' },
];

const http = wires[0] as Wire;
const annHeaders = { authorization: 'Bearer t-ann' };
const meta = {
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: { form: {} },
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
};

let port = 0;
let close: () => Promise<void>;
let runs = 0;
beforeAll(async () => {
  const server = createServer({
    name: 'principals',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    auth: bearer((token) =>
      /^t-(ann|bob)$/.test(token) ? { subject: token.slice(2), issuer: 'https://a.example' } : undefined,
    ),
    tools: {
      me: tool({ run: (_, { auth }) => `I am ${auth?.subject}` }),
      count: tool({ idempotency: true, run: () => `run ${++runs}` }),
      ask: tool({
        run: async (_, ctx) => {
          await ctx.elicit('sure', { message: 'Sure?', schema: z.object({ ok: z.boolean() }) });
          return 'asked';
        },
      }),
      job: tool({
        task: 'optional',
        run: async (_, ctx) => {
          await ctx.elicit('sure', { message: 'Sure?', schema: z.object({ ok: z.boolean() }) });
          return 'done';
        },
      }),
    },
  });
  const serving = await serve(server, { port: 0, signals: false });
  ({ port } = serving);
  close = serving.close;
});
afterAll(() => close());

const urlOf = ({ scheme, path }: Pick<Wire, 'scheme' | 'path'>) => `${scheme}://127.0.0.1:${port}${path}`;

const elicit = () => ({ action: 'decline' as const });

function connectAs(subject: string, wire: Wire): Promise<Client> {
  return connect(urlOf(wire), { auth: `t-${subject}`, revision: wire.revision, cache: false, elicit });
}

async function ask(client: Client, name: string, _meta = {}): Promise<string> {
  return textOf(await client.request('tools/call', { name, _meta }));
}

const textOf = (result: unknown): string =>
  (result as { content: { text: string }[] }).content[0]?.text ?? '';

const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    (value) => `no failure: ${JSON.stringify(value)}`,
    (error) => String(error),
  );

describe.each(wires)('over $name', (wire) => {
  it('each caller is itself, and no other gets in', async () => {
    await using ann = await connectAs('ann', wire);
    await using bob = await connectAs('bob', wire);
    expect(await ask(ann, 'me')).toBe('I am ann');
    expect(await ask(bob, 'me')).toBe('I am bob');
    expect(await failureOf(connectAs('eve', wire))).toContain('401');
  });

  it('an idempotency key of another caller, used over any other transport, has no outcome', async () => {
    await using bob = await connectAs('bob', wire);
    for (const other of wires) {
      const key = { 'fullmcp/idempotencyKey': `${wire.name} ${other.name}` };
      await using ann = await connectAs('ann', other);
      const own = await ask(ann, 'count', key);
      expect(await ask(bob, 'count', key)).not.toBe(own);
      expect(await ask(ann, 'count', key)).toBe(own);
    }
  });

  it.runIf(wire.revision >= '2025-11-25')(
    'a task of another caller, made over HTTP, is unknown',
    async () => {
      const created = await modern(urlOf(http), 'tools/call', { name: 'job' }, { headers: annHeaders, meta });
      const { taskId } = JSON.parse(created.text).result as { taskId: string };
      expect(taskId).toEqual(expect.any(String));
      await using bob = await connectAs('bob', wire);
      await using ann = await connectAs('ann', wire);
      const rest = wire.revision === '2026-07-28' ? ['tasks/update'] : ['tasks/result'];
      for (const method of ['tasks/get', 'tasks/cancel', ...rest]) {
        const params = { taskId, ...(method === 'tasks/update' && { inputResponses: {} }) };
        expect([method, await failureOf(bob.request(method, params))]).toEqual([
          method,
          expect.stringContaining(`Unknown task: ${taskId}`),
        ]);
      }
      expect(await ann.request('tasks/get', { taskId })).toMatchObject({ taskId, status: 'input_required' });
    },
  );

  it.runIf(wire.revision === '2026-07-28')('the sealed state of another caller is refused', async () => {
    const asked = await modern(urlOf(http), 'tools/call', { name: 'ask' }, { headers: annHeaders, meta });
    const { requestState } = JSON.parse(asked.text).result as { requestState: string };
    const inputResponses = { sure: { action: 'accept', content: { ok: true } } };
    await using bob = await connectAs('bob', wire);
    await using ann = await connectAs('ann', wire);
    const params = { name: 'ask', requestState, inputResponses };
    expect(await failureOf(bob.request('tools/call', params))).toMatch(/^McpError: /);
    expect(textOf(await ann.request('tools/call', params))).toBe('asked');
  });
});

describe('A stream of another session', () => {
  const headersOf = (subject: string) => ({ authorization: `Bearer t-${subject}` });
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'job', _meta: { progressToken: 'p' } },
  };

  it('cannot be resumed from a session of one’s own, with or without the same caller', async () => {
    const url = urlOf({ scheme: 'http', path: '/mcp' });
    const elicitation = { elicitation: {} };
    const ann = await openSession(url, '2025-11-25', elicitation, headersOf('ann'));
    const headers = { ...ann.headers, ...headersOf('ann') };
    const events = await openEvents(url, { headers, body: JSON.stringify(call) });
    const ids = [await events.next(), await events.next()].map((event) => String(event?.id));
    events.drop();
    for (const thief of ['bob', 'ann']) {
      const other = await openSession(url, '2025-11-25', elicitation, headersOf(thief));
      for (const id of ids) {
        const stolen = await other.get({ ...headersOf(thief), 'last-event-id': id });
        expect([thief, stolen.status]).toEqual([thief, 404]);
      }
      // An id with the tag of the thief's session and the name of the other stream.
      const forged = ids[0]?.replace(/^[^.]+/, other.id.slice(-22)) ?? '';
      expect((await other.get({ ...headersOf(thief), 'last-event-id': forged })).status).toBe(404);
    }
    const own = await ann.get({ ...headersOf('ann'), 'last-event-id': String(ids[0]) });
    expect(own.status).toBe(200);
    own.drop();
  });

  it('cannot be answered, cancelled or ended with DELETE by another caller', async () => {
    const url = urlOf({ scheme: 'http', path: '/mcp' });
    const ann = await openSession(url, '2025-11-25', { elicitation: {} }, headersOf('ann'));
    const headers = { ...ann.headers, ...headersOf('ann') };
    const events = await openEvents(url, { headers, body: JSON.stringify(call) });
    let asked: { id?: unknown; method?: string } = {};
    while (asked.method !== 'elicitation/create') asked = JSON.parse((await events.next())?.data || '{}');
    const answer = { jsonrpc: '2.0', id: asked.id, result: { action: 'accept', content: { ok: true } } };
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    const bob = await openSession(url, '2025-11-25', { elicitation: {} }, headersOf('bob'));
    for (const message of [answer, cancel]) {
      expect((await ann.post(message, headersOf('bob'))).status).toBe(404);
      // In a session of one's own, the same ids name nothing.
      expect([202, 400]).toContain((await bob.post(message, headersOf('bob'))).status);
    }
    const stolen = { 'mcp-session-id': ann.id, ...headersOf('bob') };
    expect((await send(url, { method: 'DELETE', headers: stolen })).status).toBe(404);
    expect((await ann.post(answer, headersOf('ann'))).status).toBe(202);
    expect((await events.rest()).map(({ data }) => data).join()).toContain('done');
  });
});

describe('A session that another process has opened', () => {
  const auth = bearer((token) => ({ subject: token, issuer: 'https://a.example' }), { optional: true });
  const secret = 'a secret that both processes have, 32+';
  const replica = () => {
    const server = createServer({ name: 'replica', version: '1.0.0', logger: () => undefined, tools: {} });
    return createHandler(server, { auth, secret });
  };
  type Replica = ReturnType<typeof replica>;

  function request(
    method: string,
    id: string | undefined,
    token: string | undefined,
    body?: object,
  ): Request {
    return new Request('http://localhost/mcp', {
      method,
      headers: {
        ...jsonHeaders,
        ...(id !== undefined && { 'mcp-session-id': id }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  async function open(at: Replica, token: string | undefined): Promise<string> {
    const reply = await at(request('POST', undefined, token, initializeMessage('2025-11-25')));
    return String(reply.headers.get('mcp-session-id'));
  }

  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const statusOf = async (at: Replica, method: string, id: string, token: string | undefined) =>
    (await at(request(method, id, token, method === 'POST' ? ping : undefined))).status;

  it.each([
    ['ann', 'bob'],
    ['ann', undefined],
    [undefined, 'ann'],
  ])('by the caller %s does not exist for the caller %s, neither there nor here', async (owner, thief) => {
    const [there, here] = [replica(), replica()];
    const id = await open(there, owner);
    for (const at of [here, there, here])
      for (const method of ['POST', 'GET', 'DELETE'])
        expect([method, await statusOf(at, method, id, thief)]).toEqual([method, 404]);
    // The owner's first request to the process makes the session from its id.
    for (const at of [here, there]) {
      expect(await statusOf(at, 'POST', id, owner)).toBe(200);
      expect(await statusOf(at, 'POST', id, thief)).toBe(404);
    }
    await Promise.all([there.close(), here.close()]);
  });
});
