import { type Events, type Exchange, openEvents, type Reply, send } from './http.js';

// The requests of 2026-07-28, with every header they need, so that a test changes only what it is about.

export interface ModernOptions {
  readonly id?: unknown;
  readonly meta?: Record<string, unknown>;
  /** Added to the headers; `undefined` takes one away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly agent?: Exchange['agent'];
}

const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

export function modernMessage(
  method: string,
  params: Record<string, unknown> = {},
  { id = 1, meta = {} }: ModernOptions = {},
): Record<string, unknown> {
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...modernMeta, ...meta } } };
}

export function modernExchange(
  method: string,
  params: Record<string, unknown> = {},
  options: ModernOptions = {},
): Exchange {
  const name = params['name'] ?? params['uri'];
  return {
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && /^[\x21-\x7e]*$/.test(name) && { 'mcp-name': name }),
      ...options.headers,
    },
    body: JSON.stringify(modernMessage(method, params, options)),
    ...(options.agent && { agent: options.agent }),
  };
}

export function modern(
  url: string,
  method: string,
  params?: Record<string, unknown>,
  options?: ModernOptions,
): Promise<Reply> {
  return send(url, modernExchange(method, params, options));
}

export function modernStream(
  url: string,
  method: string,
  params?: Record<string, unknown>,
  options?: ModernOptions,
): Promise<Events> {
  return openEvents(url, modernExchange(method, params, options));
}

/** Calls a tool and returns the text of its result. */
export async function callText(
  url: string,
  name: string,
  args: Record<string, unknown> = {},
): Promise<string> {
  const { text } = await modern(url, 'tools/call', { name, arguments: args });
  return JSON.parse(text).result.content[0].text as string;
}
