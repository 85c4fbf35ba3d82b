// A session of the newest revision that has sessions.
import { call, info, post } from '../request.js';
import { ask, open } from './http.js';

const revision = '2025-11-25';

/** Opens a session and returns the headers of its requests. */
export async function startSession(port) {
  const socket = await open(port);
  const params = { protocolVersion: revision, capabilities: { elicitation: {} }, clientInfo: info };
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
  const reply = await ask(socket, post(port, JSON.stringify(initialize)));
  const id = /mcp-session-id: (\S+)/i.exec(reply)?.[1];
  if (id === undefined) throw new Error(`The session was not opened:\n${reply}`);
  const header = { 'Mcp-Session-Id': id, 'MCP-Protocol-Version': revision };
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
  await ask(socket, post(port, JSON.stringify(initialized), header));
  socket.destroy();
  return header;
}

/** The calls of a session: each connection has an id of its own, because all of them are open at the same time. */
export function sessionPost(port, header) {
  const { name, arguments: args } = call;
  return (connection) => {
    const params = { name, arguments: args };
    const message = { jsonrpc: '2.0', id: 100 + connection, method: 'tools/call', params };
    return post(port, JSON.stringify(message), header);
  };
}
