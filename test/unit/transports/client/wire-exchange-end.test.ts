import { describe, expect, test } from 'vitest';
import { McpError } from '../../../../src/protocol/errors.js';
import { exchangeOnMemory, note, result, turn } from '../../../support/wires/memory-wire.js';

// Requests that end without a response, and requests of the peer.

describe('cancelling a request', () => {
  test('notifies the peer, rejects, and ignores one late response', async () => {
    const { wire, ask, events } = exchangeOnMemory();
    const controller = new AbortController();
    const response = ask('tools/call', { signal: controller.signal });
    const reason = new Error('an internal matter');
    controller.abort(reason);
    await expect(response).rejects.toMatchObject({ code: 'cancelled', cause: reason });
    expect(wire.sent[1]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 1, reason: 'The call was cancelled' },
    });
    wire.arrive(result(1));
    expect(events.problems).toEqual([]);
    wire.arrive(result(1));
    expect(events.problems).toHaveLength(1);
  });

  test('rejects with the reason if it is an McpError', async () => {
    const { wire, ask } = exchangeOnMemory();
    const controller = new AbortController();
    const response = ask('tools/call', { signal: controller.signal });
    const reason = new McpError('timeout', 'No answer within 5 s');
    controller.abort(reason);
    await expect(response).rejects.toBe(reason);
    expect(wire.sent[1]?.['params']).toEqual({ requestId: 1, reason: 'No answer within 5 s' });
  });

  test('sends nothing if the request was not sent yet, and no notification for the handshake', async () => {
    const { wire, ask } = exchangeOnMemory();
    await expect(ask('a', { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' });
    expect(wire.sent).toEqual([]);
    const controller = new AbortController();
    const response = ask('initialize', { signal: controller.signal });
    controller.abort();
    await expect(response).rejects.toMatchObject({ code: 'cancelled' });
    expect(wire.sent).toHaveLength(1);
  });

  test('does nothing after the response', async () => {
    const { wire, ask } = exchangeOnMemory();
    const controller = new AbortController();
    const response = ask('a', { signal: controller.signal });
    wire.arrive(result(1));
    controller.abort();
    expect(await response).toEqual({ ok: true });
    expect(wire.sent).toHaveLength(1);
  });

  test('by the server ends a subscription and no other request', async () => {
    const { wire, ask, events } = exchangeOnMemory();
    const [listening, calling] = [ask('subscriptions/listen'), ask('tools/call')];
    for (const requestId of [1, 2, 3]) wire.arrive(note('notifications/cancelled', { requestId }));
    wire.arrive(result(1), result(2));
    await expect(listening).rejects.toMatchObject({ code: 'connection_closed' });
    expect(await calling).toEqual({ ok: true });
    expect(events.problems).toEqual([]);
  });
});

describe('requests of the peer', () => {
  const request = (id: unknown, method = 'ping', params?: object): object => ({
    jsonrpc: '2.0',
    id,
    method,
    params,
  });

  test('are answered with a result, or with an error that is masked unless it is an McpError', async () => {
    const { wire } = exchangeOnMemory(async (method, params) => {
      if (method === 'known') throw new McpError('invalid_params', 'Known mistake', { data: 1 });
      if (method === 'unknown') throw new Error('not for the peer');
      if (method === 'circular') return { big: 1n };
      return { method, params };
    });
    wire.arrive(
      request('s1', 'x', { a: 1 }),
      request(1, 'known'),
      request(2, 'unknown'),
      request(3, 'circular'),
    );
    await turn();
    expect(wire.sent).toHaveLength(4);
    expect(wire.sent).toEqual(
      expect.arrayContaining([
        { jsonrpc: '2.0', id: 's1', result: { method: 'x', params: { a: 1 } } },
        { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'Known mistake', data: 1 } },
        { jsonrpc: '2.0', id: 2, error: { code: -32603, message: 'Internal error' } },
        { jsonrpc: '2.0', id: 3, error: { code: -32603, message: 'Internal error' } },
      ]),
    );
  });

  test('that cannot be read are rejected, and are not taken for responses', async () => {
    const { wire, ask, events } = exchangeOnMemory();
    const response = ask('a');
    wire.arrive({ ...request(1), params: [1] });
    expect(wire.sent[1]).toMatchObject({ id: 1, error: { code: -32600 } });
    wire.arrive(result(1));
    await response;
    expect(events.problems).toHaveLength(1);
  });

  test('that are cancelled get no response, and an unknown cancellation does no harm', async () => {
    const signals: AbortSignal[] = [];
    const { wire } = exchangeOnMemory((_method, _params, signal) => {
      signals.push(signal);
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve({})));
    });
    wire.arrive(request(5), request(6));
    wire.arrive(note('notifications/cancelled', { requestId: 5 }), note('notifications/cancelled', {}));
    await turn();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect(wire.sent).toEqual([]);
  });

  test('that come twice are answered once, because an error would be taken for the response', async () => {
    let answer!: (value: object) => void;
    let requests = 0;
    const { wire } = exchangeOnMemory(() => {
      requests += 1;
      return new Promise((resolve) => {
        answer = resolve as typeof answer;
      });
    });
    wire.arrive(request(1), request(1));
    await turn();
    expect(wire.sent).toEqual([]);
    answer({ ok: true });
    await turn();
    expect(wire.sent).toEqual([{ jsonrpc: '2.0', id: 1, result: { ok: true } }]);
    expect(requests).toBe(1);
  });

  test('are at most a hundred at once, each with its own id', async () => {
    const { wire } = exchangeOnMemory(() => new Promise(() => undefined));
    // A duplicate is answered once, when the response is ready.
    wire.arrive(request(0), request(0));
    expect(wire.sent).toEqual([]);
    for (let id = 1; id <= 100; id++) wire.arrive(request(id));
    expect(wire.sent).toEqual([
      { jsonrpc: '2.0', id: 100, error: { code: -32603, message: '100 requests are already open' } },
    ]);
  });

  test('are aborted with the connection, and get no response', async () => {
    let signal: AbortSignal | undefined;
    const { wire } = exchangeOnMemory((_method, _params, requestSignal) => {
      signal = requestSignal;
      return new Promise((resolve) => requestSignal.addEventListener('abort', () => resolve({})));
    });
    wire.arrive(request(1));
    const reason = new McpError('connection_closed', 'It ended');
    wire.lose(reason);
    await turn();
    expect(signal?.reason).toBe(reason);
    expect(wire.sent).toEqual([]);
  });
});

describe('the end of an exchange', () => {
  test('by the wire rejects open and later requests with its reason, and is reported once', async () => {
    const { wire, ask, events, exchange } = exchangeOnMemory();
    const order: string[] = [];
    const reason = new McpError('connection_closed', 'The server has ended with exit code 1');
    const response = [ask('a'), ask('b')].map((one) =>
      one.catch((error) => order.push(error === reason ? 'a' : '?')),
    );
    wire.lose(reason);
    wire.lose(new McpError('connection_closed', 'again'));
    await Promise.all(response);
    expect(order).toEqual(['a', 'a']);
    expect(events.ends).toEqual([reason]);
    await expect(ask('c')).rejects.toBe(reason);
    exchange.notify('x');
    expect(wire.sent).toHaveLength(2);
  });

  test('by closing rejects open and later requests, and is not reported', async () => {
    const { wire, ask, events, exchange } = exchangeOnMemory();
    const response = ask('a');
    const closing = exchange.close();
    await expect(response).rejects.toMatchObject({ code: 'connection_closed' });
    await closing;
    wire.lose(new McpError('connection_closed', 'late'));
    wire.arrive(result(1), note('x'));
    expect([events.ends, events.problems, events.notifications]).toEqual([[], [], []]);
    await expect(ask('b')).rejects.toMatchObject({ code: 'connection_closed' });
    expect(wire.closes()).toBe(1);
  });
});
