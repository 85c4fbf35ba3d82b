import { createServer, inProcess, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';

const quiet = { name: 'test', version: '1.0.0', logger: () => undefined };
const all = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['a://1', 'a://2'],
};

function listening(server: ReturnType<typeof createServer>, notifications: object) {
  const messages: { method: string; params: unknown }[] = [];
  const controller = new AbortController();
  const answer = inProcess(server)(
    'subscriptions/listen',
    { notifications },
    { signal: controller.signal, onNotification: (method, params) => void messages.push({ method, params }) },
  );
  return { messages, answer, stop: () => controller.abort() };
}

const tag = { 'io.modelcontextprotocol/subscriptionId': 1 };

describe('subscriptions/listen', () => {
  it('acknowledges first, then forwards the requested changes, tagged', async () => {
    const server = createServer({ ...quiet, changes: true });
    const { messages, answer, stop } = listening(server, {
      toolsListChanged: true,
      resourceSubscriptions: ['a://1'],
    });
    server.changed.tools();
    server.changed.prompts();
    server.changed.resource('a://1');
    server.changed.resource('a://3');
    stop();
    expect(await answer).toMatchObject({ resultType: 'complete', _meta: tag });
    server.changed.tools();
    expect(messages).toEqual([
      {
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { toolsListChanged: true, resourceSubscriptions: ['a://1'] }, _meta: tag },
      },
      { method: 'notifications/tools/list_changed', params: { _meta: tag } },
      { method: 'notifications/resources/updated', params: { uri: 'a://1', _meta: tag } },
    ]);
  });

  it('grants only changes that the server announces, and ends at once if there are none', async () => {
    const some = listening(createServer({ ...quiet, changes: ['prompts'] }), all);
    expect(some.messages[0]?.params).toEqual({ notifications: { promptsListChanged: true }, _meta: tag });
    some.stop();
    await some.answer;
    const none = listening(createServer({ ...quiet }), all);
    expect(await none.answer).toMatchObject({ resultType: 'complete' });
    expect(none.messages).toHaveLength(1);
  });

  it.each<[string, Record<string, unknown>]>([
    ['no filter', {}],
    ['an array as the filter', { notifications: [] }],
    ['a string in place of the URIs', { notifications: { resourceSubscriptions: 'a' } }],
    ['a URI that is not a string', { notifications: { resourceSubscriptions: [1] } }],
    ['1,001 URIs', { notifications: { resourceSubscriptions: Array.from({ length: 1001 }, String) } }],
    ['a URI of 8,193 characters', { notifications: { resourceSubscriptions: ['x'.repeat(8193)] } }],
    ['a task id of 8,193 characters', { notifications: { taskIds: ['x'.repeat(8193)] } }],
    [
      '320,000 characters in 40 URIs',
      { notifications: { resourceSubscriptions: Array.from({ length: 40 }, () => 'x'.repeat(8000)) } },
    ],
  ])('rejects %s', async (_, params) => {
    const call = inProcess(createServer({ ...quiet, changes: true }));
    await expect(call('subscriptions/listen', params)).rejects.toMatchObject({ code: 'invalid_params' });
  });
});

describe('definitions that are added and removed', () => {
  it('are announced and take effect', async () => {
    const server = createServer({ ...quiet, changes: true, tools: { a: tool({ run: () => 'a' }) } });
    const call = inProcess(server);
    const { messages, answer, stop } = listening(server, all);
    const handle = server.tool('b', {}, () => 'b');
    expect(await call('tools/call', { name: 'b' })).toMatchObject({ content: [{ text: 'b' }] });
    handle.remove();
    handle.remove();
    await expect(call('tools/call', { name: 'b' })).rejects.toMatchObject({ code: 'invalid_params' });
    server.resource('x://{y}', {}, () => 'x');
    server.prompt('p', {}, () => 'p');
    stop();
    await answer;
    expect(messages.slice(1).map(({ method }) => method)).toEqual([
      'notifications/tools/list_changed',
      'notifications/tools/list_changed',
      'notifications/resources/list_changed',
      'notifications/prompts/list_changed',
    ]);
  });

  it('are not removed by an old handle', async () => {
    const server = createServer({ ...quiet });
    const first = server.tool('a', {}, () => 1);
    first.remove();
    server.tool('a', {}, () => 2);
    first.remove();
    expect(await inProcess(server)('tools/call', { name: 'a' })).toMatchObject({ content: [{ text: '2' }] });
  });
});

it('a change is published on a custom bus, and the server declares such changes', async () => {
  const published: unknown[] = [];
  const server = createServer({
    ...quiet,
    bus: { publish: (change) => void published.push(change), subscribe: () => () => undefined },
  });
  server.changed.resources();
  expect(published).toEqual([{ kind: 'resources' }]);
  expect((await inProcess(server)('server/discover'))['capabilities']).toMatchObject({
    resources: { listChanged: true },
  });
});
