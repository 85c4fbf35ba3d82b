import { connect } from 'fullmcp/client';
import { natsDiscovery, serveNats } from 'fullmcp/nats';
import { afterEach, expect, test } from 'vitest';
import { loadTransport } from '../../../../../src/adapters/nats/connection/load.js';
import type { NatsMessage } from '../../../../../src/adapters/nats/connection/nats-types.js';
import { describeWithNats, useNats } from '../../../../support/engines/nats.js';
import { collectResponses, connectRaw, textOf } from '../../../../support/engines/nats-raw.js';
import { Closing, makeServer } from '../../../../support/engines/nats-services.js';
import { soon, until } from '../../../../support/until.js';

describeWithNats('peers over NATS that do not keep to the protocol', () => {
  const nat = useNats();
  const closing = new Closing();
  afterEach(() => closing.all());

  const discovered = {
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
  };

  /** A client of a service whose answers to `tools/call` a test writes itself. */
  async function lyingService(
    answer: (reply: string, id: number, message: NatsMessage) => void,
    options = {},
  ) {
    const raw = closing.add(await connectRaw(nat.engine.url));
    raw.subscribe('mcp.liar', {
      callback(_error, message) {
        const { id, method } = JSON.parse(textOf(message)) as { id: number; method: string };
        const reply = message.reply ?? '';
        if (method === 'server/discover')
          raw.publish(reply, JSON.stringify({ jsonrpc: '2.0', id, result: discovered }));
        else answer(reply, id, message);
      },
    });
    await raw.flush();
    const discovery = closing.add(natsDiscovery({ url: nat.engine.url, keepAliveMs: 200, ...options }));
    const problems: string[] = [];
    const client = closing.add(await connect({ service: 'liar', discovery }, { maxRetries: 0 }));
    client.on('problem', ({ message }) => problems.push(message));
    return { raw, client, problems };
  }

  const result = (id: unknown, text: string): string =>
    JSON.stringify({
      jsonrpc: '2.0',
      id,
      result: { resultType: 'complete', content: [{ type: 'text', text }] },
    });

  test('Garbage, requests and responses with other ids are skipped and reported, and the response still counts', async () => {
    const { raw, client, problems } = await lyingService((reply, id) => {
      raw.publish(reply, 'garbage');
      raw.publish(reply, Uint8Array.of(0xff, 0xfe, 0));
      raw.publish(reply, result(id + 1, 'wrong'));
      raw.publish(reply, result('x', 'wrong'));
      raw.publish(reply, '{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage"}');
      raw.publish(reply, '{"jsonrpc":"2.0","method":"notifications/unknown","params":{}}');
      raw.publish(reply, result(id, 'right'));
      raw.publish(reply, result(id, 'late'));
    });
    expect((await client.callTool('t', {})).text).toBe('right');
    expect(problems.length).toBeGreaterThanOrEqual(4);
    expect((await client.callTool('t', {})).text).toBe('right');
  });

  test.each([
    ['a response that is not one', '{"jsonrpc":"2.0","id":1}'],
    ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":1,"result":{}}'],
    ['an array', '[]'],
    ['a result that is not an object', '{"jsonrpc":"2.0","id":1,"result":5}'],
    [
      'a message that nests too deep',
      `{"jsonrpc":"2.0","id":1,"result":${'['.repeat(500)}${']'.repeat(500)}}`,
    ],
  ])('A call fails at once on %s', async (_what, payload) => {
    const { raw, client } = await lyingService((reply) => raw.publish(reply, payload));
    await expect(soon('an error', client.callTool('t', {}))).rejects.toMatchObject({ code: 'bad_response' });
  });

  test('Parts out of order, and parts without end, fail the call and nothing else', async () => {
    const { headers } = await loadTransport();
    const part = (place: string) => {
      const own = headers();
      own.set('Mcp-Link', 'part');
      own.set('Mcp-Part', place);
      return { headers: own };
    };
    let mode: 'order' | 'endless' = 'order';
    const { raw, client } = await lyingService(
      (reply) => {
        if (mode === 'order') return raw.publish(reply, 'x', part('1/2'));
        for (let at = 0; at < 20; at++) raw.publish(reply, 'x'.repeat(100_000), part(`${at}/999999`));
      },
      { maxMessageBytes: 1_000_000 },
    );
    await expect(soon('an error', client.callTool('t', {}))).rejects.toThrow(
      'the parts of a message are not in order',
    );
    mode = 'endless';
    await expect(soon('an error', client.callTool('t', {}))).rejects.toThrow(
      'the message has more than 1000000 bytes',
    );
  });

  test('A service that takes a request and says nothing fails the call in bounded time', async () => {
    const { client } = await lyingService(() => undefined);
    await expect(soon('an error', client.callTool('t', {}))).rejects.toMatchObject({
      code: 'connection_closed',
      message:
        'No instance of the service "liar" has accepted tools/call. It is not known whether the call took effect.',
    });
  });

  test('An acceptance that names a foreign subject makes the client write nowhere', async () => {
    const { headers } = await loadTransport();
    const { raw, client } = await lyingService((reply, id) => {
      for (const subject of ['victim', 'mcp.other.instance.x', 'mcp.liar.instance.a.b', 'mcp.liar', '']) {
        const own = headers();
        own.set('Mcp-Link', 'accepted');
        raw.publish(reply, '', { headers: own, ...(subject && { reply: subject }) });
      }
      raw.publish(reply, result(id, 'right'));
    });
    const written: string[] = [];
    for (const subject of ['victim', 'mcp.other.>'])
      raw.subscribe(subject, { callback: (_e, m) => written.push(m.subject) });
    await raw.flush();
    expect((await client.callTool('t', {})).text).toBe('right');
    await raw.flush();
    expect(written).toEqual([]);
  });

  test('An instance that no longer knows a call fails that call, and leaves the others alone', async () => {
    const { headers } = await loadTransport();
    const ids: number[] = [];
    const { raw, client } = await lyingService((reply, id) => {
      ids.push(id);
      const own = headers();
      own.set('Mcp-Link', 'accepted');
      raw.publish(reply, '', { headers: own, reply: 'mcp.liar.instance.one' });
      if (ids.length > 1) setTimeout(() => raw.publish(reply, result(id, 'late')), 1000);
    });
    raw.subscribe('mcp.liar.instance.one', {
      callback(_error, message) {
        const own = headers();
        own.set('Mcp-Link', 'beat');
        if (message.headers?.get('Mcp-Link') === 'beat')
          raw.publish(message.reply ?? '', `${ids[1]}`, { headers: own });
      },
    });
    const [lost, kept] = [client.callTool('t', {}), client.callTool('t', {})];
    await expect(soon('an error', lost)).rejects.toThrow(
      'The response of the service "liar" to tools/call was lost.',
    );
    expect((await soon('a response', kept)).text).toBe('late');
  });

  test('A server answers garbage with an error and goes on', async () => {
    const { server, seen } = makeServer();
    closing.add(server);
    closing.add(await serveNats(server, { url: nat.engine.url, keepAliveMs: 100 }));
    const raw = closing.add(await connectRaw(nat.engine.url));
    const expected: readonly (readonly [string, number, string])[] = [
      ['', -32700, 'This is not valid JSON'],
      ['{', -32700, 'This is not valid JSON'],
      ['[]', -32600, 'Invalid message: a message must be a JSON object'],
      ['{"jsonrpc":"2.0","method":"notifications/cancelled"}', -32600, 'A service takes only requests'],
      ['{"jsonrpc":"2.0","id":1,"result":{}}', -32600, 'A service takes only requests'],
      [
        '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
        -32602,
        'Malformed request: params._meta is missing',
      ],
      ['{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"_meta":{}}}', -32602, 'Malformed request'],
      [
        `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${'['.repeat(200)}${']'.repeat(200)}}}`,
        -32600,
        'nested deeper',
      ],
    ];
    for (const [payload, code, message] of expected) {
      const [response] = await collectResponses(raw, 'mcp.tools', { payload, isDone: () => true });
      expect(response, payload).toMatchObject({ error: { code, message: expect.stringContaining(message) } });
    }
    // Without an inbox, or for calls that nobody made.
    for (const subject of ['mcp.tools', 'mcp.tools.all'])
      for (const payload of ['', 'x', '{}']) raw.publish(subject, payload);
    const { headers } = await loadTransport();
    for (const kind of ['cancel', 'beat', 'part', 'accepted', 'nonsense']) {
      const own = headers();
      own.set('Mcp-Link', kind);
      raw.publish('mcp.tools.all', 'x', { reply: '_INBOX.a.1', headers: own });
      raw.publish('mcp.tools', 'x', { reply: '_INBOX.a.1', headers: own });
    }
    const client = closing.add(await connect(`${nat.engine.url}/tools`));
    expect((await client.callTool('add', { a: 1, b: 2 })).text).toBe('3');
    expect(seen.names).toEqual(['add']);
  });

  test('Requests whose parts never come do not fill the instance', async () => {
    const { server } = makeServer();
    closing.add(server);
    closing.add(
      await serveNats(server, { url: nat.engine.url, service: 'parts', keepAliveMs: 50, maxOpenCalls: 10 }),
    );
    const raw = closing.add(await connectRaw(nat.engine.url));
    const { headers } = await loadTransport();
    for (let n = 0; n < 20; n++) {
      const own = headers();
      own.set('Mcp-Link', 'part');
      own.set('Mcp-Part', '0/5');
      raw.publish('mcp.parts', 'x', { reply: `_INBOX.b.${n}`, headers: own });
    }
    await raw.flush();
    await until('there is room again', () =>
      connect(`${nat.engine.url}/parts`, { maxRetries: 0 }).then(
        (client) => client.close().then(() => true),
        () => false,
      ),
    );
  });
});
