import { once } from 'node:events';
import { createServer as createHttpServer, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { Call, Dispatch, Outcome } from '../../../src/protocol/call.js';
import { McpError } from '../../../src/protocol/errors.js';
import { type Rig, rig } from './rig.js';

// Answers of servers, in the newest revision: outputs that differ from their schemas, strange outcomes, HTTP and its headers.

const tools = [
  { name: 'fits', outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } },
  {
    name: 'differs',
    outputSchema: {
      type: 'object',
      properties: {
        items: { type: 'array', items: { type: 'object', properties: { price: { type: 'number' } } } },
      },
    },
  },
  { name: 'nothing', outputSchema: { type: 'object' } },
  { name: 'unreadable', outputSchema: { type: 'object', $ref: 'https://example.com/schema' } },
  { name: 'failed', outputSchema: { type: 'object', required: ['n'] } },
  { name: 'plain' },
  { name: 'forever' },
  { name: 'empty' },
  { name: 'throws' },
  { name: 'same' },
].map((tool) => ({ inputSchema: { type: 'object' }, ...tool }));

const results: Record<string, object> = {
  fits: { structuredContent: { n: 1 } },
  differs: { structuredContent: { items: [{ price: 1 }, { price: 'free' }] } },
  nothing: {},
  unreadable: { structuredContent: {} },
  failed: { isError: true },
  plain: {},
};

const lying: Dispatch = async (call: Call): Promise<Outcome> => {
  const { method, params } = call;
  if (method === 'server/discover')
    return { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
  if (method === 'tools/list') return { resultType: 'complete', tools };
  const name = String(params['name']);
  if (name === 'forever')
    return {
      resultType: 'input_required',
      inputRequests: {
        again: {
          method: 'elicitation/create',
          params: { message: 'Again?', requestedSchema: { type: 'object', properties: {} } },
        },
      },
    };
  if (name === 'empty') return { resultType: 'input_required' };
  if (name === 'throws')
    throw new McpError('remote_error', 'Out of cheese', { number: -32050, data: { left: 0 } });
  return { resultType: 'complete', content: [{ type: 'text', text: 'x' }], ...results[name] };
};

const callOn = (own: Rig, id: string) => async (tool: string) =>
  own.ended((await own.run('call', { connection: id, tool, args: {} })).story);

test('an output is checked against its schema: it fits, differs at a path, or could not be checked', async () => {
  await using own = rig();
  const call = callOn(own, await own.connect({ target: lying }));
  expect((await call('fits')).outputCheck).toEqual({ result: 'fits' });
  const differs = await call('differs');
  expect(differs).toMatchObject({ state: 'ok', outputCheck: { result: 'differs', path: 'items[1].price' } });
  // The value is shown all the same.
  expect(differs.outcome).toMatchObject({ structuredContent: { items: [{ price: 1 }, { price: 'free' }] } });
  expect((await call('nothing')).outputCheck).toMatchObject({ result: 'differs', path: '' });
  expect((await call('unreadable')).outputCheck).toMatchObject({ result: 'unchecked' });
  expect((await call('failed')).outputCheck).toBeUndefined();
  expect((await call('plain')).outputCheck).toBeUndefined();
});

test('a server that asks forever is stopped, and one that asks nothing is refused', async () => {
  await using own = rig();
  const id = await own.connect({ target: lying });
  const { story } = await own.run('call', { connection: id, tool: 'forever', args: {} });
  for (let round = 0; round < 10; round++) {
    const question = await own.question(story, (one) => one.round > round);
    await own.run('answer', { story, question: question.id, answer: { action: 'accept', content: {} } });
  }
  const ended = await own.ended(story);
  expect(ended.state).toBe('error');
  expect(ended.rounds).toHaveLength(11);
  expect((await callOn(own, id)('empty')).error).toMatchObject({ code: 'bad_response' });
});

test('an error keeps the number, the words and the data of the server', async () => {
  await using own = rig();
  const ended = await callOn(own, await own.connect({ target: lying }))('throws');
  expect(ended).toMatchObject({
    state: 'error',
    error: { code: 'remote_error', message: 'Out of cheese', number: -32050, data: { left: 0 } },
    rounds: [{ outcome: 'error' }],
  });
});

test('a call is run again, pinned, and kept when the others are cleared', async () => {
  await using own = rig();
  const id = await own.connect({ target: lying });
  const first = await callOn(own, id)('plain');
  const again = await own.run('again', { story: first.id });
  expect(await own.ended(again.story)).toMatchObject({ repeats: first.id, title: 'plain', state: 'ok' });
  await own.run('pin', { story: first.id, pinned: true });
  await own.run('clear', { connection: id });
  const { stories, messages } = own.inspector.snapshot();
  expect(stories.map(({ id: kept }) => kept)).toEqual([first.id]);
  expect(messages.every(({ story }) => story === first.id)).toBe(true);
  expect(messages).toHaveLength(2);
  expect(own.events.findLast(({ type }) => type === 'cleared')).toMatchObject({
    connection: id,
    kept: [first.id],
  });
  await expect(own.run('again', { story: again.story })).rejects.toThrow('cleared');
});

test('more than 2,000 stories drop the oldest, but not those that are pinned; a page that comes back gets what it missed', async () => {
  await using own = rig();
  const id = await own.connect({ target: lying });
  const call = callOn(own, id);
  const pinned = await call('plain');
  await own.run('pin', { story: pinned.id, pinned: true });
  const { seq } = own.inspector.snapshot();
  for (let made = 0; made < 21; made++)
    await Promise.all(
      Array.from({ length: 100 }, () => own.run('request', { connection: id, method: 'x/y', params: {} })),
    );
  const last = await call('plain');
  const { stories } = own.inspector.snapshot();
  expect(stories.length).toBeLessThanOrEqual(2001);
  expect(stories.some((story) => story.id === pinned.id)).toBe(true);
  expect(stories.at(-1)?.id).toBe(last.id);
  const missed = own.inspector.eventsAfter(seq);
  if (missed !== undefined) {
    const ids = missed.flatMap((event) => (event.type === 'story' ? event.story.id : []));
    expect(new Set(ids).size).toBe(ids.length);
  }
  expect(own.inspector.eventsAfter(own.inspector.snapshot().seq + 5)).toBeUndefined();
});

/** The lying server over HTTP. `change` sees each reply before it is sent. */
async function lyingOverHttp(
  change: (
    result: object,
    call: { readonly method: string; readonly authorization: string | undefined },
  ) => object,
  headers: OutgoingHttpHeaders = {},
): Promise<AsyncDisposable & { readonly url: string }> {
  const http = createHttpServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += String(chunk);
    if (req.method !== 'POST') return void res.writeHead(405).end();
    const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: Call['params'] };
    const outcome = await lying({ method, params, notify() {} } as unknown as Call);
    const result = change(outcome, { method, authorization: req.headers.authorization });
    res
      .writeHead(200, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      http.close();
      http.closeAllConnections();
    },
  };
}

test('a token in the headers of an address authorizes, is masked where the server repeats it, and is not in the view', async () => {
  const token = 'tok-1234567890-abcdefgh';
  await using server = await lyingOverHttp((result, { method, authorization }) =>
    method === 'tools/call'
      ? { ...result, content: [{ type: 'text', text: `you sent ${authorization}` }] }
      : result,
  );
  await using own = rig();
  const headers = { Authorization: `Bearer ${token}`, 'X-Region': 'north' };
  const id = await own.connect({
    target: { url: server.url, headers },
    options: { revision: '2026-07-28' },
  });
  expect(own.connection(id)).toMatchObject({
    auth: { state: 'token', token: { masked: 'tok-…efgh' } },
    headerNames: ['x-region'],
  });
  const ended = await callOn(own, id)('plain');
  expect(own.inspector.message(ended.lastMessage ?? 0)?.text).toContain('you sent Bearer tok-…efgh');
  expect(JSON.stringify(own.inspector.snapshot()) + JSON.stringify(own.events)).not.toContain(token);
});

test('over HTTP the headers of both sides are shown, and their secrets are masked', async () => {
  await using server = await lyingOverHttp((result) => result, {
    'x-own': 'shown',
    'set-cookie': 'session=abcdefghijklmnopqrstuvwxyz',
  });
  const secret = 'a-header-that-nobody-may-see';
  await using own = rig();
  const id = await own.connect({
    target: `${server.url}?key=hidden-in-the-query`,
    options: { headers: { 'X-Api-Key': secret }, revision: '2026-07-28' },
  });
  const { rounds } = await callOn(own, id)('plain');
  expect(rounds[0]?.http).toMatchObject({
    method: 'POST',
    status: 200,
    requestHeaders: { 'Mcp-Name': 'plain' },
    responseHeaders: { 'x-own': 'shown', 'set-cookie': 'sess…wxyz' },
  });
  const everything = JSON.stringify(own.inspector.snapshot()) + JSON.stringify(own.events);
  expect(everything).not.toContain(secret);
  expect(everything).not.toContain('hidden-in-the-query');
  expect(everything).not.toContain('abcdefghijklmnopqrstuvwxyz');
});

test('secrets that were given are masked in messages, outcomes and on tapes', async () => {
  const token = 'tok-1234567890-abcdefgh';
  const echoing: Dispatch = async (call) => {
    const outcome = await lying(call);
    return call.method === 'tools/call'
      ? { ...outcome, content: [{ type: 'text', text: `you sent ${token}` }] }
      : outcome;
  };
  await using own = rig();
  const id = await own.connect({ target: echoing, options: { auth: token } });
  const ended = await callOn(own, id)('plain');
  expect(own.inspector.message(ended.lastMessage ?? 0)?.text).toContain('you sent tok-…efgh');
  const heads = own.inspector.snapshot().messages.map(({ preview }) => preview);
  expect(heads.join()).not.toContain(token);
  expect(own.inspector.tape(id)).not.toContain(token);
  expect(JSON.stringify(own.inspector.snapshot()) + JSON.stringify(own.events)).not.toContain(token);
});
