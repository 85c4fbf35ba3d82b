import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { startServer } from '../child.js';
import { ask, open } from '../load/http.js';
import { head, info, modernPost, post } from '../request.js';

const AT_ONCE = 20;
// The server notices closed connections a little later.
const SETTLE_MS = 500;
const legacy = '2025-11-25';

const kinds = { session: openSession, standing: openStanding, listen: openListen };

/**
 * The bytes of live heap for each client, while it is connected and afterwards. All are measured at the same time, because
 * memory does not depend on the load.
 * @param {{ clients: number, idleMs: number, servers?: string[] }} options
 */
export async function measureHeap({ clients, idleMs, servers = ['fullmcp', 'official'] }) {
  const figures = Object.fromEntries(servers.map((name) => [name, {}]));
  const pairs = servers.flatMap((name) => Object.keys(kinds).map((kind) => [name, kind]));
  await Promise.all(
    pairs.map(async ([name, kind]) => {
      const server = await startServer(`heap-${name}`, {
        args: ['1', String(idleMs)],
        execArgv: ['--expose-gc'],
      });
      figures[name][kind] = await measureKind(server, kinds[kind], { clients, idleMs });
      await server.stop();
    }),
  );
  return figures;
}

async function measureKind(server, openOne, { clients, idleMs }) {
  const heap = () => server.ask({ what: 'heap' });
  async function leave(sockets) {
    for (const socket of sockets) socket?.destroy();
    // Idle sessions are closed by a timer that runs twice in that time.
    await pause(1.8 * idleMs);
  }
  // A first group of clients loads code and fills caches, which must not be charged to the measured clients.
  await leave(await openMany(server.port, openOne, clients));
  const empty = await heap();
  const sockets = await openMany(server.port, openOne, clients);
  await pause(SETTLE_MS);
  const full = await heap();
  await leave(sockets);
  return { held: (full - empty) / clients, left: ((await heap()) - empty) / clients };
}

async function openMany(port, openOne, count) {
  const sockets = [];
  while (sockets.length < count) {
    const some = Math.min(AT_ONCE, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: some }, () => openOne(port)))));
  }
  return sockets;
}

/** A session whose client has no open connection. */
async function openSession(port) {
  const socket = await open(port);
  await startSession(socket, port);
  socket.destroy();
  await once(socket, 'close');
}

async function openStanding(port) {
  const socket = await open(port);
  const headers = await startSession(socket, port);
  expectStatus(200, await ask(socket, head('GET', port, { ...headers, Accept: 'text/event-stream' })));
  return socket;
}

async function openListen(port) {
  const socket = await open(port);
  const filter = { notifications: { toolsListChanged: true } };
  expectStatus(200, await ask(socket, modernPost(port, 'subscriptions/listen', filter)));
  return socket;
}

async function startSession(socket, port) {
  const params = { protocolVersion: legacy, capabilities: {}, clientInfo: info };
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
  const answer = await ask(socket, post(port, JSON.stringify(initialize)));
  expectStatus(200, answer);
  const id = /mcp-session-id: (\S+)/i.exec(answer)?.[1] ?? '';
  const headers = { 'Mcp-Session-Id': id, 'MCP-Protocol-Version': legacy };
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
  expectStatus(202, await ask(socket, post(port, JSON.stringify(initialized), headers)));
  return headers;
}

function expectStatus(status, answer) {
  if (!answer.startsWith(`HTTP/1.1 ${status}`)) throw new Error(`Expected ${status}:\n${answer}`);
}
