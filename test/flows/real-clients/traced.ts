// Messages as real clients send them.

type Fields = Record<string, unknown>;

export function request(id: unknown, method: string, params?: Fields): Fields {
  return { jsonrpc: '2.0', id, method, ...(params && { params }) };
}

export const initialized: Fields = { jsonrpc: '2.0', method: 'notifications/initialized' };

export function initialize(id: unknown, revision = '2025-11-25', capabilities: Fields = {}): Fields {
  const clientInfo = { name: 'traced', version: '1.0.0' };
  return request(id, 'initialize', { protocolVersion: revision, capabilities, clientInfo });
}

/** A request of 2026-07-28, which identifies its sender. */
export function modern(id: unknown, method: string, params: Fields = {}, capabilities: Fields = {}): Fields {
  const _meta = {
    ...(params['_meta'] as Fields | undefined),
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'traced', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  return request(id, method, { ...params, _meta });
}

export function call(name: string, args: Fields = {}, meta?: Fields): Fields {
  return { name, arguments: args, ...(meta && { _meta: meta }) };
}
