import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../until.js';

// A server that does what a test says, including what no server should do.

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The message that was posted, parsed. */
  readonly body: Body | undefined;
  readonly at: number;
}

export interface Body {
  readonly id?: number;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks wherever it wants
  readonly params?: any;
  readonly result?: unknown;
  readonly error?: unknown;
}

export type Reply = (request: Received, response: ServerResponse) => void;

export interface ScriptedServer extends AsyncDisposable {
  readonly url: URL;
  readonly received: Received[];
  /** Resolves when no request is open. */
  readonly quiet: () => Promise<void>;
}

export async function scriptedServer(reply: Reply): Promise<ScriptedServer> {
  const received: Received[] = [];
  const open = new Set<ServerResponse>();
  const http = createServer(async (req, res) => {
    open.add(res);
    res.on('close', () => open.delete(res));
    let text = '';
    for await (const chunk of req) text += chunk;
    const request = {
      method: req.method ?? '',
      path: req.url ?? '',
      headers: req.headers,
      body: text === '' ? undefined : JSON.parse(text),
      at: performance.now(),
    };
    received.push(request);
    reply(request, res);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));

  // Connections are not counted: `fetch` may keep an idle one for a while.
  const quiet = (): Promise<void> => until('no request is open', () => open.size === 0);

  return {
    url: new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`),
    received,
    quiet,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

export function status(response: ServerResponse, code: number): void {
  response.writeHead(code).end();
}

export function result({ body }: Received, value: object): object {
  return { jsonrpc: '2.0', id: body?.id, result: value };
}

export function error({ body }: Received, code: number, message: string, data?: unknown): object {
  return { jsonrpc: '2.0', id: body?.id, error: { code, message, ...(data !== undefined && { data }) } };
}

/** Begins an event stream; `say` sends a message on it. */
export function stream(response: ServerResponse): { say: (value: unknown, more?: string) => void } {
  response.writeHead(200, { 'content-type': 'Text/Event-Stream; charset=utf-8' });
  response.flushHeaders();
  return {
    say: (value, more = '') => void response.write(`${more}data: ${JSON.stringify(value)}\n\n`),
  };
}
