import { describe, expect, test } from 'vitest';
import { createClient } from '../../../../src/client/create-client.js';
import type { Change, Client, Subscription } from '../../../../src/client/model/client.js';
import { createServer, McpError, type Server } from '../../../../src/index.js';
import type { Call, Dispatch } from '../../../../src/protocol/call.js';
import { dispatchLink } from '../../../../src/transports/memory/link.js';
import { inProcessClient } from '../../../support/in-process-client.js';
import { soon, until } from '../../../support/until.js';

function library(): Server {
  const server = createServer({ name: 'library', version: '1', changes: true });
  server.resource('book://{id}', {}, ({ id }) => String(id));
  server.tool('t', {}, () => 1);
  server.prompt('p', {}, () => 'p');
  return server as Server;
}

/** Observes the listen calls, and can break them. */
function watched(server: Server): {
  dispatch: Dispatch;
  open: Call[];
  total: () => number;
  breakAll: () => void;
} {
  const open: Call[] = [];
  const breakers = new Set<() => void>();
  let total = 0;
  return {
    open,
    total: () => total,
    breakAll: () => {
      for (const breakOff of breakers) breakOff();
    },
    async dispatch(call) {
      if (call.method !== 'subscriptions/listen') return server.dispatch(call);
      total++;
      open.push(call);
      const stop = new AbortController();
      let breakOff!: () => void;
      const broken = new Promise<never>((_, reject) => {
        breakOff = () => {
          stop.abort();
          reject(new McpError('connection_closed', 'The stream broke off'));
        };
      });
      breakers.add(breakOff);
      try {
        const signal = AbortSignal.any([call.signal, stop.signal]);
        return await Promise.race([server.dispatch({ ...call, signal }), broken]);
      } finally {
        breakers.delete(breakOff);
        open.splice(open.indexOf(call), 1);
      }
    },
  };
}

async function next(subscription: Subscription): Promise<Change> {
  const iterator = subscription[Symbol.asyncIterator]();
  const { value } = await soon('a change', iterator.next());
  return value as Change;
}

describe('a subscription', () => {
  test('reports a change of a resource, and merges two that were not read yet', async () => {
    const server = library();
    await using client = await inProcessClient(server);
    await using book = await client.subscribe('book://1');
    expect(book.accepted).toEqual({ uris: ['book://1'] });
    server.changed.resource('book://2');
    server.changed.resource('book://1');
    server.changed.resource('book://1');
    const changes: Change[] = [];
    for await (const change of book) {
      changes.push(change);
      if (changes.length === 1) {
        server.changed.resource('book://1');
      } else break;
    }
    expect(changes).toEqual([
      { kind: 'resource', uri: 'book://1' },
      { kind: 'resource', uri: 'book://1' },
    ]);
  });

  test('reports changes below a resource, and not of URIs that only share a prefix', async () => {
    const changes: unknown[] = [];
    const spied = watched(library());
    await using client = await inProcessClient(spied);
    await client.subscribe('book://1', { onChange: (change) => changes.push(change) });
    for (const uri of ['book://1/page', 'book://10', 'book://1'])
      spied.open[0]?.notify('notifications/resources/updated', { uri });
    expect(changes).toEqual([
      { kind: 'resource', uri: 'book://1/page' },
      { kind: 'resource', uri: 'book://1' },
    ]);
  });

  test('calls its callback at once', async () => {
    const server = library();
    await using client = await inProcessClient(server);
    const changes: Change[] = [];
    await client.subscribe(
      { tools: true, prompts: true, resources: true },
      { onChange: (change) => changes.push(change) },
    );
    server.changed.tools();
    server.changed.prompts();
    server.changed.resources();
    server.changed.tools();
    expect(changes.map(({ kind }) => kind)).toEqual(['tools', 'prompts', 'resources', 'tools']);
  });

  test('reports a callback that throws as a problem, and still calls the next', async () => {
    const server = library();
    await using client = await inProcessClient(server);
    const changes: Change[] = [];
    await client.subscribe(
      { tools: true },
      {
        onChange: () => {
          throw new Error('no');
        },
      },
    );
    await client.subscribe({ tools: true }, { onChange: (change) => changes.push(change) });
    server.changed.tools();
    expect(changes).toHaveLength(1);
    expect(client.info().problems).toEqual(['The onChange of a subscription threw']);
  });

  test('shares one stream with the others, which is reopened only when their filter grows or shrinks', async () => {
    const spied = watched(library());
    await using client = await inProcessClient(spied);
    const one = await client.subscribe('book://1');
    const two = await client.subscribe({ uris: ['book://2'], tools: true });
    const three = await client.subscribe('book://1');
    await until('only the newest stream is open', () => spied.open.length === 1);
    expect(spied.total()).toBe(2);
    expect(spied.open[0]?.params['notifications']).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ['book://1', 'book://2'],
    });
    await one.close();
    expect(spied.total()).toBe(2);
    await two.close();
    await until('the stream has shrunk', () => spied.total() === 3 && spied.open.length === 1);
    await three.close();
    await until('nothing is open', () => spied.open.length === 0);
  });

  test('ends with its signal, with a break out of its loop, and with the client', async () => {
    const spied = watched(library());
    const client = await inProcessClient(spied);
    const stop = new AbortController();
    const bySignal = await client.subscribe('book://1', { signal: stop.signal });
    stop.abort();
    for await (const _ of bySignal) expect.unreachable();
    const server = library();
    const other = await inProcessClient(server);
    const byBreak = await other.subscribe('book://1');
    server.changed.resource('book://1');
    for await (const _ of byBreak) break;
    for await (const _ of byBreak) expect.unreachable();
    const byClose = await client.subscribe('book://1');
    const walking = (async () => {
      for await (const _ of byClose) expect.unreachable();
    })();
    await client.close();
    await soon('the end of the loop', walking);
    await until('nothing is open', () => spied.open.length === 0);
    await other.close();
  });

  test('is reopened when it breaks off, and reports changes that it may have missed', async () => {
    const server = library();
    const spied = watched(server);
    await using client = await inProcessClient(spied);
    await using changes = await client.subscribe({ tools: true, uris: ['book://1'] });
    spied.breakAll();
    await until('it is open again', () => spied.total() === 2 && spied.open.length === 1);
    const kinds = [(await next(changes)).kind];
    expect(kinds).toEqual(['tools']);
  });

  test('omits from `accepted` whatever the server does not grant', async () => {
    const server = createServer({ name: 'quiet', version: '1', tools: {} });
    await using client = await inProcessClient(server as Server);
    const nothing = await client.subscribe({ prompts: true });
    expect(nothing.accepted).toEqual({});
    await nothing.close();
  });

  test('is cancelled by a signal that was already aborted, and leaves nothing on a reused signal', async () => {
    await using client = await inProcessClient(library());
    await expect(client.subscribe('book://1', { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'cancelled',
    });
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    for (let time = 0; time < 3; time++) await (await client.subscribe('book://1', { signal })).close();
    expect(listeners).toBe(0);
  });

  test('reports a notification that cannot be read as a problem, and continues', async () => {
    const server = library();
    const spied = watched(server);
    await using client = await inProcessClient(spied);
    const changes: Change[] = [];
    await client.subscribe('book://1', { onChange: (change) => changes.push(change) });
    spied.open[0]?.notify('notifications/tasks', { taskId: 7 });
    server.changed.resource('book://1');
    expect(changes).toHaveLength(1);
    expect(client.info().problems).toEqual([expect.stringContaining('notifications/tasks')]);
  });

  test('that requests nothing is rejected', async () => {
    await using client = await inProcessClient(library());
    await expect(client.subscribe({})).rejects.toMatchObject({ code: 'invalid_params' });
    await expect(client.subscribe({ uris: [] })).rejects.toMatchObject({ code: 'invalid_params' });
  });

  test('fails with the reason if the server rejects it, and times out without an acknowledgement', async () => {
    const refusing: Dispatch = async (call) => {
      if (call.method === 'subscriptions/listen') throw new McpError('method_not_found', 'Method not found');
      return library().dispatch(call);
    };
    await using client = await inProcessClient({ dispatch: refusing });
    await expect(client.subscribe('book://1')).rejects.toMatchObject({ code: 'method_not_found' });
    const silent: Dispatch = (call) =>
      call.method === 'subscriptions/listen' ? new Promise(() => {}) : library().dispatch(call);
    await using patient = await inProcessClient({ dispatch: silent }, { timeoutMs: 30 });
    await expect(patient.subscribe('book://1')).rejects.toMatchObject({ code: 'timeout' });
    expect(patient.pending()).toEqual([]);
  });

  test('times out without an acknowledgement, even if a change arrives', async () => {
    const deaf: Dispatch = (call) => {
      if (call.method !== 'subscriptions/listen') return library().dispatch(call);
      call.notify('notifications/resources/updated', { uri: 'book://1' });
      return new Promise(() => {});
    };
    await using client = await inProcessClient({ dispatch: deaf }, { timeoutMs: 30 });
    await expect(client.subscribe('book://1')).rejects.toMatchObject({ code: 'timeout' });
  });

  test('that is no longer granted is a problem, and is requested again until it is granted', async () => {
    const server = library();
    let listens = 0;
    let end!: () => void;
    const moody: Dispatch = async (call) => {
      if (call.method !== 'subscriptions/listen') return server.dispatch(call);
      listens += 1;
      const notifications = listens === 2 ? {} : call.params['notifications'];
      call.notify('notifications/subscriptions/acknowledged', { notifications });
      if (listens !== 2)
        await new Promise<void>((resolve) => {
          end = resolve;
        });
      return { resultType: 'complete' };
    };
    await using client = await inProcessClient({ dispatch: moody });
    const changes: Change[] = [];
    await client.subscribe('book://1', { onChange: (change) => changes.push(change) });
    end();
    await until('it is granted again', () => changes.length > 0);
    expect(listens).toBe(3);
    expect(client.info().problems).toEqual([expect.stringContaining('no longer grants the subscription')]);
  });

  test('is opened again after a lost connection, and reports later changes', async () => {
    const server = library();
    let lose!: () => void;
    let opens = 0;
    let lost = new AbortController();
    const client: Client = await createClient({
      target: 'test',
      options: { reconnect: { baseMs: 1 } },
      open: async (events, open) => {
        opens++;
        lost = new AbortController();
        const { signal } = lost;
        const reason = new McpError('connection_closed', 'lost');
        lose = () => {
          lost.abort(reason);
          events.lost(reason);
        };
        const gone = new Promise<never>((_, reject) =>
          signal.addEventListener('abort', () => reject(reason)),
        );
        gone.catch(() => {});
        const link = await dispatchLink(
          (call) =>
            Promise.race([
              gone,
              server.dispatch({ ...call, signal: AbortSignal.any([call.signal, signal]) }),
            ]),
          { open },
        );
        return link;
      },
    });
    await using _ = client;
    const changes: Change[] = [];
    await client.subscribe('book://1', { onChange: (change) => changes.push(change) });
    lose();
    expect(client.status).toBe('reconnecting');
    await until('it is subscribed again', () => opens === 2 && changes.length > 0);
    changes.length = 0;
    server.changed.resource('book://1');
    expect(changes).toEqual([{ kind: 'resource', uri: 'book://1' }]);
  });
});
