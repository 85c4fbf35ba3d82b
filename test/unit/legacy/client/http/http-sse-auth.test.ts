import { expect, test } from 'vitest';
import { httpSseWire } from '../../../../../src/legacy/client/http/http-sse-wire.js';
import type { McpError } from '../../../../../src/protocol/errors.js';
import type { AuthorizedRequest, ClientAuth } from '../../../../../src/protocol/model/client-auth.js';
import { type ScriptedServer, scriptedServer, status, stream } from '../../../../support/http/http-server.js';
import { until } from '../../../../support/until.js';

// An object as `auth` over HTTP+SSE, whose messages are posted to a URL that the server names.

const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

/** An `auth` that knows the right token after the first challenge. */
function learner(): ClientAuth & { readonly asked: AuthorizedRequest[]; readonly challenged: string[] } {
  const asked: AuthorizedRequest[] = [];
  const challenged: string[] = [];
  let known = 0;
  return {
    asked,
    challenged,
    headersFor(request) {
      asked.push(request);
      return { authorization: `Bearer token-${known}` };
    },
    async onChallenge({ status: code }, { method, url }) {
      challenged.push(`${code} ${method} ${new URL(url).pathname}`);
      known++;
      return 'retry';
    },
  };
}

function start(url: URL, auth: ClientAuth) {
  const closed: McpError[] = [];
  const messages: string[] = [];
  const wire = httpSseWire(url, { auth });
  wire.start({
    message: (text) => messages.push(text),
    tooLong: () => {},
    problem: () => {},
    closed: (reason) => closed.push(reason),
  });
  return { wire, closed, messages };
}

const tokens = (server: ScriptedServer) =>
  server.received.map(({ method, headers }) => `${method} ${headers.authorization}`);

test('over HTTP+SSE, an object as `auth` answers the 401 of the stream and the 401 of a message', async () => {
  await using server = await scriptedServer(({ method, headers }, response) => {
    const isAllowed = headers.authorization === (method === 'GET' ? 'Bearer token-1' : 'Bearer token-2');
    if (!isAllowed || method === 'POST') return status(response, isAllowed ? 202 : 401);
    stream(response);
    response.write('event: endpoint\ndata: /messages?id=7\n\n');
  });
  const auth = learner();
  const { wire, closed } = start(server.url, auth);
  wire.send(ping);
  await until('the message was accepted', () => server.received.length === 4);
  expect(auth.challenged).toEqual(['401 GET /mcp', '401 POST /messages']);
  expect(tokens(server)).toEqual([
    'GET Bearer token-0',
    'GET Bearer token-1',
    'POST Bearer token-1',
    'POST Bearer token-2',
  ]);
  // Tokens are kept by the server that the user named, and proofs are for the URL of the request.
  expect(new Set(auth.asked.map((request) => request.server))).toEqual(new Set([server.url.href]));
  expect(auth.asked.at(-1)?.url).toBe(new URL('/messages?id=7', server.url).href);
  expect(closed).toEqual([]);
  await wire.close();
});

test('over HTTP+SSE, an endpoint on another origin gets neither a message nor a token', async () => {
  await using other = await scriptedServer((_, response) => status(response, 202));
  await using server = await scriptedServer((_, response) => {
    stream(response);
    response.write(`event: endpoint\ndata: ${other.url.href}\n\n`);
  });
  const auth = learner();
  const { wire, closed } = start(server.url, auth);
  wire.send(ping);
  await until('the wire is closed', () => closed.length === 1);
  expect(closed[0]?.message).toContain('another origin');
  await wire.close();
  expect(other.received).toEqual([]);
  expect(auth.asked.map(({ url }) => url)).toEqual([server.url.href]);
});

test('over HTTP+SSE, a message is not redirected to another origin, and neither is its token', async () => {
  await using other = await scriptedServer((_, response) => status(response, 202));
  await using server = await scriptedServer(({ method }, response) => {
    if (method === 'POST') return void response.writeHead(307, { location: other.url.href }).end();
    stream(response);
    response.write('event: endpoint\ndata: /messages\n\n');
  });
  const auth = learner();
  const { wire, messages } = start(server.url, auth);
  wire.send(ping);
  await until('the message has failed', () => messages.length === 1);
  expect(messages[0]).toContain('Other origins are not followed');
  await wire.close();
  expect(other.received).toEqual([]);
  expect(auth.asked.every(({ url }) => new URL(url).origin === server.url.origin)).toBe(true);
});
