import { beforeEach, expect, test, vi } from 'vitest';
import {
  RefusedError,
  type WindowChannel,
  type WindowChannelOptions,
  windowChannel,
} from '../../../src/jsonrpc/window-channel.js';

// Two windows of one process: what one posts reaches the listener of the other.

type Listener = (event: { source: unknown; origin: string; data: unknown }) => void;
interface End {
  readonly channel: WindowChannel;
  /** The messages that this end has posted, with the origins that they were for. */
  readonly posted: { data: Record<string, unknown>; target: string }[];
  readonly receive: Listener;
}

let listeners: Listener[];
beforeEach(() => {
  listeners = [];
  vi.stubGlobal('addEventListener', (_type: string, listener: Listener) => listeners.push(listener));
  vi.stubGlobal('removeEventListener', (_type: string, listener: Listener) => {
    listeners = listeners.filter((one) => one !== listener);
  });
});

const options = { timeoutMs: 1000, cancelMethod: 'cancel', onNotification: () => undefined };

/** Opens a channel in one window to another, which gets what is posted. */
function open(
  own: Partial<WindowChannelOptions>,
  deliver: (data: unknown) => void = () => undefined,
): End & { peer: object } {
  const posted: End['posted'] = [];
  const peer = {
    postMessage(message: unknown, target: string): void {
      const data = structuredClone(message) as Record<string, unknown>;
      posted.push({ data, target });
      deliver(data);
    },
  };
  const channel = windowChannel({ ...options, onRequest: async () => undefined, ...own, peer });
  const receive = listeners.at(-1) as Listener;
  return { channel, posted, receive, peer };
}

/** Two channels that talk to each other. */
function pair(page: Partial<WindowChannelOptions>): { host: End & { peer: object }; page: End } {
  let toPage: (data: unknown) => void = () => undefined;
  const host = open({}, (data) => toPage(data));
  const other = open(page, (data) => {
    queueMicrotask(() => host.receive({ source: host.peer, origin: 'https://page.example', data }));
  });
  toPage = (data) => {
    queueMicrotask(() => other.receive({ source: other.peer, origin: 'https://host.example', data }));
  };
  return { host, page: other };
}

test('a request of one window is answered by the other, and requests have ids of their own', async () => {
  const { host } = pair({ onRequest: async (method, params) => ({ method, params }) });
  const answers = await Promise.all([host.channel.request('one', { a: 1 }), host.channel.request('two', {})]);
  expect(answers).toEqual([
    { method: 'one', params: { a: 1 } },
    { method: 'two', params: {} },
  ]);
  expect(new Set(host.posted.map(({ data }) => data['id'])).size).toBe(2);
});

test.each([
  ['is unknown', async () => undefined, -32601, 'Method not found: work'],
  ['throws', () => Promise.reject(new Error('Out of ink')), -32000, 'Out of ink'],
  ['is refused with a code', () => Promise.reject(new RefusedError('No', 7)), 7, 'No'],
])(
  'a request whose method %s fails with the code and the reason of the other window',
  async (_, onRequest, code, message) => {
    const { host } = pair({ onRequest });
    await expect(host.channel.request('work', {})).rejects.toMatchObject({
      name: 'RefusedError',
      code,
      message,
    });
  },
);

test('messages of other windows and of other origins are ignored', () => {
  const heard: string[] = [];
  const own = open({ origin: 'https://page.example', onNotification: (method) => heard.push(method) });
  const data = { jsonrpc: '2.0', method: 'hello' };
  own.receive({ source: {}, origin: 'https://page.example', data });
  own.receive({ source: own.peer, origin: 'https://evil.example', data });
  own.receive({ source: own.peer, origin: 'https://page.example', data: { method: 'hello' } });
  expect(heard).toEqual([]);
  own.receive({ source: own.peer, origin: 'https://page.example', data });
  expect(heard).toEqual(['hello']);
});

test('after the first response, a channel without an origin talks to that of the response only', async () => {
  const { host } = pair({ onRequest: async () => ({}) });
  await host.channel.request('one', {});
  host.channel.notify('later');
  expect(host.posted.map(({ target }) => target)).toEqual(['*', 'https://page.example']);
});

test('a request that is aborted fails at once, and the other window stops its work and does not respond', async () => {
  let stopped: AbortSignal | undefined;
  const { host, page } = pair({
    onRequest: (_method, _params, signal) => {
      stopped = signal;
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve({})));
    },
  });
  const abort = new AbortController();
  const waiting = host.channel.request('work', {}, { signal: abort.signal });
  await vi.waitUntil(() => stopped !== undefined);
  abort.abort(new Error('Enough'));
  await expect(waiting).rejects.toThrow('Enough');
  await vi.waitUntil(() => stopped?.aborted);
  expect(host.posted.at(-1)?.data).toMatchObject({ method: 'cancel', params: { requestId: 1 } });
  expect(page.posted).toEqual([]);
  await expect(host.channel.request('work', {}, { signal: abort.signal })).rejects.toThrow('Enough');
});

test('a request without a response fails after its time, and the other window is told', async () => {
  vi.useFakeTimers();
  try {
    const own = open({});
    const waiting = own.channel.request('work', {});
    const failed = expect(waiting).rejects.toThrow('work was not answered within 1000 ms');
    await vi.advanceTimersByTimeAsync(1000);
    await failed;
    expect(own.posted.map(({ data }) => data['method'])).toEqual(['work', 'cancel']);
  } finally {
    vi.useRealTimers();
  }
});

test('at most 64 requests are open in each direction', async () => {
  const own = open({ onRequest: () => new Promise(() => undefined) });
  const waiting = Array.from({ length: 64 }, () => own.channel.request('work', {}));
  await expect(own.channel.request('work', {})).rejects.toThrow('64 requests wait for a response already.');
  own.posted.length = 0;
  const ask = (id: number): void =>
    own.receive({ source: own.peer, origin: 'null', data: { jsonrpc: '2.0', id, method: 'work' } });
  for (let id = 1; id <= 65; id++) ask(id);
  expect(own.posted.map(({ data }) => data)).toEqual([
    { jsonrpc: '2.0', id: 65, error: { code: -32000, message: '64 requests are open already.' } },
  ]);
  own.channel.close('The page is gone');
  for (const one of await Promise.allSettled(waiting))
    expect(one).toMatchObject({ status: 'rejected', reason: { message: 'The page is gone' } });
});

test('a channel that is closed fails what is open, aborts what it answers, and is silent', async () => {
  let signal: AbortSignal | undefined;
  const own = open({
    onRequest: (_method, _params, given) => {
      signal = given;
      return new Promise(() => undefined);
    },
  });
  own.receive({ source: own.peer, origin: 'null', data: { jsonrpc: '2.0', id: 'a', method: 'work' } });
  own.channel.close('Done');
  expect(signal?.aborted).toBe(true);
  expect(listeners).toEqual([]);
  own.channel.notify('late');
  await expect(own.channel.request('late', {})).rejects.toThrow('Done');
  expect(own.posted).toEqual([]);
});

test('a message whose method is not a string is ignored, with an id and without', async () => {
  const heard: unknown[] = [];
  const own = open({
    onNotification: (method) => heard.push(method),
    onRequest: async (method) => ({ method }),
  });
  for (const id of [undefined, 1])
    own.receive({ source: own.peer, origin: 'null', data: { jsonrpc: '2.0', id, method: 5 } });
  own.receive({ source: own.peer, origin: 'null', data: { jsonrpc: '2.0', id: 2, method: 'work' } });
  await vi.waitUntil(() => own.posted.length > 0);
  expect(heard).toEqual([]);
  expect(own.posted.map(({ data }) => data['result'])).toEqual([{ method: 'work' }]);
});

test('messages that are not JSON are refused in both directions, and without a request nobody is told', async () => {
  const heard: string[] = [];
  const { host, page } = pair({
    onRequest: async () => ({ n: 1n }),
    onNotification: (method) => heard.push(method),
  });
  const refused = { code: -32600, message: expect.stringContaining('is not JSON') };
  await expect(host.channel.request('work', {})).rejects.toMatchObject(refused);
  await expect(host.channel.request('work', { n: 1n })).rejects.toMatchObject(refused);
  page.posted.length = 0;
  host.channel.notify('hello', { n: 1n });
  host.channel.notify('after', {});
  await vi.waitUntil(() => heard.length > 0);
  expect(heard).toEqual(['after']);
  expect(page.posted).toEqual([]);
});

test.each(['aborted by the window that asked', 'ended with its channel'])(
  'a request that is %s is not answered, also if its work fails then',
  async (what) => {
    let fail: ((error: Error) => void) | undefined;
    let isStopped = false;
    const { host, page } = pair({
      onRequest: (_method, _params, signal) =>
        new Promise((_, reject) => {
          fail = reject;
          signal.addEventListener('abort', () => {
            isStopped = true;
          });
        }),
    });
    const abort = new AbortController();
    const waiting = host.channel.request('work', {}, { signal: abort.signal }).catch(() => undefined);
    await vi.waitUntil(() => fail !== undefined);
    if (what.startsWith('aborted')) abort.abort();
    else page.channel.close('Gone');
    await vi.waitUntil(() => isStopped);
    fail?.(new Error('Stopped'));
    host.channel.close('Gone');
    await waiting;
    expect(page.posted).toEqual([]);
  },
);
