import type { SafeFetch } from 'fullmcp/oauth-proxy';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { type Answer, type Asked, Issued } from '../stand-ins/stand-in.js';

// A provider at its real addresses, without a network: the proxy reaches it through an injected fetch, the browser by `visit`.

/** The replies of a provider, by method and URL without the query. Everything else is 404. */
export type UpstreamRoutes = Readonly<Record<string, (asked: Asked) => Answer | Promise<Answer>>>;

/** The means of a stand-in. */
export interface StandInTools {
  /** The codes that wait to be exchanged. */
  readonly issued: Issued;
  /** Signs an ID token. */
  readonly sign: (claims: Readonly<Record<string, unknown>>) => Promise<string>;
  /** The public keys, as the provider publishes them. */
  readonly jwks: { readonly keys: readonly JWK[] };
}

/** One pair for all providers: to make one takes long. */
const keys = generateKeyPair('RS256');

/** A provider in memory that remembers what it was asked. */
export class UpstreamStandIn {
  readonly asked: Asked[] = [];
  readonly #routes: UpstreamRoutes;

  private constructor(routes: UpstreamRoutes) {
    this.#routes = routes;
  }

  static async start(make: (tools: StandInTools) => UpstreamRoutes): Promise<UpstreamStandIn> {
    const { privateKey, publicKey } = await keys;
    const sign = (claims: Readonly<Record<string, unknown>>) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k1', typ: 'JWT' }).sign(privateKey);
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', use: 'sig' }] };
    return new UpstreamStandIn(make({ issued: new Issued(), sign, jwks }));
  }

  /** The fetch to inject into the proxy. */
  readonly fetch: SafeFetch = async (address, init = {}) => {
    const { status = 200, json, form, location } = await this.#answer(String(address), init);
    const type = form === undefined ? 'application/json; charset=utf-8' : 'application/x-www-form-urlencoded';
    const text = form === undefined ? JSON.stringify(json ?? '') : new URLSearchParams(form).toString();
    const headers = { 'content-type': type, ...(location !== undefined && { location }) };
    return new Response(status === 204 ? null : text, { status, headers });
  };

  /** Opens a URL in the browser of a user who logs in and agrees. Returns the URL that the user is sent to. */
  async visit(url: string): Promise<string> {
    const { location, status, json } = await this.#answer(url, {});
    if (location === undefined) throw new Error(`The login page replied: ${status} ${JSON.stringify(json)}`);
    return location;
  }

  /** The requests to a URL. */
  to(url: string): readonly Asked[] {
    return this.asked.filter(({ path }) => path === url);
  }

  async #answer(address: string, init: Parameters<SafeFetch>[1] & object): Promise<Answer> {
    const { origin, pathname, searchParams: query } = new URL(address);
    const { method = 'GET' } = init;
    const body = String(init.body ?? '');
    const headers = new Headers(init.headers);
    const isForm = init.body instanceof URLSearchParams || /form/.test(headers.get('content-type') ?? '');
    const path = `${origin}${pathname}`;
    const form = new URLSearchParams(isForm ? body : '');
    const asked = {
      method,
      path,
      query,
      form,
      body,
      header: (name: string) => headers.get(name) ?? undefined,
    };
    this.asked.push(asked);
    return (
      (await this.#routes[`${method} ${path}`]?.(asked)) ?? { status: 404, json: { message: 'Not Found' } }
    );
  }
}
