import { createServer, tool } from 'fullmcp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { channelSession } from '../../../../src/legacy/server/channel-session.js';
import { type Serving, serve } from '../../../../src/node.js';
import { openChannel } from '../../../../src/transports/server/channel.js';
import { type Attacked, attackedServer } from '../../../support/http/attacked-server.js';
import { send } from '../../../support/http/http.js';
import { modernMessage } from '../../../support/http/modern.js';
import { initializeMessage, jsonHeaders, openSession } from '../../../support/http/sessions.js';
import { until } from '../../../support/until.js';

let attacked: Attacked;
let serving: Serving;
let url: string;

beforeAll(async () => {
  attacked = attackedServer();
  serving = await serve(attacked.server, { port: 0, signals: false });
  url = serving.url;
});

afterAll(() => serving.close());

const ping = (id: unknown): object => ({ jsonrpc: '2.0', id, method: 'ping' });
const call = (id: unknown, name: string, args: object = {}, meta: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, _meta: meta },
});

describe('a batch over HTTP', () => {
  test('of 2025-03-26 gets one reply, with a response to each request', async () => {
    const session = await openSession(url, '2025-03-26');
    const reply = await session.post([
      call(1, 'echo', { text: 'one' }),
      { jsonrpc: '2.0', method: 'notifications/unknown' },
      call('2', 'nothing'),
      { jsonrpc: '2.0', id: null, method: 'ping' },
      { jsonrpc: '2.0', id: 9, result: {} },
      ping(3),
      initializeMessage('2025-03-26'),
    ]);
    expect(reply.status).toBe(200);
    const answers = JSON.parse(reply.text) as Record<string, unknown>[];
    expect(answers).toHaveLength(5);
    expect(answers.find(({ id }) => id === 1)).toMatchObject({ result: { content: [{ text: 'one' }] } });
    expect(answers.find(({ id }) => id === '2')).toMatchObject({ error: { code: -32602 } });
    expect(answers.find(({ id }) => id === 3)).toMatchObject({ result: {} });
    expect(answers.find(({ id }) => id === undefined)).toMatchObject({ error: { code: -32600 } });
    // The handshake is not part of a batch.
    expect(answers.find(({ id }) => id === 'init')).toMatchObject({ error: { code: -32600 } });
  });

  test('of notifications alone gets status 202', async () => {
    const session = await openSession(url, '2025-03-26');
    const reply = await session.post([{ jsonrpc: '2.0', method: 'notifications/unknown' }]);
    expect([reply.status, reply.text]).toEqual([202, '']);
  });

  test('with a duplicate id gets both responses, one of them an error', async () => {
    const session = await openSession(url, '2025-03-26');
    const twice = session.post([call(7, 'hang'), call(7, 'echo', { text: 'x' })]);
    await until('the call has begun', () => attacked.running() === 1);
    await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } });
    const answers = JSON.parse((await twice).text) as { error?: { code: number } }[];
    expect(answers).toHaveLength(2);
    expect(answers.filter(({ error }) => error?.code === -32600)).toHaveLength(1);
  });

  test('with progress streams it, and ends with all responses in one event', async () => {
    const session = await openSession(url, '2025-03-26');
    const reply = await session.post([call(1, 'count', { to: 2 }, { progressToken: 'p' }), ping(2)]);
    expect(reply.headers['content-type']).toBe('text/event-stream');
    const data = [...reply.text.matchAll(/^data: (.*)$/gm)].map(([, text]) => JSON.parse(String(text)));
    expect(data.slice(0, -1).map(({ params }) => params.progress)).toEqual([1, 2]);
    expect(data.at(-1).map(({ id }: { id: unknown }) => id)).toEqual(expect.arrayContaining([1, 2]));
  });

  test.each<[what: string, batch: unknown[]]>([
    ['empty', []],
    ['larger than 100 messages', Array.from({ length: 101 }, (_, id) => ping(id))],
  ])('that is %s gets status 400', async (_what, batch) => {
    const session = await openSession(url, '2025-03-26');
    const reply = await session.post(batch);
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text).error.code).toBe(-32600);
    expect((await session.request('ping')).status).toBe(200);
  });

  test('of 100 messages is served', async () => {
    const session = await openSession(url, '2025-03-26');
    const reply = await session.post(Array.from({ length: 100 }, (_, id) => ping(id)));
    expect(JSON.parse(reply.text)).toHaveLength(100);
  });

  test.each(['2024-11-05', '2025-06-18', '2025-11-25'])('is rejected in %s', async (revision) => {
    const session = await openSession(url, revision);
    const reply = await session.post([ping(1)]);
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text).error.code).toBe(-32600);
  });

  test('is rejected without a session, even if its messages are modern', async () => {
    for (const batch of [[ping(1)], [modernMessage('tools/list')], []]) {
      const reply = await send(url, { headers: jsonHeaders, body: JSON.stringify(batch) });
      expect(reply.status).toBe(400);
      expect(JSON.parse(reply.text).error.code).toBe(-32600);
    }
  });
});

test('each call of a batch that takes too long gets one error, even if its handler ignores the signal', async () => {
  let finish: (() => void) | undefined;
  const server = createServer({
    name: 'late',
    version: '1',
    tools: {
      deaf: tool({ run: () => new Promise<string>((resolve) => (finish = () => resolve('too late'))) }),
      patient: tool({
        run: async (_input, { signal }) => {
          if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
          return 'aborted';
        },
      }),
    },
  });
  const late = await serve(server, { port: 0, signals: false, requestTimeoutMs: 100 });
  const session = await openSession(late.url, '2025-03-26');
  const reply = await session.post([call(1, 'patient'), call(2, 'deaf')]);
  const answers = JSON.parse(reply.text) as { id: number; error: { message: string } }[];
  expect(answers.map(({ id }) => id).sort()).toEqual([1, 2]);
  for (const { error } of answers) expect(error.message).toContain('100 ms');
  finish?.();
  await late.close();
});

test('a batch on a connection of its own cannot contain a handshake either', async () => {
  const received: { id?: unknown; error?: { code: number } }[] = [];
  const send = (text: string): void => void received.push(JSON.parse(text));
  const channel = openChannel({
    dispatch: attacked.server.dispatch,
    send,
    session: channelSession(attacked.server.dispatch, send),
  });
  channel.receive(JSON.stringify(initializeMessage('2025-03-26')));
  await until('the handshake is answered', () => received.length === 1);
  channel.receive(JSON.stringify([{ ...initializeMessage('2024-11-05'), id: 'again' }, ping(1)]));
  await until('the batch is answered', () => received.length === 2);
  expect(received[1]).toEqual(
    expect.arrayContaining([
      { jsonrpc: '2.0', id: 'again', error: { code: -32600, message: expect.stringContaining('alone') } },
      { jsonrpc: '2.0', id: 1, result: {} },
    ]),
  );
  await channel.close({ deadlineMs: 0 });
});
