import { createServer, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { expect, onTestFinished, test, vi } from 'vitest';
import { httpSessionExchange } from '../../../../../src/legacy/client/http/exchange.js';
import { McpError } from '../../../../../src/protocol/errors.js';
import type { Exchange, OutgoingRequest } from '../../../../../src/transports/client/exchange.js';
import type { HttpLinkOptions } from '../../../../../src/transports/http/client/link.js';
import {
  error,
  json,
  type Received,
  type Reply,
  result,
  type ScriptedServer,
  scriptedServer,
  status,
  stream,
} from '../../../../support/http/http-server.js';
import { soon, until } from '../../../../support/until.js';

interface Events {
  readonly requests: [string, unknown][];
  readonly notifications: [string, unknown][];
  readonly problems: string[];
  readonly closed: McpError[];
  readonly aborted: unknown[];
}

interface TestExchange extends Events {
  readonly exchange: Exchange;
  readonly ask: (
    method: string,
    params?: object,
    more?: Partial<OutgoingRequest>,
  ) => Promise<Record<string, unknown>>;
}

function open(
  url: URL,
  http: HttpLinkOptions = {},
  answer?: () => Promise<Record<string, unknown>>,
): TestExchange {
  const exchange = httpSessionExchange(url, http);
  const events: Events = { requests: [], notifications: [], problems: [], closed: [], aborted: [] };
  exchange.listen({
    request(method, params, signal) {
      events.requests.push([method, params]);
      signal.addEventListener('abort', () => events.aborted.push(signal.reason));
      return answer?.() ?? Promise.resolve({ ok: true });
    },
    notification: (method, params) => events.notifications.push([method, params]),
    problem: (message) => events.problems.push(message),
    closed: (reason) => events.closed.push(reason),
  });
  return {
    ...events,
    exchange,
    ask: (method, params, more) =>
      soon(
        method,
        exchange.request({
          method,
          params: params as Record<string, unknown>,
          signal: new AbortController().signal,
          ...more,
        }),
      ),
  };
}

async function shakeHands({ ask, exchange }: TestExchange): Promise<void> {
  await ask('initialize', { protocolVersion: '2025-11-25' });
  exchange.notify('notifications/initialized');
}

/** A server of the session era; the test decides about everything else. */
function sessions(rest: Reply): Reply {
  let count = 0;
  return (request, response) => {
    if (request.body?.method === 'initialize') {
      response.setHeader('mcp-session-id', `session-${++count}`);
      return json(response, result(request, { protocolVersion: '2025-06-18', capabilities: {} }));
    }
    if (request.body?.method === 'notifications/initialized') return status(response, 202);
    if (request.method === 'DELETE') return status(response, 204);
    return rest(request, response);
  };
}

const noStream: Reply = (request, response) => {
  if (request.method === 'GET') return status(response, 405);
  return json(response, result(request, {}));
};

function of(server: ScriptedServer, method: string): Received[] {
  return server.received.filter((request) => request.method === method || request.body?.method === method);
}

async function failure(promise: Promise<unknown>): Promise<McpError> {
  const error: unknown = await promise.then(
    () => new Error('It did not fail'),
    (reason: unknown) => reason,
  );
  if (!McpError.is(error)) throw error;
  return error;
}

test('an exchange sends the session and its version, and ends the session with DELETE when it is closed', async () => {
  await using server = await scriptedServer(sessions(noStream));
  const session = open(server.url, { auth: 'abc' });
  await shakeHands(session);
  await session.ask('tools/list');
  await until('the stream was asked for', () => of(server, 'GET').length === 1);
  await session.exchange.close();
  expect(of(server, 'initialize')[0]?.headers).not.toHaveProperty('mcp-protocol-version');
  for (const [what, method] of [
    ['notifications/initialized'],
    ['tools/list'],
    ['GET'],
    ['DELETE', 'DELETE'],
  ]) {
    const [request] = of(server, what as string);
    expect(request?.headers).toMatchObject({
      'mcp-session-id': 'session-1',
      'mcp-protocol-version': '2025-06-18',
      authorization: 'Bearer abc',
    });
    if (method !== undefined) expect(request?.method).toBe(method);
  }
  expect(of(server, 'GET')[0]?.headers.accept).toBe('text/event-stream');
  expect((await failure(session.ask('tools/list'))).code).toBe('connection_closed');
  expect(session.problems).toEqual([]);
  await server.quiet();
});

test('no request overtakes the notification that ends the handshake', async () => {
  let isInitialized = false;
  await using server = await scriptedServer((request, response) => {
    if (request.body?.method !== 'notifications/initialized') return sessions(noStream)(request, response);
    setTimeout(() => {
      isInitialized = true;
      status(response, 202);
    }, 50);
  });
  const session = open(server.url);
  await shakeHands(session);
  await session.ask('tools/list');
  expect(isInitialized).toBe(true);
  await session.exchange.close();
});

test("notifications of a call's stream reach the call or the session, and questions are answered", async () => {
  await using server = await scriptedServer(
    sessions((request, response) => {
      if (request.method === 'GET') return status(response, 405);
      if (request.body?.method !== 'tools/call') return status(response, 202);
      const { say } = stream(response);
      say({ jsonrpc: '2.0', method: 'notifications/message', params: { data: 1 } });
      say({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: request.body.params._meta.progressToken, progress: 5 },
      });
      say({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 'other', progress: 5 },
      });
      say({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
      say({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'x:y' } });
      say({ jsonrpc: '2.0', id: 'q1', method: 'roots/list' });
      const waiting = setInterval(() => {
        if (!server.received.some(({ body }) => body?.result !== undefined)) return;
        clearInterval(waiting);
        say(result(request, { done: true }));
        response.end();
      }, 5);
    }),
  );
  const session = open(server.url);
  await shakeHands(session);
  const own: unknown[] = [];
  const params = { name: 'x', _meta: { progressToken: 'mine', other: 1 } };
  expect(await session.ask('tools/call', params, { onNotification: (...event) => own.push(event) })).toEqual({
    done: true,
  });
  expect(own).toEqual([
    ['notifications/message', { data: 1 }],
    ['notifications/progress', { progressToken: 'mine', progress: 5 }],
  ]);
  expect(session.notifications).toEqual([
    ['notifications/tools/list_changed', undefined],
    ['notifications/resources/updated', { uri: 'x:y' }],
  ]);
  expect(session.requests).toEqual([['roots/list', undefined]]);
  expect(server.received.find(({ body }) => body?.result !== undefined)).toMatchObject({
    headers: { 'mcp-session-id': 'session-1' },
    body: { jsonrpc: '2.0', id: 'q1', result: { ok: true } },
  });
  expect(of(server, 'tools/call')[0]?.body?.params._meta.other).toBe(1);
  await session.exchange.close();
});

test('an answer is sent until the server has it: the process that it was sent to may have died', async () => {
  let answers = 0;
  await using server = await scriptedServer(
    sessions((request, response) => {
      if (request.method === 'GET') return status(response, 405);
      if (request.body?.method === undefined) {
        answers++;
        if (answers === 1) return void response.destroy();
        if (answers === 2) return status(response, 503);
        return status(response, 202);
      }
      const { say } = stream(response);
      say({ jsonrpc: '2.0', id: 'q1', method: 'roots/list' });
      const waiting = setInterval(() => {
        if (answers < 3) return;
        clearInterval(waiting);
        say(result(request, { done: true }));
        response.end();
      }, 5);
    }),
  );
  const session = open(server.url);
  await shakeHands(session);
  expect(await session.ask('tools/call')).toEqual({ done: true });
  await session.exchange.close();
  expect(answers).toBe(3);
  expect(session.problems).toEqual([]);
});

test('an answer that the server rejects is reported, and not sent again', async () => {
  let answers = 0;
  await using server = await scriptedServer(
    sessions((request, response) => {
      if (request.method === 'GET') return status(response, 405);
      if (request.body?.method === undefined) {
        answers++;
        return status(response, 400);
      }
      const { say } = stream(response);
      say({ jsonrpc: '2.0', id: 'q1', method: 'roots/list' });
      const waiting = setInterval(() => {
        if (session.problems.length === 0) return;
        clearInterval(waiting);
        say(result(request, { done: true }));
        response.end();
      }, 5);
    }),
  );
  const session = open(server.url);
  await shakeHands(session);
  await session.ask('tools/call');
  await session.exchange.close();
  expect(answers).toBe(1);
  expect(session.problems).toEqual(['An answer did not reach the server.']);
});

test('a question is aborted when its call ends or the server withdraws it', async () => {
  await using server = await scriptedServer(
    sessions((request, response) => {
      if (request.method === 'GET') return status(response, 405);
      const { say } = stream(response);
      say({ jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: {} });
      say({ jsonrpc: '2.0', id: 2, method: 'elicitation/create', params: {} });
      say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } });
      setTimeout(() => say(result(request, {})), 30);
    }),
  );
  const session = open(server.url, {}, () => new Promise(() => {}));
  await shakeHands(session);
  const call = session.ask('tools/call');
  await until('one is withdrawn', () => session.aborted.length === 1);
  await call;
  expect(session.aborted).toHaveLength(2);
  await session.exchange.close();
  await server.quiet();
});

test('the stream of the session is resumed where it ended, at the time that the server requests', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => timers.mockRestore());
  let streams = 0;
  await using server = await scriptedServer(
    sessions((request, response) => {
      if (request.method !== 'GET') return json(response, result(request, {}));
      stream(response).say(
        { jsonrpc: '2.0', method: 'notifications/prompts/list_changed' },
        `id: e${streams}\nretry: ${123 + streams}\n`,
      );
      streams += 1;
      if (streams < 3) response.end();
    }),
  );
  const session = open(server.url);
  await shakeHands(session);
  await until('three streams were opened', () => session.notifications.length === 3);
  const gets = of(server, 'GET');
  expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'e0', 'e1']);
  const delays = timers.mock.calls.map(([, ms]) => ms);
  expect(delays.filter((ms) => ms === 123 || ms === 124)).toEqual([123, 124]);
  await session.exchange.close();
  await server.quiet();
});

test('a stream is retried after a 500, which is reported, and not after a 404', async () => {
  let tries = 0;
  await using server = await scriptedServer(
    sessions((request, response) => {
      if (request.method !== 'GET') return json(response, result(request, {}));
      tries += 1;
      status(response, tries === 1 ? 500 : 404);
    }),
  );
  const session = open(server.url);
  await shakeHands(session);
  await until('it was tried twice', () => tries === 2);
  await session.ask('tools/list');
  expect(session.problems).toHaveLength(1);
  expect(session.closed).toEqual([]);
  await session.exchange.close();
  expect(tries).toBe(2);
});

test.each([
  ['in any script, which is sent back in UTF-8', 'größe-日本', 'größe-日本'],
  ['that no header can carry, which is not sent back', 'a\u0001b', undefined],
  ['that is longer than servers read, which is not sent back', 'x'.repeat(100_000), undefined],
])('a stream is reopened after an event id %s', async (_, id, sentBack) => {
  let streams = 0;
  await using server = await scriptedServer(
    sessions((request, response) => {
      if (request.method !== 'GET') return status(response, 200);
      streams += 1;
      const { say } = stream(response);
      if (streams === 1) response.end(`retry: 1\nid: ${id}\ndata:\n\n`);
      else say({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    }),
  );
  const session = open(server.url);
  await shakeHands(session);
  await until('the second stream has sent a message', () => session.notifications.length > 0);
  const header = server.received.filter(({ method }) => method === 'GET')[1]?.headers['last-event-id'];
  expect(header === undefined ? undefined : Buffer.from(String(header), 'latin1').toString()).toBe(sentBack);
  expect(session.problems).toEqual([]);
  await session.exchange.close();
});

test('a response is awaited across streams: retry is followed exactly, and a broken stream is resumed too', async () => {
  let closedAt = 0;
  await using server = await scriptedServer(
    sessions((request, response) => {
      if (request.method === 'GET' && request.headers['last-event-id'] === undefined)
        return status(response, 405);
      if (request.method !== 'GET') {
        stream(response);
        response.write('id: a1\nretry: 500\ndata: \n\n');
        return void setTimeout(() => response.end(() => (closedAt = performance.now())), 50);
      }
      const { say } = stream(response);
      if (request.headers['last-event-id'] === 'a1') {
        say({ jsonrpc: '2.0', method: 'notifications/message', params: {} }, 'id: a2\nretry: 10\n');
        return void setTimeout(() => response.destroy(), 20);
      }
      const [call] = of(server, 'tools/call');
      say(result(call as Received, { finally: true }));
      response.end();
    }),
  );
  const session = open(server.url);
  await shakeHands(session);
  await until('there is no stream', () => of(server, 'GET').length === 1);
  const own: unknown[] = [];
  const timers = vi.spyOn(globalThis, 'setTimeout');
  expect(await session.ask('tools/call', {}, { onNotification: (method) => own.push(method) })).toEqual({
    finally: true,
  });
  expect(own).toEqual(['notifications/message']);
  const gets = of(server, 'GET').slice(1);
  expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual(['a1', 'a2']);
  const waited = (gets[0]?.at ?? 0) - closedAt;
  expect(waited).toBeGreaterThan(450);
  expect(timers.mock.calls.map(([, ms]) => ms)).toEqual(expect.arrayContaining([500, 10]));
  await session.exchange.close();
  await server.quiet();
});

test.each<[string, string, number]>([
  ['the stream had no event id to resume after', '', 0],
  ['the server does not resume the stream', 'id: x\nretry: 1\ndata: \n\n', 1],
])('a call whose stream ends without a response fails: %s', async (_, text, gets) => {
  await using server = await scriptedServer(
    sessions((request, response) => {
      if (request.method === 'GET') return status(response, 405);
      stream(response);
      response.end(text);
    }),
  );
  const session = open(server.url);
  await session.ask('initialize');
  const error = await failure(session.ask('tools/call'));
  expect(error).toMatchObject({ code: 'connection_closed', data: { incomplete: true } });
  expect(of(server, 'GET')).toHaveLength(gets);
  await session.exchange.close();
});

test.each<[string, Reply]>([
  ['404', (_, response) => status(response, 404)],
  [
    '404 with an error',
    (_, response) =>
      json(
        response,
        { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } },
        404,
      ),
  ],
  [
    '400 about the session',
    (_, response) =>
      json(
        response,
        {
          jsonrpc: '2.0',
          id: null,
          error: { code: -32000, message: 'Bad Request: No valid session ID provided' },
        },
        400,
      ),
  ],
])('a lost session fails the call, and a new session begins without the old id: %s', async (_, lost) => {
  await using server = await scriptedServer(
    sessions((request, response) => {
      if (request.method === 'GET') return void stream(response);
      if (request.headers['mcp-session-id'] === 'session-1') return lost(request, response);
      return json(response, result(request, { fine: true }));
    }),
  );
  const session = open(server.url);
  await shakeHands(session);
  expect(await failure(session.ask('tools/list'))).toMatchObject({
    code: 'connection_closed',
    data: { sessionLost: true },
  });
  await until('the stream is open', () => of(server, 'GET').length === 1);
  await shakeHands(session);
  expect(await session.ask('tools/list')).toEqual({ fine: true });
  await until('the new stream is open', () => of(server, 'GET').length === 2);
  expect(of(server, 'initialize').map(({ headers }) => headers['mcp-session-id'])).toEqual([
    undefined,
    undefined,
  ]);
  expect(of(server, 'GET').map(({ headers }) => headers['mcp-session-id'])).toEqual([
    'session-1',
    'session-2',
  ]);
  await session.exchange.close();
  await server.quiet();
  expect(session.closed).toEqual([]);
});

test('an exchange is closed, and its calls fail, if the stream of the session cannot be resumed because of a 404', async () => {
  let opens = 0;
  await using server = await scriptedServer(
    sessions((request, response) => {
      if (request.method !== 'GET') return void stream(response);
      if (++opens > 1) return status(response, 404);
      stream(response);
      response.end('retry: 5\n\n');
    }),
  );
  const session = open(server.url);
  await shakeHands(session);
  const call = failure(session.ask('tools/call'));
  await until('it is closed', () => session.closed.length === 1);
  expect(session.closed[0]).toMatchObject({ code: 'connection_closed', data: { sessionLost: true } });
  expect((await call).code).toBe('connection_closed');
  await session.exchange.close();
  await server.quiet();
});

test('a JSON-RPC error with status 404 is not a lost session', async () => {
  await using server = await scriptedServer(
    sessions((request, response) => json(response, error(request, -32601, 'No'), 404)),
  );
  const session = open(server.url);
  await session.ask('initialize');
  expect((await failure(session.ask('x/y'))).code).toBe('method_not_found');
  await session.exchange.close();
});

test('the server is told of a cancelled request, but not of a cancelled handshake', async () => {
  await using server = await scriptedServer((request, response) => {
    if (
      request.body?.id !== undefined &&
      !(request.body.method === 'initialize' && of(server, 'initialize').length === 1)
    ) {
      return void stream(response);
    }
    return sessions(noStream)(request, response);
  });
  const session = open(server.url);
  await shakeHands(session);
  for (const method of ['tools/call', 'initialize']) {
    const before = server.received.length;
    const stop = new AbortController();
    const call = failure(session.ask(method, {}, { signal: stop.signal }));
    await until('it has arrived', () =>
      server.received.slice(before).some(({ body }) => body?.method === method),
    );
    stop.abort(new McpError('timeout', 'Too long'));
    expect((await call).message).toBe('Too long');
  }
  await until('the server is told', () => of(server, 'notifications/cancelled').length > 0);
  await session.exchange.close();
  expect(of(server, 'notifications/cancelled').map(({ body }) => body?.params)).toEqual([
    { requestId: of(server, 'tools/call')[0]?.body?.id, reason: 'Too long' },
  ]);
  await server.quiet();
});

test('the server hears of a cancelled request before its connection is closed, and the caller waits for neither', async () => {
  const order: string[] = [];
  let accept: (() => void) | undefined;
  await using server = await scriptedServer((request, response) => {
    if (request.body?.method === 'tools/call') {
      response.on('close', () => order.push('closed'));
      return void stream(response);
    }
    if (request.body?.method !== 'notifications/cancelled') return sessions(noStream)(request, response);
    order.push('told');
    accept = () => sessions(noStream)(request, response);
  });
  const session = open(server.url);
  await shakeHands(session);
  const stop = new AbortController();
  const call = failure(session.ask('tools/call', {}, { signal: stop.signal }));
  await until('it has arrived', () => of(server, 'tools/call').length > 0);
  stop.abort(new McpError('timeout', 'Too long'));
  expect((await call).message).toBe('Too long');
  await until('the server is told', () => accept !== undefined);
  // A connection that was closed before would be seen as closed by now.
  for (let at = 0; at < 3; at++) await session.ask('ping');
  order.push('accepted');
  accept?.();
  await until('the connection is closed', () => order.includes('closed'));
  expect(order).toEqual(['told', 'accepted', 'closed']);
  await session.exchange.close();
  await server.quiet();
});

test('a cancelled request that the server does not hear of ends its connection as well', async () => {
  let isClosed = false;
  await using server = await scriptedServer((request, response) => {
    if (request.body?.method === 'notifications/cancelled') return;
    if (request.body?.method !== 'tools/call') return sessions(noStream)(request, response);
    response.on('close', () => {
      isClosed = true;
    });
    stream(response);
  });
  const session = open(server.url);
  await shakeHands(session);
  const stop = new AbortController();
  const call = failure(session.ask('tools/call', {}, { signal: stop.signal }));
  await until('it has arrived', () => of(server, 'tools/call').length > 0);
  stop.abort();
  expect((await call).code).toBe('cancelled');
  await until('the connection is closed', () => isClosed);
  await session.exchange.close();
});

test('close does not wait for a server that does not answer the DELETE', async () => {
  await using server = await scriptedServer((request, response) => {
    if (request.method !== 'DELETE') sessions(noStream)(request, response);
  });
  const session = open(server.url);
  await session.ask('initialize');
  await soon('the end', session.exchange.close());
  await server.quiet();
});

test('an exchange carries progress, a question and a cancellation of a fullmcp server in its session era', async () => {
  let finish = (): void => {};
  const own = createServer({
    name: 'own',
    version: '1.0.0',
    changes: true,
    tools: {
      greet: tool({
        run: async (_input, { progress, elicit }) => {
          progress(1, 2);
          const answer = await elicit('who', {
            message: 'Who?',
            schema: { type: 'object', properties: { name: { type: 'string' } } },
          });
          return JSON.stringify(answer);
        },
      }),
      wait: tool({
        run: async (_input, { signal }) => {
          await new Promise<void>((resolve) => {
            signal.addEventListener('abort', () => resolve());
            finish = resolve;
          });
          return 'done';
        },
      }),
    },
  });
  await using serving = await serve(own, {
    port: 0,
    signals: false,
    secret: 'a-secret-that-is-long-enough-for-this',
  });
  const session = open(new URL(serving.url), {}, async () => ({
    action: 'accept',
    content: { name: 'Ada' },
  }));
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 't', version: '1' },
  };
  expect(await session.ask('initialize', params)).toMatchObject({ protocolVersion: '2025-11-25' });
  session.exchange.notify('notifications/initialized');
  const progress: unknown[] = [];
  const greeting = await session.ask(
    'tools/call',
    { name: 'greet', arguments: {}, _meta: { progressToken: 'p' } },
    { onNotification: (_, params) => progress.push(params) },
  );
  expect(JSON.stringify(greeting)).toContain('Ada');
  expect(progress).toMatchObject([{ progressToken: 'p', progress: 1 }]);
  const stop = new AbortController();
  const waiting = failure(
    session.ask('tools/call', { name: 'wait', arguments: {} }, { signal: stop.signal }),
  );
  await until('it waits', () => finish.name !== 'finish');
  stop.abort();
  expect((await waiting).code).toBe('cancelled');
  await session.exchange.close();
  expect(session.problems).toEqual([]);
});
