// The ways of following changes. Each opens one stream over a connection and returns the way in which its messages are framed.
import { randomBytes } from 'node:crypto';
import { head, info, modernPost, post, revision } from '../request.js';

const legacy = '2025-11-25';

/** The resource that slow readers follow. It is long, so that few changes fill the buffers of their connections. */
export const slowUri = `bench://slow/${'x'.repeat(6000)}`;

/** @typedef {import('./connection.js').Connection} Connection */
/** @typedef {{ port: number, uris: string[] }} Wanted */

/** @type {Record<string, (connection: Connection, wanted: Wanted) => Promise<void>>} */
export const ways = { listen, session, webSocket, floor };

/** `subscriptions/listen` of 2026-07-28. */
async function listen(connection, { port, uris }) {
  const params = { notifications: { toolsListChanged: true, resourceSubscriptions: uris } };
  expectStatus(200, await connection.ask(modernPost(port, 'subscriptions/listen', params)));
}

/** The GET stream of a session of 2025-11-25, with `resources/subscribe`. */
async function session(connection, { port, uris }) {
  const params = { protocolVersion: legacy, capabilities: {}, clientInfo: info };
  const opened = await connection.ask(post(port, request(1, 'initialize', params)));
  expectStatus(200, opened);
  const id = /mcp-session-id: (\S+)/i.exec(opened)?.[1] ?? '';
  const headers = { 'Mcp-Session-Id': id, 'MCP-Protocol-Version': legacy };
  const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  expectStatus(202, await connection.ask(post(port, initialized, headers)));
  for (const [at, uri] of uris.entries()) {
    const subscribe = request(2 + at, 'resources/subscribe', { uri });
    expectStatus(200, await connection.ask(post(port, subscribe, headers)));
  }
  const get = head('GET', port, { ...headers, Accept: 'text/event-stream' });
  expectStatus(200, await connection.ask(get));
}

/** `subscriptions/listen` of 2026-07-28 over a WebSocket. */
async function webSocket(connection, { port, uris }) {
  const upgrade = head('GET', port, {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    'Sec-WebSocket-Protocol': 'mcp',
  });
  expectStatus(101, await connection.ask(upgrade));
  connection.readFrames();
  const params = {
    notifications: { toolsListChanged: true, resourceSubscriptions: uris },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientInfo': info,
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  };
  const acknowledged = await connection.ask(frame(request(1, 'subscriptions/listen', params)));
  if (!acknowledged.includes('acknowledged')) throw new Error(`No acknowledgement:\n${acknowledged}`);
}

/** A response of bare `node:http` that stays open. */
async function floor(connection, { port }) {
  expectStatus(200, await connection.ask(head('GET', port, { Accept: 'text/event-stream' })));
}

function request(id, method, params) {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

/** A masked text frame, RFC 6455, 5.2. The mask is zero, so the text stays as it is. */
function frame(text) {
  const bytes = Buffer.from(text);
  const length =
    bytes.length < 126 ? [0x80 | bytes.length] : [0x80 | 126, bytes.length >> 8, bytes.length & 255];
  return Buffer.concat([Buffer.from([0x81, ...length, 0, 0, 0, 0]), bytes]);
}

function expectStatus(status, answer) {
  if (!answer.startsWith(`HTTP/1.1 ${status}`)) throw new Error(`Expected ${status}:\n${answer}`);
}
