import { createServer, type Middleware, resource, type Server, tool } from 'fullmcp';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Serving, serve } from '../../../../src/node.js';
import type { Events } from '../../../support/http/http.js';
import { openSession, sessionClient } from '../../../support/http/sessions.js';

const secret = 'a secret that outlives the process it is in';
const yes = z.object({ sure: z.boolean() });
const can = { elicitation: {} };

const done: string[] = [];
const logged: string[] = [];
const open: Serving[] = [];

afterEach(async () => {
  done.length = 0;
  logged.length = 0;
  await Promise.all(open.splice(0).map((serving) => serving.close()));
});

function askingServer(use: readonly Middleware[] = []): Server {
  const asks = (message: string) =>
    tool({
      run: async (_input, ctx) => {
        await ctx.ask('sure', { message, schema: yes });
        done.push(message);
        return message;
      },
    });
  return createServer({
    name: 'asking',
    version: '1',
    use,
    changes: true,
    logger: (_level, message) => void logged.push(message),
    tools: { weather: asks('Show the weather?'), erase: asks('Delete everything?') },
    resources: { 'config://app': resource({ read: () => 'x' }) },
  }) as Server;
}

async function start(use?: readonly Middleware[]): Promise<Serving> {
  const serving = await serve(askingServer(use), { port: 0, signals: false, secret });
  open.push(serving);
  return serving;
}

interface Question {
  readonly id: string;
  readonly method: string;
}

async function nextQuestion(events: Events): Promise<Question> {
  for (;;) {
    const event = await events.next();
    if (event === undefined) throw new Error('The stream ended without a question');
    if (event.data !== '') return JSON.parse(event.data) as Question;
  }
}

const accept = (id: string): object => ({
  jsonrpc: '2.0',
  id,
  result: { action: 'accept', content: { sure: true } },
});

describe('an answer in a session', () => {
  test('to a question of an earlier process is rejected, and does not answer a question of the next process', async () => {
    const first = await start();
    const session = await openSession(first.url, '2025-11-25', can);
    const old = await nextQuestion(await session.stream('tools/call', { name: 'weather' }));
    await first.close();

    const second = await start();
    const again = sessionClient(second.url, session.id);
    const events = await again.stream('tools/call', { name: 'erase' });
    const question = await nextQuestion(events);
    expect(question.id).not.toBe(old.id);
    expect((await again.post(accept(old.id))).status).toBe(400);
    expect(done).toEqual([]);
    expect((await again.post(accept(question.id))).status).toBe(202);
    expect((await events.rest()).at(-1)?.data).toContain('Delete everything?');
    expect(done).toEqual(['Delete everything?']);
  });

  test('to a question that was never asked is rejected, and the operator is told once', async () => {
    const serving = await start();
    const session = await openSession(serving.url, '2025-11-25', can);
    for (const id of ['ask-1', 'ask-2', '__proto__']) {
      const reply = await session.post(accept(id));
      expect(reply.status).toBe(400);
      expect(JSON.parse(reply.text).error.message).toContain('did not ask');
    }
    expect(logged.filter((line) => line.includes('another process asked it'))).toHaveLength(1);
    expect((await session.request('ping')).status).toBe(200);
  });

  test('to a question that was withdrawn meanwhile is accepted and ignored', async () => {
    const serving = await start();
    const session = await openSession(serving.url, '2025-11-25', can);
    const events = await session.stream('tools/call', { name: 'erase' }, 7);
    const question = await nextQuestion(events);
    await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } });
    await events.rest();
    expect((await session.post(accept(question.id))).status).toBe(202);
    expect(done).toEqual([]);
    expect(logged).toEqual([]);
  });
});

describe('a session client that cannot be asked', () => {
  test.each(['2024-11-05', '2025-06-18', '2025-11-25'])(
    'gets a failed tool result, which its model can read (%s)',
    async (revision) => {
      const serving = await start();
      const session = await openSession(serving.url, revision);
      const { result, error } = JSON.parse((await session.request('tools/call', { name: 'erase' })).text);
      expect(error).toBeUndefined();
      expect(result).toEqual({
        isError: true,
        content: [{ type: 'text', text: expect.stringContaining('elicitation') }],
      });
    },
  );
});

describe('the caller of a session', () => {
  const names: Middleware = (call, next) => {
    const subject = call.http?.header('x-user');
    callers.push([call.method, subject]);
    return next(subject === undefined ? call : { ...call, auth: { subject, scopes: [], claims: {} } });
  };
  const callers: [method: string, subject: string | undefined][] = [];

  test('is known to middleware in its handshake and when it listens', async () => {
    callers.length = 0;
    const serving = await start([names]);
    const headers = { 'x-user': 'ada' };
    const session = await openSession(serving.url, '2025-11-25', can, headers);
    const standing = await session.get(headers);
    await standing.next();
    await session.post(
      { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'config://app' } },
      headers,
    );
    standing.drop();
    expect(callers.map(([method]) => method)).toEqual(
      expect.arrayContaining(['server/discover', 'subscriptions/listen']),
    );
    expect(new Set(callers.map(([, subject]) => subject))).toEqual(new Set(['ada']));
  });
});

describe('the subscriptions of a session', () => {
  test('have a limit on the characters of all URIs, and unsubscribing makes room', async () => {
    const serving = await start();
    const session = await openSession(serving.url);
    const subscribe = (uri: string, method = 'resources/subscribe') => session.request(method, { uri });
    const uri = (at: number): string => `config://${at}/${'x'.repeat(8100)}`;
    for (let at = 0; at < 32; at++) expect(JSON.parse((await subscribe(uri(at))).text).result).toEqual({});
    expect(JSON.parse((await subscribe(uri(1))).text).result).toEqual({});
    expect(JSON.parse((await subscribe(uri(32))).text).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('characters'),
    });
    await subscribe(uri(1), 'resources/unsubscribe');
    await subscribe(uri(1), 'resources/unsubscribe');
    expect(JSON.parse((await subscribe(uri(32))).text).result).toEqual({});
    expect(JSON.parse((await subscribe(uri(33))).text).error.code).toBe(-32602);
    expect(JSON.parse((await subscribe('x'.repeat(10_000))).text).error.code).toBe(-32602);
  });
});
