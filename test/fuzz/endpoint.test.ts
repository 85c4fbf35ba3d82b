import fc from 'fast-check';
import { createHandler } from 'fullmcp/http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readMessage } from '../../src/jsonrpc/message.js';
import { channelSession } from '../../src/legacy/server/channel-session.js';
import { openChannel } from '../../src/transports/server/channel.js';
import { type Attacked, attackedServer } from '../support/http/attacked-server.js';
import { modernMessage } from '../support/http/modern.js';
import { until } from '../support/until.js';
import { corpus, FUZZ_MS, limits, nearJson, printSeed } from './fuzz.js';

// Any input causes neither a crash nor an internal error, and each request gets one response.

const rejections: unknown[] = [];
const note = (reason: unknown): void => void rejections.push(reason);

beforeAll(() => void process.on('unhandledRejection', note));
afterAll(() => {
  process.off('unhandledRejection', note);
  printSeed();
});

let attacked: Attacked;
afterEach(() => {
  expect(rejections).toEqual([]);
  expect(attacked.errors).toEqual([]);
});

const meta = modernMessage('x')['params'] as Record<string, unknown>;
const texts = corpus('messages');
/** The same messages in the modern era, which declares itself in each message. */
const modernTexts = texts.map((text) => {
  const message = JSON.parse(text) as { method?: string; params?: Record<string, unknown> };
  if (message.method === undefined) return text;
  const { _meta: own = {}, ...params } = message.params ?? {};
  return JSON.stringify({
    ...message,
    params: { ...params, _meta: { ...(own as object), ...(meta['_meta'] as object) } },
  });
});
const both = nearJson([...texts, ...modernTexts]);
const INTERNAL = -32603;

describe('the HTTP endpoint', () => {
  test('answers any request once, and any body without an internal error', {
    timeout: FUZZ_MS,
  }, async () => {
    attacked = attackedServer();
    const handler = createHandler(attacked.server, { secret: 'x'.repeat(40), requestTimeoutMs: 5000 });
    const session = await open(handler);
    const header = fc.constantFrom('2026-07-28', '2025-11-25', '', '1', undefined);
    await fc.assert(
      fc.asyncProperty(
        both,
        header,
        fc.boolean(),
        fc.boolean(),
        async (value, version, mirrored, inSession) => {
          const message = readMessage(value);
          if (message.kind === 'request' && message.method === 'subscriptions/listen') return;
          const { method, params } = (value ?? {}) as {
            method?: unknown;
            params?: { name?: unknown; uri?: unknown };
          };
          const name = params?.name ?? params?.uri;
          const headers = new Headers({
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            ...(version !== undefined && { 'mcp-protocol-version': version }),
            ...(inSession && { 'mcp-session-id': session }),
            ...(mirrored && plain(method) && { 'mcp-method': method }),
            ...(mirrored && plain(name) && { 'mcp-name': name }),
          });
          const request = new Request('http://localhost/mcp', {
            method: 'POST',
            headers,
            body: JSON.stringify(value),
          });
          const response = await handler(request);
          const body = await response.text();
          expect(response.status).not.toBe(500);
          const answers = answersIn(body, response.headers.get('content-type'));
          if (message.kind === 'request') expect(responses(answers), body).toHaveLength(1);
          for (const answer of answers) {
            expect(answer['error']?.['code'], body).not.toBe(INTERNAL);
            const id = message.kind === 'request' ? message.id : undefined;
            // A message that is rejected before it is parsed has no id for a response.
            if (answer['method'] === undefined && response.status === 200) expect(answer['id']).toBe(id);
          }
        },
      ),
      limits,
    );
    await handler.close({ deadlineMs: 1000 });
  });
});

describe('a shared channel', () => {
  test('answers each request and each invalid message once, without an internal error, and still answers the next request', {
    timeout: FUZZ_MS,
  }, async () => {
    attacked = attackedServer();
    const { dispatch } = attacked.server;
    await fc.assert(
      fc.asyncProperty(fc.array(both, { minLength: 1, maxLength: 6 }), async (values) => {
        const answers: Record<string, never>[] = [];
        const send = (text: string): void => void answers.push(JSON.parse(text));
        const channel = openChannel({ dispatch, send, session: channelSession(dispatch, send) });
        const expected = new Map<unknown, number>();
        let rejected = 0;
        for (const value of values) {
          const message = readMessage(value);
          // A cancelled call has no response.
          if (message.kind === 'notification' && message.method === 'notifications/cancelled') continue;
          channel.receive(JSON.stringify(value));
          if (message.kind === 'request') expected.set(message.id, (expected.get(message.id) ?? 0) + 1);
          else if (message.kind === 'invalid') rejected += 1;
        }
        await until('all messages are answered', () => responses(answers).length >= sum(expected) + rejected);
        channel.receive(JSON.stringify(modernMessage('tools/list', {}, { id: 'last' })));
        await until('the last request is answered', () => responses(answers).some(({ id }) => id === 'last'));
        await channel.close({ deadlineMs: 0 });
        const others = responses(answers).filter(({ id }) => id !== 'last');
        expect(others).toHaveLength(sum(expected) + rejected);
        for (const answer of others)
          expect(answer['error']?.['code'], JSON.stringify(values)).not.toBe(INTERNAL);
      }),
      { ...limits, numRuns: Math.ceil(limits.numRuns / 3) },
    );
  });
});

const sum = (counts: Map<unknown, number>): number => [...counts.values()].reduce((all, one) => all + one, 0);
const responses = <T extends object>(messages: T[]): T[] =>
  messages.filter((message) => !('method' in message));
const plain = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value);

async function open(handler: (request: Request) => Promise<Response>): Promise<string> {
  const response = await handler(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: texts.find((text) => text.includes('"initialize"')) as string,
    }),
  );
  await response.text();
  return String(response.headers.get('mcp-session-id'));
}

function answersIn(body: string, type: string | null): Record<string, Record<string, unknown>>[] {
  if (body === '') return [];
  if (type !== 'text/event-stream') return [JSON.parse(body)].flat();
  const data = body.split('\n').filter((line) => line.startsWith('data: ') && line.length > 6);
  return data.flatMap((line) => JSON.parse(line.slice(6)));
}
