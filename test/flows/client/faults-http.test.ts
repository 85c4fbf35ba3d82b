import { type AddressInfo, createServer as createTcp } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type Client, type ConnectOptions, connect, KnownServers } from '../../../src/client.js';
import { cleanup, failure, statuses } from '../../support/faults.js';
import {
  type Act,
  type Acts,
  content,
  type FaultyServer,
  faultyServer,
  first,
  modernServer,
} from '../../support/http/faulty-http.js';
import { json, result } from '../../support/http/http-server.js';
import { leaveNothingBehind } from '../../support/leaks.js';
import { until } from '../../support/until.js';

// Failures between a client and a modern server over HTTP.

leaveNothingBehind();
const { closeLater, closeAll } = cleanup();
afterEach(closeAll);

const answer: Act = (request, response) => json(response, result(request, content('right')));
const never: Act = () => undefined;

async function start(acts: Acts = {}): Promise<FaultyServer> {
  return closeLater(await faultyServer(() => modernServer(acts)));
}

async function connectTo({ url }: FaultyServer, options: ConnectOptions = {}): Promise<Client> {
  return closeLater(await connect(url, { knownServers: new KnownServers(), ...options }));
}

describe('connecting to a server that cannot be reached', () => {
  test('fails with the reason if nothing listens', async () => {
    const server = await start();
    await server.die();
    const error = await failure(connect(server.url));
    expect(error.code).toBe('connect_failed');
    expect(error.message).toBe(
      `Cannot reach ${server.url} (ECONNREFUSED): nothing listens there. Is the server running?`,
    );
  });

  test('fails with the reason if the host name does not exist', async () => {
    const error = await failure(connect('https://mcp.invalid/mcp?key=secret'));
    expect(error.code).toBe('connect_failed');
    expect(error.message).toMatch(
      /^Cannot reach https:\/\/mcp\.invalid\/mcp \(\w+\): (there is no host|its name)/,
    );
    expect(error.message).not.toContain('secret');
  });

  test('fails with the reason if the port does not speak TLS', async () => {
    const server = await start();
    const error = await failure(connect(server.url.replace('http:', 'https:')));
    expect(error.code).toBe('connect_failed');
    expect(error.message).toContain('it does not speak TLS there. Is it http:// instead of https://?');
  });

  test('fails with the reason if something other than HTTP answers', async () => {
    const sockets = new Set<{ destroy(): unknown }>();
    const other = createTcp((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).end('220 mail.example ESMTP\r\n');
    }).listen(0, '127.0.0.1');
    await until('the server listens', () => other.listening);
    const { port } = other.address() as AddressInfo;
    const error = await failure(connect(`http://127.0.0.1:${port}/mcp`));
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => other.close(resolve));
    expect(error.code).toBe('connect_failed');
    expect(error.message).toContain(`http://127.0.0.1:${port}/mcp`);
  });

  test('times out if the server accepts connections and sends nothing', async () => {
    const server = await start({ 'server/discover': never });
    const error = await failure(connect(server.url, { connectTimeoutMs: 300 }));
    expect(error.code).toBe('timeout');
    expect(error.message).toContain('300 ms');
  });
});

describe('a server that dies', () => {
  test('during a call fails that call, and the next call after its restart works', async () => {
    const server = await start({ never });
    const client = await connectTo(server);
    const open = failure(client.callTool('never'));
    await until('the call has arrived', () => server.requests().includes('tools/call never'));
    await server.die();
    const error = await open;
    expect(error.code).toBe('connect_failed');
    expect(error.message).toContain(server.url);
    // The call may have done its work, so it was not retried.
    expect(server.requests().filter((request) => request === 'tools/call never')).toHaveLength(1);
    const gone = await failure(client.callTool('echo'));
    expect(gone.code).toBe('connect_failed');
    expect(gone.message).toContain('nothing listens there');
    await server.revive();
    expect((await client.callTool('echo', { text: 'back' })).text).toBe('back');
    expect(client.status).toBe('ready');
  });

  test('between two calls and restarts soon does not fail a call that is safe to repeat', async () => {
    const server = await start();
    const client = await connectTo(server);
    expect((await client.callTool('echo')).text).toBe('hello');
    await server.die();
    const tools = client.tools().all();
    await server.revive();
    expect((await tools).map(({ name }) => name)).toEqual(['echo']);
  });

  test("gets the client's subscription again after its restart, and the resource is reported as changed", async () => {
    const server = await start();
    const client = await connectTo(server);
    const changes: unknown[] = [];
    await client.subscribe('note://1', { onChange: (change) => changes.push(change) });
    await server.die();
    await server.revive();
    await until('a change is reported', () => changes.length > 0, 8000);
    expect(changes).toEqual([{ kind: 'resource', uri: 'note://1' }]);
    await client.close();
  });

  test('before its response makes the client retry a call that is safe to repeat, and no other', async () => {
    const breaks: Act = (_request, response) => response.socket?.destroy();
    const list: Act = (request, response) =>
      json(response, result(request, { resultType: 'complete', tools: [] }));
    const server = await start({ 'tools/list': first(2, breaks, list), drop: breaks });
    const client = await connectTo(server);
    expect(await client.tools().all()).toEqual([]);
    expect(server.requests().filter((request) => request === 'tools/list')).toHaveLength(3);
    const error = await failure(client.callTool('drop'));
    expect(error.code).toBe('connect_failed');
    expect(error.message).toContain('broke before an answer came (');
    expect(server.requests().filter((request) => request === 'tools/call drop')).toHaveLength(1);
  });
});

describe('a server that rejects requests', () => {
  test('with 500 has its message reported, and the next call works', async () => {
    const server = await start({
      broken: (_request, response) => void response.writeHead(500).end('TypeError: x is not a function'),
    });
    const client = await connectTo(server);
    const error = await failure(client.callTool('broken'));
    expect(error).toMatchObject({ code: 'bad_response', status: 500 });
    expect(error.message).toBe(`${server.url} answered 500: TypeError: x is not a function`);
    expect((await client.callTool('echo')).text).toBe('hello');
  });

  test('with 500 on the first request fails the connection with its message', async () => {
    const server = await start({
      'server/discover': (_request, response) => void response.writeHead(500).end('out of order'),
    });
    const error = await failure(connect(server.url));
    expect(error.code).toBe('bad_response');
    expect(error.message).toContain(`${server.url} answered 500: out of order`);
  });

  test('with 429 and Retry-After is retried after that time', async () => {
    const busy: Act = (_request, response) => void response.writeHead(429, { 'retry-after': '1' }).end();
    const server = await start({ busy: first(1, busy, answer) });
    const client = await connectTo(server);
    const startedAt = performance.now();
    expect((await client.callTool('busy')).text).toBe('right');
    expect(performance.now() - startedAt).toBeGreaterThan(990);
  });

  test('with 429 for an hour is not waited for, and the error says when to retry', async () => {
    const server = await start({
      busy: (_request, response) => void response.writeHead(429, { 'retry-after': '3600' }).end('slow down'),
    });
    const client = await connectTo(server);
    const error = await failure(client.callTool('busy'));
    expect(error).toMatchObject({ code: 'overloaded', status: 429, data: { retryAfterMs: 3_600_000 } });
    expect(error.message).toContain(`${server.url} answered 429: slow down`);
  });

  test('with 429 and a Retry-After beyond the timeout makes the call time out', async () => {
    const server = await start({
      busy: (_request, response) => void response.writeHead(429, { 'retry-after': '20' }).end(),
    });
    const client = await connectTo(server);
    const error = await failure(client.callTool('busy', {}, { timeoutMs: 2000 }));
    expect(error.code).toBe('timeout');
    expect(error.message).toContain(
      `Meanwhile: tools/call is retried in 20000 ms: ${server.url} answered 429`,
    );
  });
});

describe('a redirect', () => {
  test('with 307 on the same origin is followed, with method, body and headers', async () => {
    const moved: Act = ({ path }, response) =>
      void response.writeHead(307, { location: `${path}?moved` }).end();
    const server = await start({
      move: (request, response) => (request.path.endsWith('?moved') ? answer : moved)(request, response),
    });
    const client = await connectTo(server, { auth: 'a-token-to-be-kept' });
    expect((await client.callTool('move')).text).toBe('right');
    const last = server.received.at(-1);
    expect(last).toMatchObject({ method: 'POST', body: { method: 'tools/call', params: { name: 'move' } } });
    expect(last?.headers.authorization).toBe('Bearer a-token-to-be-kept');
  });

  test.each([
    [302, 'With this status, the message would be lost', (url: string) => `${url}2`],
    [307, 'Other origins are not followed', () => 'https://elsewhere.invalid/mcp?key=secret'],
    [307, 'more than 3 redirects', (url: string) => url],
  ])('with %i fails the call: %s', async (code, why, where) => {
    const server = await start({
      move: (_request, response) => void response.writeHead(code, { location: where(server.url) }).end(),
    });
    const client = await connectTo(server, { auth: 'a-token-to-be-kept' });
    const error = await failure(client.callTool('move'));
    expect(error.code).toBe('bad_response');
    expect(error.message).toContain(`${server.url} redirects (${code})`);
    expect(error.message).toContain(why);
    expect(error.message).not.toMatch(/secret|a-token/);
    expect((await client.callTool('echo')).text).toBe('hello');
  });
});

describe('the web page of a captive portal', () => {
  const portal: Act = (_request, response) =>
    void response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<!doctype html><html><head><title>Airport Wi-Fi: please sign in</title></head></html>');

  test('fails the connection with an error that has its title', async () => {
    const server = closeLater(await faultyServer(() => portal));
    const error = await failure(connect(server.url));
    expect(error.code).toBe('connect_failed');
    expect(error.message).toContain(server.url);
    expect(error.message).toContain('a web page titled "Airport Wi-Fi: please sign in"');
  });

  test('fails a call with an error that has its title, and the next call works after the login', async () => {
    const server = await start({ page: first(1, portal, answer) });
    const client = await connectTo(server);
    const error = await failure(client.callTool('page'));
    expect(error.code).toBe('bad_response');
    expect(error.message).toBe(
      `${server.url} answered with a web page titled "Airport Wi-Fi: please sign in" instead of MCP. Is this the address of an MCP server?`,
    );
    expect((await client.callTool('page')).text).toBe('right');
  });
});

test('closing a client over HTTP ends its open calls and subscriptions, and later calls fail because it is closed', async () => {
  const server = await start({ never });
  const client = await connectTo(server);
  const history = statuses(client);
  const open = failure(client.callTool('never'));
  await client.subscribe('note://1');
  await until('the call has arrived', () => server.open() === 2);
  await client.close();
  expect((await open).code).toBe('connection_closed');
  await until('the requests are closed', () => server.open() === 0);
  expect(history()).toEqual(['closed']);
  expect((await failure(client.callTool('echo'))).message).toBe('The client is closed');
});
