import { createServer, type Dispatch, tool } from 'fullmcp';
import { gateway } from 'fullmcp/gateway';
import { createHandler } from 'fullmcp/http';
import { cache } from 'fullmcp/middleware';
import { proxy } from 'fullmcp/proxy';
import { expect, it } from 'vitest';
import { channelSession } from '../../../../src/legacy/server/channel-session.js';
import { memoryFetch } from '../../../../src/testing/memory/fetch.js';
import { openChannel } from '../../../../src/transports/server/channel.js';
import { until } from '../../../support/until.js';

// 2025-11-25 is the only revision whose lists say which tools run as tasks. Nothing in between may lose it.

const quiet = (): void => undefined;
const common = { name: 'test', version: '1.0.0', logger: quiet, secret: 'x'.repeat(32) };
const tools = { slow: tool({ task: 'optional', run: () => 'done' }), plain: tool({ run: () => 'plain' }) };
const server = createServer({ ...common, tools });
const kept = () => cache({ ttlMs: 60_000 });

const fronts: Readonly<Record<string, () => { readonly dispatch: Dispatch }>> = {
  'a server with a cache': () => createServer({ ...common, tools, use: [kept()] }),
  'a mounted server': () => createServer({ ...common, mount: { in: server } }),
  'a proxy': () => proxy({ dispatch: server.dispatch }, { logger: quiet }),
  'a proxy with a cache': () => proxy({ dispatch: server.dispatch }, { logger: quiet, use: [kept()] }),
  'a proxy over HTTP': () => {
    const handler = createHandler(server, { allowedHosts: ['in.test'] });
    return proxy('http://in.test/mcp', { logger: quiet, fetch: memoryFetch(handler) });
  },
  'a gateway with a cache': () =>
    gateway(
      { mcpServers: { in: { target: { dispatch: server.dispatch } } } },
      { logger: quiet, use: [kept()] },
    ),
};

it.each(Object.entries(fronts))('%s lists the tools that run as tasks, every time', async (_, open) => {
  const request = await session(open().dispatch);
  for (let time = 0; time < 3; time++) {
    const { result } = await request('tools/list');
    const support = result?.tools.map(({ name, execution }) => [name.replace('in_', ''), execution]);
    expect(support).toEqual([
      ['slow', { taskSupport: 'optional' }],
      ['plain', undefined],
    ]);
  }
});

it.each(Object.entries(fronts))('%s runs them as tasks', async (_, open) => {
  const request = await session(open().dispatch);
  const { result } = await request('tools/list');
  const [slow, plain] = result?.tools ?? [];
  expect(await request('tools/call', { name: slow?.name, arguments: {}, task: {} })).toMatchObject({
    result: { task: { taskId: expect.any(String) } },
  });
  expect(await request('tools/call', { name: plain?.name, arguments: {}, task: {} })).toMatchObject({
    error: { code: -32601 },
  });
});

interface Answer {
  readonly id?: unknown;
  readonly result?: { readonly tools: readonly { readonly name: string; readonly execution?: object }[] };
}

async function session(dispatch: Dispatch) {
  const received: Answer[] = [];
  const send = (text: string): void => void received.push(JSON.parse(text));
  const channel = openChannel({ dispatch, send, session: channelSession(dispatch, send) });
  let last = 0;
  const request = async (method: string, params: object = {}): Promise<Answer> => {
    const id = ++last;
    channel.receive(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    await until(`${method} is answered`, () => received.some((answer) => answer.id === id));
    return received.find((answer) => answer.id === id) as Answer;
  };
  await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'c', version: '1' },
  });
  return request;
}
