import { createServer, McpError, resource, tool } from 'fullmcp';
import { afterEach, describe, expect, it, test } from 'vitest';
import { SessionListening } from '../../../../src/legacy/client/session-listening.js';
import { SUBSCRIPTION_ID } from '../../../../src/protocol/meta.js';
import { sessionRevisions } from '../../../../src/protocol/tables/features.js';
import { until } from '../../../support/until.js';
import {
  closeLinks,
  linkTo,
  linkToScript,
  type Message,
  serverAnswer,
  type TestLink,
} from '../../../support/wires/session-links.js';

afterEach(closeLinks);

function newServer() {
  return createServer({
    name: 'listening',
    version: '1.0.0',
    changes: true,
    logger: () => undefined,
    tools: { a: tool({ run: () => 'a' }) },
    resources: { 'doc://{id}': resource({ read: () => 'doc' }) },
  });
}

/** Listens, and resolves when the subscription is acknowledged. */
async function listen({ call }: Pick<TestLink, 'call'>, notifications: Message, id: string | number = 'l1') {
  const events: Message[] = [];
  const controller = new AbortController();
  const outcome = call(
    'subscriptions/listen',
    { notifications },
    { id, signal: controller.signal, notify: (method, params) => void events.push({ method, ...params }) },
  );
  outcome.catch(() => undefined);
  const settled = outcome.then(
    () => true,
    () => true,
  );
  await Promise.race([settled, until('it is acknowledged', () => events.length > 0)]);
  return {
    events,
    outcome,
    granted: events[0]?.['notifications'],
    end: () => {
      controller.abort(new McpError('cancelled', 'Enough'));
      return outcome;
    },
  };
}

const methods = (sent: readonly Message[]): unknown[] =>
  sent
    .filter(({ method }) => String(method).startsWith('resources/'))
    .map(({ method, params }) => `${method} ${params.uri}`);

describe.each(sessionRevisions)('listening in a session of %s', (revision) => {
  it('acknowledges the filter, delivers the changes it selects, and ends with the call', async () => {
    const server = newServer();
    const link = await linkTo(server.dispatch, { revision });
    const _meta = { [SUBSCRIPTION_ID]: 'l1' };
    const filter = { toolsListChanged: true, resourceSubscriptions: ['doc://1'], taskIds: ['t'] };
    const { events, end } = await listen(link, filter);
    expect(events).toEqual([
      {
        method: 'notifications/subscriptions/acknowledged',
        notifications: { toolsListChanged: true, resourceSubscriptions: ['doc://1'] },
        _meta,
      },
    ]);
    server.changed.resource('doc://2');
    server.changed.prompts();
    server.changed.resource('doc://1');
    server.changed.tools();
    await until('two changes have arrived', () => events.length === 3);
    expect(events.slice(1)).toEqual([
      { method: 'notifications/resources/updated', uri: 'doc://1', _meta },
      { method: 'notifications/tools/list_changed', _meta },
    ]);
    expect(await end()).toEqual({ resultType: 'complete', _meta });
    await until('the server is told', () => methods(link.sent).length === 2);
    expect(methods(link.sent)).toEqual(['resources/subscribe doc://1', 'resources/unsubscribe doc://1']);
    server.changed.tools();
    await until('the link is told', () => link.notifications.length === 4);
    expect(events).toHaveLength(3);
  });
});

test.each(['connection_closed', 'connect_failed', 'timeout'] as const)(
  'a request to subscribe that gets no response (%s) ends the subscription with the reason, and is not a server that announces nothing',
  async (code) => {
    const problems: string[] = [];
    const notified: string[] = [];
    const reason = new McpError(code, 'It broke');
    const listening = new SessionListening(
      (method) => (method === 'resources/subscribe' ? Promise.reject(reason) : Promise.resolve({})),
      (message) => void problems.push(message),
    );
    const call = {
      id: 1,
      params: { notifications: { resourceSubscriptions: ['doc://1'], toolsListChanged: true } },
      signal: new AbortController().signal,
      notify: (method: string) => void notified.push(method),
    };
    const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } };
    const handshake = { revision: '2025-11-25', tasks: false, discovered: { capabilities } };
    await expect(listening.listen(call as never, handshake as never)).rejects.toBe(reason);
    expect({ problems, notified }).toEqual({ problems: [], notified: [] });
  },
);

describe('a change in a session', () => {
  it('is delivered to its listeners, and always to the link', async () => {
    const server = newServer();
    const link = await linkTo(server.dispatch);
    const tools = await listen(link, { toolsListChanged: true }, 1);
    const lists = await listen(link, { promptsListChanged: true, resourcesListChanged: true }, 2);
    server.changed.tools();
    server.changed.prompts();
    server.changed.resources();
    await until('all are told', () => link.notifications.length === 3);
    expect(tools.events.slice(1)).toEqual([
      { method: 'notifications/tools/list_changed', _meta: { [SUBSCRIPTION_ID]: 1 } },
    ]);
    expect(lists.events.slice(1).map(({ method }) => method)).toEqual([
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
    ]);
    expect(link.notifications[0]).toEqual({ method: 'notifications/tools/list_changed', params: undefined });
  });

  it('of a resource is subscribed to once for all listeners, until the last of them ends', async () => {
    const link = await linkTo(newServer().dispatch);
    const first = await listen(link, { resourceSubscriptions: ['doc://1', 'doc://1'] }, 1);
    const second = await listen(link, { resourceSubscriptions: ['doc://1', 'doc://2'] }, 2);
    expect(methods(link.sent)).toEqual(['resources/subscribe doc://1', 'resources/subscribe doc://2']);
    await first.end();
    await second.end();
    await until('the server is told', () => methods(link.sent).length === 4);
    expect(methods(link.sent).slice(2)).toEqual([
      'resources/unsubscribe doc://1',
      'resources/unsubscribe doc://2',
    ]);
    const third = await listen(link, { resourceSubscriptions: ['doc://1'] }, 3);
    expect(third.granted).toEqual({ resourceSubscriptions: ['doc://1'] });
    expect(methods(link.sent)).toHaveLength(5);
  });

  it('may concern a part of the subscribed resource, and is delivered once and after the acknowledgement', async () => {
    const updated = (uri: string): object => ({ method: 'notifications/resources/updated', params: { uri } });
    const link = await linkToScript({
      initialize: { ...serverAnswer, capabilities: { resources: { subscribe: true } } },
      answer({ params }, send) {
        for (const uri of [params.uri, params.uri, `${params.uri}/part`, `${params.uri}x`])
          send(updated(uri));
        return {};
      },
    });
    const { events } = await listen(link, { resourceSubscriptions: ['doc://1'] });
    expect(events.map(({ method, uri }) => uri ?? method)).toEqual([
      'notifications/subscriptions/acknowledged',
      'doc://1',
      'doc://1/part',
    ]);
  });

  it('is not acknowledged if the server does not declare it', async () => {
    const { call, sent } = await linkToScript({
      initialize: { ...serverAnswer, capabilities: { tools: {}, prompts: {}, resources: {} } },
    });
    const all = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['doc://1'],
    };
    const { granted, outcome } = await listen({ call }, all);
    expect(granted).toEqual({});
    expect(await outcome).toMatchObject({ resultType: 'complete' });
    expect(methods(sent)).toEqual([]);
    await expect(call('subscriptions/listen')).rejects.toMatchObject({ code: 'invalid_params' });
  });

  it('is not acknowledged if the server rejects the subscription, which is a reported problem', async () => {
    const { call, problems, sent } = await linkToScript({
      initialize: { ...serverAnswer, capabilities: { resources: { subscribe: true } } },
      answer({ params }) {
        if (params.uri === 'doc://2') throw { code: -32602, message: 'Not that one' };
        return {};
      },
    });
    const { granted, end } = await listen({ call }, { resourceSubscriptions: ['doc://1', 'doc://2'] });
    expect(granted).toEqual({ resourceSubscriptions: ['doc://1'] });
    expect(problems).toEqual(['The server does not announce changes of doc://2: Not that one']);
    await end();
    await until('the server is told', () => methods(sent).length === 3);
    expect(methods(sent).at(-1)).toBe('resources/unsubscribe doc://1');
  });
});

describe('an open call of subscriptions/listen', () => {
  it('fails when the server disconnects', async () => {
    const { call, far } = await linkTo(newServer().dispatch);
    const { outcome } = await listen({ call }, { toolsListChanged: true });
    far.drop('It crashed');
    await expect(outcome).rejects.toMatchObject({ code: 'connection_closed', message: 'It crashed' });
  });

  it('fails when the link is closed', async () => {
    const { call, link } = await linkTo(newServer().dispatch);
    const { outcome } = await listen({ call }, { toolsListChanged: true });
    await link.close();
    await expect(outcome).rejects.toMatchObject({ code: 'connection_closed' });
  });

  it('ends with its signal even if the server never answers', async () => {
    const { call, sent } = await linkToScript({
      initialize: { ...serverAnswer, capabilities: { resources: { subscribe: true } } },
    });
    const controller = new AbortController();
    const outcome = call(
      'subscriptions/listen',
      { notifications: { resourceSubscriptions: ['doc://1'] } },
      { signal: controller.signal },
    );
    await until('it is subscribed', () => methods(sent).length === 1);
    controller.abort();
    expect(await outcome).toMatchObject({ resultType: 'complete' });
  });
});
