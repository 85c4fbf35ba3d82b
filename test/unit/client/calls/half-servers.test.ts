import { expect, test } from 'vitest';
import { connect, McpError } from '../../../../src/client.js';
import { createServer, tool } from '../../../../src/index.js';
import type { Call, Dispatch } from '../../../../src/protocol/call.js';
import { inProcessClient } from '../../../support/in-process-client.js';

// Servers that declare more or less than they have.

interface HalfServer {
  readonly dispatch: Dispatch;
  readonly methods: string[];
}

function halfServer(
  capabilities: () => object,
  answer: (call: Call) => object | undefined = () => undefined,
): HalfServer {
  const methods: string[] = [];
  return {
    methods,
    dispatch: async (call) => {
      methods.push(call.method);
      if (call.method === 'server/discover')
        return { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: capabilities() };
      const own = answer(call);
      if (own === undefined) throw new McpError('method_not_found', 'Method not found', { number: -32601 });
      return { resultType: 'complete', ...own };
    },
  };
}

test('a list is empty if the server does not know the method, even if the server declares the capability', async () => {
  const server = halfServer(() => ({ tools: {}, resources: {}, prompts: {} }));
  await using client = await inProcessClient(server);
  expect(await client.templates().all()).toEqual([]);
  // Many servers have resources and no templates: that is not a problem to report.
  expect(client.info().problems).toEqual([]);
  expect(await client.resources().all()).toEqual([]);
  expect(await client.prompts().all()).toEqual([]);
  expect(await client.tools().all()).toEqual([]);
  expect(client.info().problems).toEqual([
    'The server declares resources but does not support resources/list',
    'The server declares prompts but does not support prompts/list',
    'The server declares tools but does not support tools/list',
  ]);
});

test('a subscription to changes that the server does not declare sends no request and accepts nothing', async () => {
  const server = halfServer(
    () => ({ tools: { listChanged: false }, resources: { subscribe: false }, prompts: {} }),
    ({ method }) => {
      if (method === 'subscriptions/listen') throw new McpError('internal_error', 'No streams here');
      return undefined;
    },
  );
  await using client = await inProcessClient(server);
  for (const filter of ['a://b', { tools: true, prompts: true, resources: true, uris: ['a://b'] }]) {
    await using subscription = await client.subscribe(filter);
    expect(subscription.accepted).toEqual({});
  }
  expect(server.methods).not.toContain('subscriptions/listen');
});

test('a subscription requests only the changes that the server declares, and always tasks', async () => {
  const filters: unknown[] = [];
  const server = halfServer(
    () => ({ tools: { listChanged: true }, resources: {} }),
    (call) => {
      if (call.method !== 'subscriptions/listen') return undefined;
      const { notifications } = call.params;
      filters.push(notifications);
      call.notify('notifications/subscriptions/acknowledged', { notifications });
      return {};
    },
  );
  await using client = await inProcessClient(server);
  await using subscription = await client.subscribe({
    tools: true,
    resources: true,
    uris: ['a://b'],
    tasks: ['t'],
  });
  expect(filters).toEqual([{ toolsListChanged: true, taskIds: ['t'] }]);
  expect(subscription.accepted).toEqual({ tools: true, tasks: ['t'] });
});

test('a capability that a server declares later is subscribed to without a new connection', async () => {
  let more = false;
  const server = halfServer(
    () => ({ tools: { listChanged: more } }),
    (call) => {
      if (call.method !== 'subscriptions/listen') return undefined;
      call.notify('notifications/subscriptions/acknowledged', {
        notifications: call.params['notifications'],
      });
      return {};
    },
  );
  await using client = await inProcessClient(server);
  more = true;
  await using subscription = await client.subscribe({ tools: true });
  expect(subscription.accepted).toEqual({ tools: true });
});

test('a group of many servers, and many calls with one signal, cause no warning of a listener leak', async () => {
  const warnings: string[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning.message);
  process.on('warning', onWarning);
  try {
    const server = createServer({ name: 'one', version: '1', tools: { t: tool({ run: () => 1 }) } });
    const names = Array.from({ length: 25 }, (_, at) => `s${at}`);
    await using client = await connect({
      mcpServers: Object.fromEntries(names.map((name) => [name, { target: server }])),
    });
    const stop = new AbortController();
    const { signal } = stop;
    expect(await client.tools({ signal }).all()).toHaveLength(25);
    await using _changes = await client.subscribe({ tools: true });
    await Promise.all(names.map((name) => client.callTool(`${name}_t`, {}, { signal })));
    // Node prints warnings in a later turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
    const open = names.map((name) => client.callTool(`${name}_t`, {}, { signal }));
    stop.abort();
    for (const { status } of await Promise.allSettled(open)) expect(status).toBe('rejected');
  } finally {
    process.off('warning', onWarning);
  }
});
