import { createServer, resource, type Server, tool } from 'fullmcp';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { httpSessionExchange } from '../../../../../src/legacy/client/http/exchange.js';
import { httpSseWire } from '../../../../../src/legacy/client/http/http-sse-wire.js';
import { type Serving, serve } from '../../../../../src/node.js';
import type { Revision } from '../../../../../src/protocol/tables/revisions.js';
import type { Exchange } from '../../../../../src/transports/client/exchange.js';
import { wireExchange } from '../../../../../src/transports/client/wire-exchange.js';
import { until } from '../../../../support/until.js';
import { closeLinks, linkOver } from '../../../../support/wires/session-links.js';

const capabilities = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const open: Serving[] = [];

afterEach(async () => {
  await closeLinks();
  await Promise.all(open.splice(0).map((serving) => serving.close()));
});

function newServer(secret = 'x'.repeat(32)): Server {
  return createServer({
    name: 'http',
    version: '1.0.0',
    changes: true,
    logger: () => undefined,
    secret,
    tools: {
      list: tool({ run: () => [1, 2] }),
      asks: tool({
        task: 'optional',
        run: async (_, ctx) => {
          ctx.log.warning('about to ask');
          return (await ctx.ask('name', { message: 'Name?', schema: z.object({ name: z.string() }) })).name;
        },
      }),
      task: tool({
        task: 'required',
        run: async (_, ctx) =>
          (await ctx.ask('name', { message: 'Name?', schema: z.object({ name: z.string() }) })).name,
      }),
    },
    resources: { 'doc://{id}': resource({ read: () => 'doc' }) },
  });
}

async function start(server: Server, port = 0): Promise<Serving> {
  const serving = await serve(server, { port, signals: false });
  open.push(serving);
  return serving;
}

type Way = [name: string, revision: Revision, open: (url: string) => Exchange];

const ways: readonly Way[] = [
  ...(['2025-11-25', '2025-06-18', '2025-03-26'] as const).map(
    (revision): Way => [`HTTP ${revision}`, revision, (url) => httpSessionExchange(new URL(url), {})],
  ),
  [
    'HTTP+SSE 2024-11-05',
    '2024-11-05',
    (url) => wireExchange(httpSseWire(new URL(url.replace(/mcp$/, 'sse')), {})),
  ],
];

describe.each(ways)('a session link over %s', (_, revision, exchange) => {
  it('calls, answers questions, receives logs and listens', async () => {
    const server = newServer();
    const { url } = await start(server);
    const { call, link, questions, lost, notifications } = await linkOver(exchange(url), {
      revision,
      capabilities,
      answer: async () => ({ action: 'accept', content: { name: 'Ann' } }),
    });
    expect(link.revision).toBe(revision);
    expect(await call('tools/call', { name: 'list' })).toMatchObject({ content: [{ text: '[1,2]' }] });
    const beside: string[] = [];
    const asking = { logLevel: 'info', notify: (method: string) => void beside.push(method) } as const;
    expect(await call('tools/call', { name: 'asks' }, asking)).toMatchObject({ content: [{ text: 'Ann' }] });
    await until('the log message has arrived', () =>
      [...beside, ...notifications.map(({ method }) => method)].includes('notifications/message'),
    );
    expect(questions).toMatchObject([{ method: 'elicitation/create' }]);
    const events: string[] = [];
    const controller = new AbortController();
    const listening = call(
      'subscriptions/listen',
      { notifications: { toolsListChanged: true, resourceSubscriptions: ['doc://1'] } },
      { signal: controller.signal, notify: (method) => void events.push(method) },
    );
    await until('it is acknowledged', () => events.length === 1);
    server.changed.resource('doc://1');
    server.changed.tools();
    await until('the changes have arrived', () => events.length === 3);
    controller.abort();
    expect(await listening).toMatchObject({ resultType: 'complete' });
    await link.close();
    expect(lost).toEqual([]);
  });
});

describe('a session link over HTTP', () => {
  it('does not miss a change that happens during the acknowledgement', async () => {
    const server = newServer();
    const { url } = await start(server);
    const { call } = await linkOver(httpSessionExchange(new URL(url), {}));
    const events: string[] = [];
    const controller = new AbortController();
    const listening = call(
      'subscriptions/listen',
      { notifications: { toolsListChanged: true } },
      {
        signal: controller.signal,
        notify(method) {
          events.push(method);
          if (events.length === 1) server.changed.tools();
        },
      },
    );
    await until('the change has arrived', () => events.length === 2);
    controller.abort();
    await listening;
  });

  it("answers a task's question while it waits for the result", async () => {
    const { url } = await start(newServer());
    const { call, questions } = await linkOver(httpSessionExchange(new URL(url), {}), {
      capabilities,
      answer: async () => ({ action: 'accept', content: { name: 'Ann' } }),
    });
    const { taskId, resultType } = await call('tools/call', { name: 'task' });
    expect(resultType).toBe('task');
    await until('the task is completed', async () => {
      const state = await call('tasks/get', { taskId });
      return (state['result'] as { content?: [{ text: string }] } | undefined)?.content?.[0].text === 'Ann';
    });
    expect(questions).toHaveLength(1);
  });

  it('opens a new session when another server, which does not know the session, takes over', async () => {
    const [first, second] = [await start(newServer()), await start(newServer('y'.repeat(32)))];
    let url = first.url;
    const moving: typeof fetch = (_input, init) => fetch(url, init);
    const { call, lost } = await linkOver(httpSessionExchange(new URL(first.url), { fetch: moving }));
    await call('tools/list');
    url = second.url;
    expect(await call('tools/call', { name: 'list' })).toMatchObject({ content: [{ text: '[1,2]' }] });
    expect(lost).toEqual([]);
  });
});
