import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, tool } from 'fullmcp';
import { createNodeHandler } from 'fullmcp/node';

// A small server that stands for a provider, with its quirks and without the rest, and an MCP server that it protects.

/** A request to the provider. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
  readonly header: (name: string) => string | undefined;
  readonly body: string;
}

/** A reply of the provider: one of a body or a location. */
export interface Answer {
  readonly status?: number;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  readonly location?: string;
}

export interface Provider {
  readonly issuer: string;
  /** The scopes that the metadata of the MCP server lists. */
  readonly scopes: readonly string[];
  /** The replies, by method and path. Everything else is 404. */
  readonly routes: Readonly<Record<string, (asked: Asked) => Answer>>;
}

export interface StandIn {
  /** The URL of the MCP server. */
  readonly url: string;
  readonly issuer: string;
  /** All requests to the provider. */
  readonly asked: Asked[];
  /** The parameters of all requests with this path. */
  readonly sent: (path: string) => Record<string, string>[];
  /** Makes an access token invalid. */
  readonly end: (token: string) => void;
  readonly close: () => void;
}

/** The tokens that the MCP server accepts, and the codes that wait to be exchanged. */
export class Issued {
  readonly tokens = new Set<string>();
  readonly #codes = new Map<string, URLSearchParams>();

  /** Sends the browser back with a code, as after a login. */
  redirect(query: URLSearchParams, more: Readonly<Record<string, string>> = {}): Answer {
    const code = randomBytes(12).toString('hex');
    this.#codes.set(code, query);
    return redirectTo(query, { code, ...more });
  }

  /** The request that a code was issued for; undefined if the code, the redirect URI or the verifier is wrong. */
  redeem(form: URLSearchParams): URLSearchParams | undefined {
    const code = form.get('code') ?? '';
    const query = this.#codes.get(code);
    this.#codes.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight =
      query?.get('redirect_uri') === form.get('redirect_uri') && query?.get('code_challenge') === challenge;
    return isRight ? query : undefined;
  }

  token(prefix = ''): string {
    const token = `${prefix}${randomBytes(12).toString('hex')}`;
    this.tokens.add(token);
    return token;
  }
}

/** Sends the browser back to the client. */
export function redirectTo(query: URLSearchParams, parameters: Readonly<Record<string, string>>): Answer {
  const url = new URL(query.get('redirect_uri') ?? '');
  for (const [name, value] of Object.entries({ state: query.get('state') ?? '', ...parameters }))
    url.searchParams.set(name, value);
  return { location: url.href };
}

/** The client's id and secret in the header of a request. */
export function basicOf({ header }: Asked): string | undefined {
  const [, encoded] = /^Basic (.+)$/.exec(header('authorization') ?? '') ?? [];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString();
}

/** Starts a provider and the MCP server that it protects, on one port. */
export async function startStandIn(make: (origin: string, issued: Issued) => Provider): Promise<StandIn> {
  const server = createHttpServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issued = new Issued();
  const asked: Asked[] = [];
  const { issuer, scopes, routes } = make(origin, issued);
  const resource = `${origin}/mcp`;
  const metadata = { resource, authorization_servers: [issuer], scopes_supported: scopes };
  const tools = { hello: tool({ run: () => 'hello' }) };
  const handle = createNodeHandler(createServer({ name: 'protected', version: '1.0.0', tools }));
  server.on('request', async (request, response) => {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '', origin);
    if (path === '/mcp') {
      const [, token = ''] = (request.headers.authorization ?? '').split(' ');
      if (issued.tokens.has(token)) return handle(request, response);
      const at = `${origin}/.well-known/oauth-protected-resource/mcp`;
      return response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${at}"` }).end();
    }
    if (path === '/.well-known/oauth-protected-resource/mcp') return reply(response, { json: metadata });
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method = '', headers } = request;
    const header = (name: string) => headers[name] as string | undefined;
    const form = new URLSearchParams(/form/.test(header('content-type') ?? '') ? body : '');
    const entry = { method, path, query, form, header, body };
    asked.push(entry);
    reply(response, routes[`${method} ${path}`]?.(entry) ?? { status: 404 });
  });
  return {
    url: resource,
    issuer,
    asked,
    sent: (at) =>
      asked
        .filter(({ path }) => path === at)
        .map(({ query, form }) => Object.fromEntries([...query, ...form])),
    end: (token) => void issued.tokens.delete(token),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function reply(response: ServerResponse, { status, json, form, location }: Answer): void {
  if (location !== undefined) return void response.writeHead(302, { location }).end();
  if (form !== undefined) {
    response.writeHead(status ?? 200, { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' });
    return void response.end(new URLSearchParams(form).toString());
  }
  response.writeHead(status ?? 200, { 'content-type': 'application/json' });
  response.end(json === undefined ? '' : JSON.stringify(json));
}
