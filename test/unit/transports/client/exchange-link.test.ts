import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/jsonrpc/message.js';
import type { Call, Peer } from '../../../../src/protocol/call.js';
import { McpError } from '../../../../src/protocol/errors.js';
import type { Link } from '../../../../src/protocol/link.js';
import type { Discovered } from '../../../../src/protocol/model/model.js';
import type { Exchange } from '../../../../src/transports/client/exchange.js';
import { exchangeLink } from '../../../../src/transports/client/exchange-link.js';
import { wireExchange } from '../../../../src/transports/client/wire-exchange.js';
import { spawnWire } from '../../../../src/transports/stdio/client/spawn.js';
import { until } from '../../../support/until.js';
import { exchangeEvents, memoryWire } from '../../../support/wires/memory-wire.js';

const peer: Peer = {
  revision: '2026-07-28',
  client: { name: 'test', version: '1' },
  capabilities: {},
  logLevel: undefined,
};
const parts = {
  transport: 'stdio',
  revision: '2026-07-28',
  discovered: { supportedVersions: ['2026-07-28'], capabilities: {} },
} as const;
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

function subscriptionOf(params: JsonObject | undefined): unknown {
  return (params?.['_meta'] as JsonObject | undefined)?.[SUBSCRIPTION];
}

function call(method: string, params: JsonObject = {}, rest: Partial<Call> = {}): Call {
  const { signal } = new AbortController();
  return { id: 'mine', method, params, peer, signal, notify: () => undefined, ...rest };
}

describe('a link on a wire', () => {
  function setUp() {
    const wire = memoryWire();
    const exchange = wireExchange(wire);
    exchange.listen(exchangeEvents());
    return { wire, link: exchangeLink(exchange, parts) };
  }

  test("identifies the client in a call, and keeps the call's own metadata", async () => {
    const { wire, link } = setUp();
    const outcome = link.dispatch(
      call('tools/call', { name: 'x', _meta: { mine: 1 } }, { peer: { ...peer, logLevel: 'debug' } }),
    );
    expect(wire.sent).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'x',
          _meta: {
            mine: 1,
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
            'io.modelcontextprotocol/logLevel': 'debug',
          },
        },
      },
    ]);
    wire.arrive({ jsonrpc: '2.0', id: 1, result: { resultType: 'input_required', inputRequests: {} } });
    expect(await outcome).toEqual({ resultType: 'input_required', inputRequests: {} });
  });

  test('accepts a result without a type as complete, and rejects a type that is not a string', async () => {
    const { wire, link } = setUp();
    const outcomes = [link.dispatch(call('a')), link.dispatch(call('b'))] as const;
    wire.arrive({ jsonrpc: '2.0', id: 1, result: { content: [] } });
    wire.arrive({ jsonrpc: '2.0', id: 2, result: { resultType: 1 } });
    expect(await outcomes[0]).toEqual({ resultType: 'complete', content: [] });
    await expect(outcomes[1]).rejects.toMatchObject({ code: 'bad_response' });
  });

  test('gives notifications and the result of a subscription the id of its call', async () => {
    const { wire, link } = setUp();
    const events: unknown[] = [];
    const notify: Call['notify'] = (method, params) => events.push([method, params]);
    const outcome = link.dispatch(call('subscriptions/listen', {}, { notify }));
    const params = { uri: 'x:', _meta: { [SUBSCRIPTION]: 1, other: 2 } };
    wire.arrive({ jsonrpc: '2.0', method: 'notifications/resources/updated', params });
    wire.arrive({ jsonrpc: '2.0', id: 1, result: { _meta: { [SUBSCRIPTION]: 1 } } });
    expect(events).toEqual([
      ['notifications/resources/updated', { uri: 'x:', _meta: { [SUBSCRIPTION]: 'mine', other: 2 } }],
    ]);
    expect(await outcome).toEqual({ resultType: 'complete', _meta: { [SUBSCRIPTION]: 'mine' } });
  });

  test('closes the wire when it is closed, and rejects later calls', async () => {
    const { wire, link } = setUp();
    await link.close();
    expect(wire.closes()).toBe(1);
    await expect(link.dispatch(call('a'))).rejects.toMatchObject({ code: 'connection_closed' });
  });
});

describe('a link to a real server process', () => {
  const server = fileURLToPath(new URL('../stdio/fixtures/server.mjs', import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-link-'));
  const notes = join(folder, 'notes');
  const readNotes = (): string[] => readFileSync(notes, 'utf8').trim().split('\n');
  const events = exchangeEvents();
  let exchange: Exchange;
  let link: Link;

  beforeEach(async () => {
    exchange = wireExchange(spawnWire({ command: process.execPath, args: [server], env: { NOTES: notes } }));
    exchange.listen(events);
    const probe = exchangeLink(exchange, parts);
    const discovered = (await probe.dispatch(call('server/discover'))) as unknown as Discovered;
    link = exchangeLink(exchange, { ...parts, discovered });
  });
  afterEach(async () => {
    await exchange.close();
    expect(readNotes().at(-1)).toBe('closed');
    rmSync(folder, { recursive: true, force: true });
    expect([events.problems, events.ends]).toEqual([[], []]);
  });

  test('discovers, calls, receives progress, listens and cancels', async () => {
    expect(link.discovered).toMatchObject({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {}, resources: {} },
    });

    const texts = Array.from({ length: 200 }, (_, at) => `text ${at} \u2028`);
    const answers = await Promise.all(
      texts.map((text) => link.dispatch(call('tools/call', { name: 'echo', arguments: { text } }))),
    );
    expect(answers.map(({ content }) => (content as { text: string }[])[0]?.text)).toEqual(texts);

    const flood = new AbortController();
    const progress: unknown[] = [];
    const flooding = link.dispatch(
      call(
        'tools/call',
        { name: 'flood', _meta: { progressToken: 'mine' } },
        {
          signal: flood.signal,
          notify: (method, params) =>
            progress.push([method, params?.['progressToken'], params?.['progress']]),
        },
      ),
    );
    await until('progress has arrived', () => progress.length > 2);
    flood.abort(new McpError('cancelled', 'Enough'));
    await expect(flooding).rejects.toMatchObject({ message: 'Enough' });
    expect(progress.slice(0, 2)).toEqual([
      ['notifications/progress', 'mine', 1],
      ['notifications/progress', 'mine', 2],
    ]);
    await until('the server has stopped', () => readNotes().includes('flood aborted'));

    const listen = new AbortController();
    const events: unknown[] = [];
    const listening = link.dispatch(
      call(
        'subscriptions/listen',
        { notifications: { resourceSubscriptions: ['config://app'] } },
        {
          signal: listen.signal,
          notify: (method, params) => events.push([method, params?.['uri'], subscriptionOf(params)]),
        },
      ),
    );
    await until('the subscription is open', () => events.length === 1);
    await link.dispatch(call('tools/call', { name: 'touch' }));
    await until('the change has arrived', () => events.length === 2);
    expect(events).toEqual([
      ['notifications/subscriptions/acknowledged', undefined, 'mine'],
      ['notifications/resources/updated', 'config://app', 'mine'],
    ]);
    listen.abort();
    await expect(listening).rejects.toMatchObject({ code: 'cancelled' });
  });
});
