import { afterEach, describe, expect, test } from 'vitest';
import { type Client, type ConnectOptions, connect, KnownServers } from '../../../src/client.js';
import { cleanup, failure, statuses } from '../../support/faults.js';
import {
  type Act,
  type Acts,
  content,
  type FaultyServer,
  faultyServer,
  pour,
  printEvent,
  sessionServer,
  sseServer,
} from '../../support/http/faulty-http.js';
import { json, result, stream } from '../../support/http/http-server.js';
import { leaveNothingBehind } from '../../support/leaks.js';
import { soon, until } from '../../support/until.js';

// Failures between a client and a server of the session era: 2025-11-25 over HTTP, and HTTP+SSE.

leaveNothingBehind();
const { closeLater, closeAll } = cleanup();
afterEach(closeAll);

const never: Act = () => undefined;
const half = JSON.stringify({ jsonrpc: '2.0', id: 1, result: content('half') }).slice(0, 40);

async function connectTo({ url }: FaultyServer, options: ConnectOptions = {}): Promise<Client> {
  const reconnect = { baseMs: 10, maxMs: 50 };
  return closeLater(await connect(url, { knownServers: new KnownServers(), reconnect, ...options }));
}

async function startSessions(acts: Acts = {}, sessions?: Set<string>): Promise<FaultyServer> {
  return closeLater(await faultyServer(() => sessionServer(acts, sessions)));
}

async function startSse(acts: Acts = {}): Promise<FaultyServer> {
  return closeLater(await faultyServer(() => sseServer(acts), '/sse'));
}

describe('a client with a session over HTTP', () => {
  test('opens another session with the same subscription, unnoticed, if the server forgets the first', async () => {
    const sessions = new Set<string>();
    const server = await startSessions({}, sessions);
    const client = await connectTo(server);
    const history = statuses(client);
    await client.subscribe('note://1');
    sessions.clear();
    expect((await client.callTool('echo', { text: 'new' })).text).toBe('new');
    expect(sessions.size).toBe(1);
    // The new session received the settings of the old one.
    expect(server.requests().filter((request) => request === 'resources/subscribe')).toHaveLength(2);
    expect(client.status).toBe('ready');
    expect(history()).not.toContain('closed');
  });

  test('fails a call if the server also forgets the session that replaces a forgotten one', async () => {
    const sessions = new Set<string>();
    const server = await startSessions({}, sessions);
    const client = await connectTo(server);
    sessions.add = () => sessions;
    sessions.clear();
    const error = await failure(client.callTool('echo'));
    expect(error.code).toBe('connection_closed');
    expect(error.message).toContain('session');
  });

  test('works again after the server died during a call and restarted without sessions', async () => {
    const server = await startSessions({ never });
    const client = await connectTo(server);
    const open = failure(client.callTool('never'));
    await until('the call has arrived', () => server.requests().includes('tools/call never'));
    await server.die();
    const error = await open;
    expect(error.code).toBe('connect_failed');
    expect(error.message).toContain(server.url);
    const gone = await failure(client.callTool('echo'));
    expect(gone.message).toContain('nothing listens there');
    await server.revive();
    expect((await client.callTool('echo', { text: 'back' })).text).toBe('back');
  });

  test('times out without a response, cancels the call at the server, and closes the request', async () => {
    const server = await startSessions({ never });
    const client = await connectTo(server);
    const error = await failure(client.callTool('never', {}, { timeoutMs: 200 }));
    expect(error.code).toBe('timeout');
    await until('the server has received the cancellation', () =>
      server.requests().includes('notifications/cancelled'),
    );
    await until('the request is closed', () => server.open() === 0);
    expect(client.pending()).toEqual([]);
    expect((await client.callTool('echo')).text).toBe('hello');
  });

  test('fails a call whose stream breaks off within an event, and the next call works', async () => {
    const server = await startSessions({
      cut: (_request, response) => {
        stream(response);
        response.write(`data: ${half}`);
        setImmediate(() => response.socket?.destroy());
      },
    });
    const client = await connectTo(server);
    const error = await failure(client.callTool('cut'));
    expect(error.code).toBe('connection_closed');
    expect(error.message).toBe(`The answer of ${server.url} ended before it was complete.`);
    expect((await client.callTool('echo')).text).toBe('hello');
  });

  test("resumes a call's stream that breaks off within an event, if an earlier event has an id", async () => {
    let id: unknown;
    const server = await startSessions({
      cut: ({ body }, response) => {
        id = body?.id;
        stream(response);
        response.write(`id: here\nretry: 20\ndata:\n\ndata: ${half}`);
        setImmediate(() => response.socket?.destroy());
      },
      GET: ({ headers }, response) => {
        if (headers['last-event-id'] !== 'here') return void response.writeHead(405).end();
        stream(response).say({ jsonrpc: '2.0', id, result: content('resumed') });
        response.end();
      },
    });
    const client = await connectTo(server);
    expect((await client.callTool('cut')).text).toBe('resumed');
  });

  test('fails a call whose stream cannot be resumed', async () => {
    const server = await startSessions({
      cut: (_request, response) => {
        stream(response);
        response.end('id: here\nretry: 5\ndata:\n\n');
      },
      GET: ({ headers }, response) =>
        void response.writeHead(headers['last-event-id'] === undefined ? 405 : 400).end(),
    });
    const client = await connectTo(server);
    const error = await failure(client.callTool('cut'));
    expect(error.code).toBe('connection_closed');
    expect(error.message).toContain(server.url);
  });

  test('finds the response among wrong ids, garbage and a duplicate, and reports the others', async () => {
    const server = await startSessions({
      mess: (request, response) => {
        const { say } = stream(response);
        response.write('data: {"jsonrpc"\n\ndata: hello\n\n');
        say({ jsonrpc: '2.0', id: 4711, result: content('wrong') });
        say(result(request, content('right')));
        say(result(request, content('late')));
        response.end();
      },
    });
    const client = await connectTo(server);
    expect((await client.callTool('mess')).text).toBe('right');
    expect(client.info().problems.join('\n')).toMatch(/not JSON.*id 4711/s);
  });

  test('fails a call with 100 MB on its stream, closes a session stream with as much, and the next call works', async () => {
    let sent: (() => number) | undefined;
    const server = await startSessions({
      large: (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: ');
        pour(response);
      },
      GET: (_request, response) => {
        if (sent !== undefined) return void response.writeHead(405).end();
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: ');
        ({ sent } = pour(response));
      },
    });
    const client = await connectTo(server, { maxMessageBytes: 1024 * 1024 });
    const error = await failure(client.callTool('large'));
    expect(error.code).toBe('bad_response');
    expect(error.message).toContain('larger than 1048576 bytes');
    await until('the streams are closed', () => server.open() === 0);
    expect(sent?.()).toBeLessThan(60 * 1024 * 1024);
    expect((await client.callTool('echo')).text).toBe('hello');
    expect(client.status).toBe('ready');
  });

  test('fails a call with the message of a 500, and repeats one after a 429', async () => {
    let busy = true;
    const server = await startSessions({
      broken: (_request, response) => void response.writeHead(500).end('out of order'),
      busy: (request, response) => {
        if (!busy) return json(response, result(request, content('free')));
        busy = false;
        response.writeHead(429, { 'retry-after': '0' }).end();
      },
    });
    const client = await connectTo(server);
    const error = await failure(client.callTool('broken'));
    expect(error).toMatchObject({ code: 'bad_response', status: 500 });
    expect(error.message).toBe(`${server.url} answered 500: out of order`);
    expect((await client.callTool('busy')).text).toBe('free');
  });

  test('closes without waiting for a server that does not answer its DELETE', async () => {
    const server = await startSessions({ never, DELETE: never });
    const client = await connectTo(server);
    const open = failure(client.callTool('never'));
    await until('the call has arrived', () => server.requests().includes('tools/call never'));
    await soon('The end of the client', client.close());
    expect((await open).code).toBe('connection_closed');
    expect(client.status).toBe('closed');
  });
});

describe('a client over HTTP+SSE', () => {
  const acts: Acts = {
    never,
    'break off in an event': (_request, events) => {
      events.write(`event: message\ndata: ${half}`);
      setImmediate(() => events.socket?.destroy());
    },
    'end in an event': (_request, events) => void events.end(`event: message\ndata: ${half}`),
    twice: (request, events) => {
      events.write(printEvent(result(request, content('the first'))));
      events.write(printEvent(result(request, content('the second'))));
    },
    'wrong id': (_request, events) =>
      void events.write(printEvent({ jsonrpc: '2.0', id: 4711, result: content('wrong') })),
    garbage: (request, events) => {
      events.write(
        'event: message\ndata: {"jsonrpc"\n\nevent: other\ndata: x\n\nevent: message\ndata: hello\n\n',
      );
      events.write(printEvent(result(request, content('after the garbage'))));
    },
    '100 MB': (_request, events) => {
      events.write('event: message\ndata: ');
      pour(events);
    },
  };

  test.each(['break off in an event', 'end in an event'])(
    'fails a call if the stream ends (%s), and the next call works',
    async (tool) => {
      const server = await startSse(acts);
      const client = await connectTo(server);
      expect(client.info().transport).toBe('http+sse');
      const error = await failure(client.callTool(tool));
      expect(error.code).toBe('connection_closed');
      expect(error.message).toBe(`The event stream of ${server.url} has ended.`);
      expect((await client.callTool('echo', { text: 'again' })).text).toBe('again');
      expect(client.info().reconnects).toBe(1);
    },
  );

  test('subscribes again after the server died and restarted', async () => {
    const server = await startSse(acts);
    const client = await connectTo(server);
    const history = statuses(client);
    await client.subscribe('note://1');
    const open = failure(client.callTool('never'));
    await until('the call has arrived', () => server.requests().includes('tools/call never'));
    await server.die();
    expect((await open).code).toBe('connection_closed');
    const gone = await failure(client.callTool('echo'));
    expect(gone.code).toBe('connect_failed');
    expect(gone.message).toContain(server.url);
    await server.revive();
    await until('the client is ready again', () => client.status === 'ready');
    expect((await client.callTool('echo')).text).toBe('hello');
    const subscriptions = (): number =>
      server.requests().filter((request) => request === 'resources/subscribe').length;
    await until('the client has subscribed again', () => subscriptions() === 2);
    expect(history()).toEqual(['reconnecting', 'ready']);
  });

  test.each(['never', 'wrong id'])(
    'times out without its response (%s), and cancels the call at the server',
    async (tool) => {
      const server = await startSse(acts);
      const client = await connectTo(server);
      const error = await failure(client.callTool(tool, {}, { timeoutMs: 200 }));
      expect(error.code).toBe('timeout');
      await until('the server has received the cancellation', () =>
        server.requests().includes('notifications/cancelled'),
      );
      expect((await client.callTool('echo')).text).toBe('hello');
    },
  );

  test('finds the response among duplicates and garbage, and reports the others', async () => {
    const server = await startSse(acts);
    const client = await connectTo(server);
    expect((await client.callTool('twice')).text).toBe('the first');
    expect((await client.callTool('garbage')).text).toBe('after the garbage');
    expect(client.info().problems.join('\n')).toMatch(/answered it twice.*not valid JSON/s);
  });

  test('reconnects after a response of 100 MB, and the next call works', async () => {
    const server = await startSse(acts);
    const client = await connectTo(server, { maxMessageBytes: 1024 * 1024 });
    const error = await failure(client.callTool('100 MB'));
    expect(error.code).toBe('bad_response');
    expect(error.message).toContain('larger than 1048576 bytes');
    expect((await client.callTool('echo')).text).toBe('hello');
    expect(client.info().reconnects).toBe(1);
  });

  test('times out if the server never sends the endpoint event', async () => {
    const quiet: Act = ({ method }, response) => {
      if (method === 'GET') stream(response);
      else response.writeHead(405).end();
    };
    const server = closeLater(await faultyServer(() => quiet, '/sse'));
    const error = await failure(connect(server.url, { connectTimeoutMs: 400 }));
    expect(error.code).toBe('timeout');
  });
});
