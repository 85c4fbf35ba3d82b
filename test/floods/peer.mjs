// The messages that attackers of servers and of clients share.

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'flood', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

export function call(id, name, args = {}, more = {}) {
  const params = { name, arguments: args, _meta: { ...meta, ...more } };
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
}

export function post(body, path = '/mcp') {
  const name = JSON.parse(body).params.name;
  return [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    'accept: application/json, text/event-stream',
    'mcp-protocol-version: 2026-07-28',
    'mcp-method: tools/call',
    `mcp-name: ${name}`,
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

export function handshake(id) {
  const result = {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'flood', version: '1' },
  };
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}

export function noDiscovery(id) {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'No such method' } });
}

/** Requests that a client has to answer, a thousand at a time. */
export function* pings(separator = '\n') {
  for (let id = 0; ; ) {
    let text = '';
    for (let end = id + 1000; id < end; id++)
      text += `{"jsonrpc":"2.0","id":"${id}","method":"ping"}${separator}`;
    yield text;
  }
}
