import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { until } from '../until.js';
import { type Body, json, type Received, result, status, stream } from './http-server.js';

// Servers over HTTP, of every era, that run the function which a test defines for a tool or a method.

/** Handles the request; the server then sends nothing else. */
export type Act = (request: Received, response: ServerResponse) => void;
export type Acts = Readonly<Record<string, Act>>;

export interface FaultyServer {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** The requests, in order: `tools/call never`, or `GET` if there was no message. */
  readonly requests: () => string[];
  /** The open requests. */
  readonly open: () => number;
  /** Cuts all connections and stops listening, like a killed process. */
  readonly die: () => Promise<void>;
  /** Listens again at the same address, with no state. */
  readonly revive: () => Promise<void>;
  /** Waits until no request is open, then closes. */
  readonly close: () => Promise<void>;
}

/** Answers each request, once read, with the handler from `make`, which is called again after a restart. */
export async function faultyServer(make: () => Act, path = '/mcp'): Promise<FaultyServer> {
  const received: Received[] = [];
  const open = new Set<ServerResponse>();
  let act = make();
  const http = createServer(async (req, response) => {
    open.add(response);
    response.on('close', () => open.delete(response)).on('error', () => undefined);
    let text = '';
    try {
      for await (const chunk of req) text += chunk;
    } catch {
      return;
    }
    const body = text === '' ? undefined : (JSON.parse(text) as Body);
    const { method = '', url = '', headers } = req;
    const request = { method, path: url, headers, body, at: performance.now() };
    received.push(request);
    act(request, response);
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => http.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = http.address() as AddressInfo;

  async function die(): Promise<void> {
    const closed = new Promise((resolve) => http.close(resolve));
    http.closeAllConnections();
    await closed;
  }

  return {
    url: `http://127.0.0.1:${port}${path}`,
    port,
    received,
    requests: () => received.map(({ method, body }) => nameOf(body) ?? method),
    open: () => open.size,
    die,
    async revive() {
      act = make();
      await listen(port);
    },
    async close() {
      if (!http.listening) return;
      await until('no request is open any more', () => open.size === 0).finally(die);
    },
  };
}

function nameOf(body: Body | undefined): string | undefined {
  if (body?.method === undefined) return undefined;
  return body.params?.name === undefined ? body.method : `${body.method} ${body.params.name}`;
}

const capabilities = { tools: {}, resources: { subscribe: true } };
const tools = [{ name: 'echo', inputSchema: { type: 'object' } }];

export function content(text: string): object {
  return { resultType: 'complete', content: [{ type: 'text', text }] };
}

/** The result that a healthy server gives, in either era. */
function healthy({ body }: Received): object {
  switch (body?.method) {
    case 'server/discover':
      return { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities };
    case 'initialize':
      return {
        protocolVersion: body.params.protocolVersion,
        capabilities,
        serverInfo: { name: 'faulty', version: '1' },
      };
    case 'tools/list':
      return { resultType: 'complete', tools };
    case 'tools/call':
      return content(body.params.arguments.text ?? 'hello');
    default:
      return { resultType: 'complete' };
  }
}

/** A server of 2026-07-28. */
export function modernServer(acts: Acts = {}): Act {
  return function modern(request, response) {
    const { body, method } = request;
    const act = acts[body?.params?.name] ?? acts[body?.method ?? method];
    if (act !== undefined) return act(request, response);
    if (method !== 'POST') return status(response, 405);
    if (body?.method === 'initialize')
      return json(response, { jsonrpc: '2.0', id: body.id, error: { code: -32601, message: 'no' } }, 400);
    if (body?.method !== 'subscriptions/listen') return json(response, result(request, healthy(request)));
    const _meta = { 'io.modelcontextprotocol/subscriptionId': body.id };
    const { notifications } = body.params;
    stream(response).say({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications, _meta },
    });
  };
}

let lastSession = 0;

/** A server of 2025-11-25, which keeps its sessions until it is told to forget them. */
export function sessionServer(acts: Acts = {}, sessions: Set<string> = new Set()): Act {
  return function session(request, response) {
    const { body, method, headers } = request;
    const id = String(headers['mcp-session-id']);
    if (headers['mcp-method'] !== undefined) return status(response, 400);
    if (body?.method === 'initialize') {
      const newId = `session-${++lastSession}-${process.pid}`;
      sessions.add(newId);
      response.setHeader('mcp-session-id', newId);
      return json(response, result(request, healthy(request)));
    }
    if (!sessions.has(id)) return status(response, 404);
    const act = acts[body?.params?.name] ?? acts[body?.method ?? method];
    if (act !== undefined) return act(request, response);
    if (method === 'GET') return status(response, 405);
    if (method === 'DELETE' || body?.id === undefined || body.method === undefined)
      return status(response, 202);
    json(response, result(request, healthy(request)));
  };
}

/** A server of 2024-11-05: its messages go to the stream that was opened first. Acts get that stream. */
export function sseServer(acts: Acts = {}): Act {
  let events: ServerResponse | undefined;
  return function sse(request, response) {
    const { body, method, path } = request;
    if (method === 'GET') {
      events = response;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: endpoint\ndata: /messages\n\n');
      return;
    }
    if (method !== 'POST' || path !== '/messages') return status(response, 405);
    status(response, 202);
    const act = acts[body?.params?.name];
    if (events === undefined || body?.id === undefined || body.method === undefined) return;
    if (act !== undefined) return act(request, events);
    events.write(printEvent(result(request, healthy(request))));
  };
}

/** Does one thing the first times, and then another. */
export function first(times: number, act: Act, then: Act): Act {
  let left = times;
  return (request, response) => (left-- > 0 ? act(request, response) : then(request, response));
}

/** A message as an event. */
export function printEvent(value: unknown): string {
  return `event: message\ndata: ${JSON.stringify(value)}\n\n`;
}

const MB = 1024 * 1024;

/** Sends a hundred megabytes, unless the client disconnects; returns how much was sent. */
export function pour(response: ServerResponse): { readonly sent: () => number } {
  const piece = Buffer.alloc(MB, 'x');
  let sent = 0;
  const write = (): void => {
    while (sent < 100 * MB) {
      if (response.destroyed || response.socket === null) return;
      sent += MB;
      if (!response.write(piece)) return void response.once('drain', write);
    }
    response.end();
  };
  write();
  return { sent: () => sent };
}
