import { type Bus, type BusListener, createServer, inProcess, memoryBus, tool } from 'fullmcp';
import { describe, expect, it, vi } from 'vitest';

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
  const bus: Bus = {
    publish: async (topic, message) => void published.push([topic, message]),
    subscribe: async () => () => undefined,
    close: async () => undefined,
  };
  const server = createServer({ ...quiet, bus });
  server.changed.resources();
  expect(published).toEqual([['changes:test', { kind: 'resources', from: expect.any(String) }]]);
  expect((await inProcess(server)('server/discover'))['capabilities']).toMatchObject({
    resources: { listChanged: true },
  });
});

describe('a bus that two processes share', () => {
  const shared = (): Bus => ({ ...memoryBus(), close: async () => undefined });

  it('does not carry the changes of one server to another that has a different name', async () => {
    const bus = shared();
    const [one, same, other] = ['one', 'one', 'other'].map((name) => createServer({ ...quiet, name, bus }));
    const streams = [same, other].map((server) => listening(server as typeof one & object, all));
    await vi.waitFor(() => expect(streams.map(({ messages }) => messages.length)).toEqual([1, 1]));
    one?.changed.resource('a://1');
    await vi.waitFor(() => expect(streams[0]?.messages).toHaveLength(2));
    expect(streams[1]?.messages).toHaveLength(1);
    for (const { stop } of streams) stop();
  });

  it('carries changes to the subscribers of both, each once', async () => {
    const bus = shared();
    const [here, there] = [createServer({ ...quiet, bus }), createServer({ ...quiet, bus })];
    const [mine, others] = [listening(here, all), listening(there, all)];
    await vi.waitFor(() => expect([mine.messages.length, others.messages.length]).toEqual([1, 1]));
    here.changed.tools();
    there.changed.resource('a://1');
    there.changed.resource('a://other');
    for (const { messages } of [mine, others])
      await vi.waitFor(() =>
        expect(messages.slice(1).map(({ method }) => method)).toEqual([
          'notifications/tools/list_changed',
          'notifications/resources/updated',
        ]),
      );
    mine.stop();
    others.stop();
  });

  it('lets a server declare the changes that another process announces', async () => {
    const bus = { ...shared() };
    const cluster = {
      bus,
      eventLog: undefined as never,
      start: async () => [],
      ping: async () => undefined,
      close: async () => undefined,
    };
    const [here, there] = [createServer({ ...quiet, cluster }), createServer({ ...quiet, cluster })];
    await Promise.all([here.start(), there.start()]);
    const discover = async () => (await inProcess(there)('server/discover'))['capabilities'];
    expect(await discover()).not.toHaveProperty('tools');
    here.changed.tools();
    expect(await discover()).toMatchObject({ tools: { listChanged: true } });
  });

  it('reports everything as changed once after a gap', async () => {
    const listeners: BusListener[] = [];
    const bus: Bus = {
      ...shared(),
      subscribe: async (topic, listener) => {
        if (topic === 'changes:test') listeners.push(listener);
        return () => undefined;
      },
    };
    const server = createServer({ ...quiet, bus });
    const { messages, stop } = listening(server, all);
    await vi.waitFor(() => expect(messages).toHaveLength(1));
    expect(listeners).toHaveLength(1);
    listeners[0]?.gap();
    expect(messages.slice(1)).toMatchObject([
      { method: 'notifications/tools/list_changed' },
      { method: 'notifications/prompts/list_changed' },
      { method: 'notifications/resources/list_changed' },
      { method: 'notifications/resources/updated', params: { uri: 'a://1' } },
      { method: 'notifications/resources/updated', params: { uri: 'a://2' } },
    ]);
    stop();
  });

  it('is not needed for subscribers in the same process, and is tried again while it is unavailable', async () => {
    const logged: string[] = [];
    const inner = shared();
    let away = true;
    const bus: Bus = {
      ...inner,
      publish: (topic, message) => (away ? Promise.reject(new Error('away')) : inner.publish(topic, message)),
      subscribe: (topic, on) => (away ? Promise.reject(new Error('away')) : inner.subscribe(topic, on)),
    };
    const server = createServer({ ...quiet, bus, logger: (_, message) => void logged.push(message) });
    const { messages, stop } = listening(server, { toolsListChanged: true });
    await vi.waitFor(() => expect(messages).toHaveLength(1));
    server.changed.tools();
    expect(messages.map(({ method }) => method).slice(1)).toEqual(['notifications/tools/list_changed']);
    await vi.waitFor(() => expect(new Set(logged).size).toBe(1));
    expect(logged[0]).toBe('The bus could not carry announcements of changes');
    away = false;
    // The gap while the bus was unavailable is reported, and then other processes are heard.
    await vi.waitFor(() => expect(messages).toHaveLength(3), { timeout: 10_000 });
    await inner.publish('changes:test', { kind: 'tools', from: 'another process' });
    expect(messages).toHaveLength(4);
    stop();
  });
});

describe('the response of a call that announces a change', () => {
  const announcing = (bus: Bus) =>
    createServer({
      ...quiet,
      bus,
      tools: {
        note: tool({ run: (_, ctx) => ctx.changed.resource('a://1') }),
        later: tool({ run: async (_, ctx) => ctx.changed.resource('a://1') }),
        outer: tool({ run: async (_, ctx) => void (await ctx.call('note')) }),
        fails: tool({
          run(_, ctx) {
            ctx.changed.resources();
            throw new Error('after the change');
          },
        }),
      },
    });

  it.each(['note', 'later', 'outer', 'fails'])('waits until other processes are told: %s', async (name) => {
    let carry!: () => void;
    const publish = vi.fn(
      () =>
        new Promise<void>((resolve) => {
          carry = resolve;
        }),
    );
    const server = announcing({ ...memoryBus(), publish });
    let hasEnded = false;
    const call = inProcess(server)('tools/call', { name, arguments: {} }).then((outcome) => {
      hasEnded = true;
      return outcome;
    });
    await vi.waitFor(() => expect(publish).toHaveBeenCalled());
    await new Promise((resolve) => setImmediate(resolve));
    expect(hasEnded).toBe(false);
    carry();
    expect(await call).toMatchObject({ resultType: 'complete', ...(name === 'fails' && { isError: true }) });
  });

  it('does not wait for a bus that fails or does not respond', async () => {
    const failing = announcing({ ...memoryBus(), publish: () => Promise.reject(new Error('down')) });
    const silent = announcing({ ...memoryBus(), publish: () => new Promise(() => undefined) });
    for (const server of [failing, silent])
      expect(await inProcess(server)('tools/call', { name: 'note', arguments: {} })).toMatchObject({
        resultType: 'complete',
      });
  });
});
