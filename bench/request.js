// The request that every contender gets, and the response of the bare floor, which is byte for byte that of fullmcp.

export const revision = '2026-07-28';
export const info = { name: 'bench', version: '1.0.0' };
const text = 'The quick brown fox jumps over the lazy dog.';

const meta = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientInfo': info,
  'io.modelcontextprotocol/clientCapabilities': {},
};

export const call = { name: 'echo', arguments: { text }, _meta: meta };

/** The call of a client that has tasks and can be asked. */
export const ableCall = {
  ...call,
  _meta: {
    ...meta,
    'io.modelcontextprotocol/clientCapabilities': {
      elicitation: { form: {}, url: {} },
      extensions: { 'io.modelcontextprotocol/tasks': {} },
    },
  },
};

/** @param {number} id */
export function callMessage(id) {
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: call });
}

/** @param {{ id: number, params: typeof call }} message */
export function answerTo({ id, params }) {
  return JSON.stringify({
    jsonrpc: '2.0',
    id,
    result: {
      resultType: 'complete',
      content: [{ type: 'text', text: params.arguments.text }],
      _meta: { 'io.modelcontextprotocol/serverInfo': info },
    },
  });
}

/**
 * @param {number} port
 * @param {string} method
 * @param {object} params
 * @param {Record<string, string>} [headers]
 */
export function modernPost(port, method, params, headers = {}) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { _meta: meta, ...params } });
  const name = 'name' in params ? { 'Mcp-Name': String(params.name) } : {};
  return post(port, body, { 'MCP-Protocol-Version': revision, 'Mcp-Method': method, ...name, ...headers });
}

/**
 * A POST as it goes over the wire.
 * @param {number} port
 * @param {string} body
 * @param {Record<string, string>} headers
 */
export function post(port, body, headers = {}) {
  return (
    head('POST', port, {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      ...headers,
    }) + body
  );
}

/**
 * @param {string} method
 * @param {number} port
 * @param {Record<string, string>} headers
 */
export function head(method, port, headers) {
  const fields = {
    Host: `127.0.0.1:${port}`,
    'User-Agent': 'fullmcp-bench',
    Accept: 'application/json, text/event-stream',
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} /mcp HTTP/1.1\r\n${lines.join('')}\r\n`;
}
