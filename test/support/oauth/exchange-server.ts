import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jwtVerify } from 'jose';

// An authorization server that exchanges tokens by the letter of RFC 8693, and lies when it is told to.

export const SECRET = 'a secret of callers with at least 32 bytes';
export const ISSUER = 'https://callers.example';
export const CLIENT = { clientId: 'the proxy', clientSecret: 'secret:of+the proxy' };
const TYPE = 'urn:ietf:params:oauth:token-type:access_token';
/** The header that proves to be the proxy. */
export const BASIC = `Basic ${Buffer.from('the+proxy:secret%3Aof%2Bthe+proxy').toString('base64')}`;

type Answer = (
  subject: string,
  token: string,
) => { readonly status: number; readonly body: object } | undefined | Promise<undefined>;

export class ExchangeServer {
  /** The subjects whose tokens were exchanged, in order. */
  readonly exchanged: string[] = [];
  /** The requests that their client gave up. */
  aborted = 0;
  /** Replaces the answer to a request that is correct. */
  answer: Answer | undefined;
  /** The types of token that a request must name. */
  types = { subject: TYPE, requested: TYPE };
  readonly #audience: string;
  readonly #server = createServer((request, response) => void this.#handle(request, response));

  constructor(audience: string) {
    this.#audience = audience;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async open(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('close', () => {
      if (!response.writableEnded) this.aborted++;
    });
    const { status, body } = await this.#reply(request);
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(body));
  }

  async #reply(request: IncomingMessage): Promise<{ status: number; body: object }> {
    const { issuer, url } = { issuer: this.url, url: request.url };
    if (url === '/.well-known/oauth-authorization-server')
      return { status: 200, body: { issuer, token_endpoint: `${issuer}/token` } };
    if (url !== '/token') return { status: 404, body: {} };
    let text = '';
    for await (const chunk of request) text += String(chunk);
    if (request.headers.authorization !== BASIC) return { status: 401, body: { error: 'invalid_client' } };
    const { subject_token: token = '', ...sent } = Object.fromEntries(new URLSearchParams(text));
    const right =
      request.method === 'POST' &&
      request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') &&
      new URLSearchParams(text).size === Object.keys(sent).length + 1 &&
      JSON.stringify(Object.entries(sent).sort()) ===
        JSON.stringify([
          ['grant_type', 'urn:ietf:params:oauth:grant-type:token-exchange'],
          ['requested_token_type', this.types.requested],
          ['resource', this.#audience],
          ['scope', 'read write'],
          ['subject_token_type', this.types.subject],
        ]);
    if (!right) return { status: 400, body: { error: 'unsupported_grant_type' } };
    try {
      const { payload } = await jwtVerify(token, new TextEncoder().encode(SECRET), { issuer: ISSUER });
      const subject = String(payload.sub);
      this.exchanged.push(subject);
      return (await this.answer?.(subject, token)) ?? { status: 200, body: this.issue(subject) };
    } catch {
      return { status: 400, body: { error: 'invalid_request', error_description: `No: ${token}` } };
    }
  }

  issue(subject: string): object {
    const access_token = `behind-${subject}-${this.exchanged.length}`;
    return { access_token, issued_token_type: TYPE, token_type: 'Bearer', expires_in: 3600 };
  }
}
