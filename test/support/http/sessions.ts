import { type Events, openEvents, type Reply, send } from './http.js';

// A client of the session era over Streamable HTTP, as raw as the tests need it.

export interface SessionClient {
  readonly id: string;
  readonly initialized: Record<string, unknown>;
  readonly headers: Readonly<Record<string, string>>;
  readonly post: (message: unknown, headers?: Headers) => Promise<Reply>;
  readonly request: (method: string, params?: object, id?: number | string) => Promise<Reply>;
  /** Posts a request whose reply is a stream. */
  readonly stream: (method: string, params?: object, id?: number | string) => Promise<Events>;
  readonly get: (headers?: Headers) => Promise<Events>;
  readonly resume: (lastEventId: string) => Promise<Events>;
  readonly end: () => Promise<Reply>;
}

type Headers = Readonly<Record<string, string | undefined>>;

export const jsonHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

export function initializeMessage(revision: string, capabilities: object = {}): object {
  return {
    jsonrpc: '2.0',
    id: 'init',
    method: 'initialize',
    params: { protocolVersion: revision, capabilities, clientInfo: { name: 'test', version: '1' } },
  };
}

export async function openSession(
  url: string,
  revision = '2025-11-25',
  capabilities: object = {},
  more: Headers = {},
): Promise<SessionClient> {
  const body = JSON.stringify(initializeMessage(revision, capabilities));
  const reply = await send(url, { headers: { ...jsonHeaders, ...more }, body });
  const id = String(reply.headers['mcp-session-id']);
  return sessionClient(url, id, JSON.parse(reply.text).result);
}

/** A client with a given session id. */
export function sessionClient(
  url: string,
  id: string,
  initialized: Record<string, unknown> = {},
): SessionClient {
  const headers = { ...jsonHeaders, 'mcp-session-id': id };
  const message = (method: string, params: object = {}, requestId: number | string = 1): object => ({
    jsonrpc: '2.0',
    id: requestId,
    method,
    params,
  });
  const post: SessionClient['post'] = (body, more) =>
    send(url, { headers: { ...headers, ...more }, body: JSON.stringify(body) });
  const get: SessionClient['get'] = (more) =>
    openEvents(url, {
      method: 'GET',
      headers: { accept: 'text/event-stream', 'mcp-session-id': id, ...more },
    });
  return {
    id,
    initialized,
    headers,
    post,
    request: (method, params, requestId) => post(message(method, params, requestId)),
    stream: (method, params, requestId) =>
      openEvents(url, { headers, body: JSON.stringify(message(method, params, requestId)) }),
    get,
    resume: (lastEventId) => get({ 'last-event-id': lastEventId }),
    end: () => send(url, { method: 'DELETE', headers: { 'mcp-session-id': id } }),
  };
}
