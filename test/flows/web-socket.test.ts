import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Serving, serve } from '../../src/node.js';
import { type Attacked, attackedServer } from '../support/http/attacked-server.js';
import { modernMessage } from '../support/http/modern.js';
import { initializeMessage } from '../support/http/sessions.js';
import { soon, until } from '../support/until.js';
import { openWebSocket, type WebSocketClient } from '../support/wires/web-socket.js';

let attacked: Attacked;
let serving: Serving;

beforeAll(async () => {
  attacked = attackedServer();
  serving = await serve(attacked.server, { port: 0, signals: false });
});

afterAll(() => serving.close());

const echo = modernMessage(
  'tools/call',
  { name: 'echo', arguments: { text: 'still here' } },
  { id: 'alive' },
);

async function stillServes(client: WebSocketClient): Promise<void> {
  client.send(echo);
  expect(await client.next()).toMatchObject({ id: 'alive', result: { content: [{ text: 'still here' }] } });
}

describe('a WebSocket', () => {
  test.each<[what: string, text: string, code: number, id: unknown]>([
    ['malformed JSON', '{"jsonrpc"', -32700, undefined],
    ['an empty message', '', -32700, undefined],
    ['a null id', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, undefined],
    ['a fractional id', '{"jsonrpc":"2.0","id":0.5,"method":"ping"}', -32600, undefined],
    ['an id that is true', '{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, undefined],
    ['a wrong jsonrpc', '{"jsonrpc":"1.0","id":4,"method":"ping"}', -32600, 4],
    ['an array of 10,000 levels', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, -32600, undefined],
    [
      'a number that no double can hold',
      '{"jsonrpc":"2.0","id":4,"method":"a","params":{"n":1e400}}',
      -32600,
      4,
    ],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, undefined],
    ['a call before the handshake', '{"jsonrpc":"2.0","id":4,"method":"tools/list"}', -32600, 4],
  ])('answers a bad message with an error and stays open: %s', async (_what, text, code, id) => {
    const client = await openWebSocket(serving.url);
    client.send(text);
    const answer = await client.next();
    expect(answer).toMatchObject({ error: { code } });
    expect(answer['id']).toBe(id);
    await stillServes(client);
    client.socket.close();
  });

  test('rejects a binary message and stays open', async () => {
    const client = await openWebSocket(serving.url);
    client.socket.send(Buffer.from(JSON.stringify(echo)));
    expect(await client.next()).toMatchObject({ error: { code: -32600 } });
    await stillServes(client);
    client.socket.close();
  });

  test('is closed after a message of 5 MB: its call is aborted, and another connection still works', async () => {
    const client = await openWebSocket(serving.url);
    const [bystander, abortedBefore] = [await openWebSocket(serving.url), attacked.aborted('hang')];
    client.send(modernMessage('tools/call', { name: 'hang' }, { id: 1 }));
    await until('the call has begun', () => attacked.running() === 1);
    client.send('x'.repeat(5_000_000));
    const [code] = (await soon('The end', once(client.socket, 'close'))) as [number];
    expect(code).toBe(1009);
    await until('its call is aborted', () => attacked.aborted('hang') === abortedBefore + 1);
    await stillServes(bystander);
    bystander.socket.close();
  });

  test('rejects a call with the id of an open call, and stays open', async () => {
    const client = await openWebSocket(serving.url);
    const hang = modernMessage('tools/call', { name: 'hang' }, { id: 5 });
    client.send(hang);
    client.send(hang);
    expect(await client.next()).toMatchObject({ id: 5, error: { code: -32600 } });
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } });
    await until('no handler runs', () => attacked.running() === 0);
    await stillServes(client);
    client.socket.close();
  });

  test('treats equal ids on two connections as two calls', async () => {
    const [one, two] = [await openWebSocket(serving.url), await openWebSocket(serving.url)];
    const say = (text: string): object =>
      modernMessage('tools/call', { name: 'echo', arguments: { text } }, { id: 1 });
    one.send(say('one'));
    two.send(say('two'));
    expect(await two.next()).toMatchObject({ id: 1, result: { content: [{ text: 'two' }] } });
    expect(await one.next()).toMatchObject({ id: 1, result: { content: [{ text: 'one' }] } });
    one.socket.close();
    two.socket.close();
  });

  test('answers a batch with one batch in a session of 2025-03-26', async () => {
    const client = await openWebSocket(serving.url);
    client.send(initializeMessage('2025-03-26'));
    await client.next();
    client.send([
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', id: 2, method: 'no/such' },
    ]);
    expect(await client.next()).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 2, error: expect.objectContaining({ code: -32601 }) },
    ]);
    client.socket.close();
  });
});
