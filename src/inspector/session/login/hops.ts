// The hops of a login: each request with its reply, in the order in which they happened.

import type { OAuthEvent } from '../../../oauth/client/hops/events.js';
import type { SafeFetch } from '../../../oauth/fetch/safe-fetch.js';
import type { AuthHop } from '../../contract/connection.js';
import { maskHeaders } from '../../wiretap/mask.js';
import type { HttpExchange } from '../../wiretap/seen.js';
import { maskBody, maskHopUrl } from './mask-body.js';

const MAX_HOPS = 100;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

export class Hops {
  #hops: Mutable<AuthHop>[] = [];
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get views(): readonly AuthHop[] {
    return this.#hops.map((hop) => ({ ...hop }));
  }

  clear(): void {
    this.#hops = [];
  }

  /** A fetch whose requests are hops. */
  tap(fetch: SafeFetch): SafeFetch {
    return async (url, init = {}) => {
      const hop = this.#begin(nameOf(String(url)));
      const { method = 'GET', headers = {}, body } = init;
      const sent = headers instanceof Headers ? Object.fromEntries(headers) : headers;
      hop.request = {
        method,
        url: maskHopUrl(String(url)),
        headers: maskHeaders(sent),
        ...(body && {
          body: maskBody(
            typeof body === 'string' || body instanceof URLSearchParams ? String(body) : '(bytes)',
            sent['content-type'] ?? (body instanceof URLSearchParams ? 'urlencoded' : ''),
          ),
        }),
      };
      this.#onChange();
      try {
        const response = await fetch(url, init);
        const type = response.headers.get('content-type') ?? '';
        const text = await response.clone().text();
        hop.reply = {
          status: response.status,
          headers: maskHeaders(Object.fromEntries(response.headers)),
          ...(text !== '' && { body: maskBody(text, type) }),
        };
        this.#end(hop, response.status < 400 ? 'ok' : 'failed');
        return response;
      } catch (error) {
        this.#end(hop, 'failed', error instanceof Error ? error.message : String(error));
        throw error;
      }
    };
  }

  /** The server's own request for a token. */
  challenged(status: number, exchange: HttpExchange | undefined): void {
    const hop = this.#begin('challenge');
    if (exchange !== undefined) {
      const { method, url, requestHeaders, responseHeaders = {} } = exchange;
      hop.request = { method, url, headers: { ...requestHeaders } };
      hop.reply = { status, headers: { ...responseHeaders } };
    }
    this.#end(hop, 'ok', `The server answers ${status} without a token, and says where to get one.`);
  }

  take(event: OAuthEvent): void {
    const last = this.#hops.at(-1);
    if (event.type === 'reply' && last !== undefined) last.name = event.hop;
    if (event.type === 'authorize') {
      const hop = this.#begin('authorization');
      hop.request = { method: 'GET', url: maskHopUrl(event.url), headers: {} };
      hop.detail = 'Log in at this address. It is opened by you, not by the inspector.';
    }
    if (event.type === 'tokens') this.#agree();
    if (event.type === 'failed') this.#fail(event.hop, event.message);
    this.#onChange();
  }

  /** The user has come back from the login. */
  #agree(): void {
    const waiting = this.#hops.find(({ name, outcome }) => name === 'authorization' && outcome === 'waiting');
    if (waiting === undefined) return;
    delete waiting.detail;
    this.#end(waiting, 'ok');
  }

  #fail(name: string, message: string): void {
    const hop = this.#hops.findLast((one) => one.name === name) ?? this.#begin(name);
    this.#end(hop, 'failed', message);
  }

  #begin(name: string): Mutable<AuthHop> {
    if (this.#hops.length >= MAX_HOPS) this.#hops.shift();
    const hop: Mutable<AuthHop> = { name, at: Date.now(), outcome: 'waiting' };
    this.#hops.push(hop);
    // A request after the login means that the user has agreed.
    if (name !== 'authorization') this.#agree();
    return hop;
  }

  #end(hop: Mutable<AuthHop>, outcome: 'ok' | 'failed', detail?: string): void {
    hop.outcome = outcome;
    hop.ms = Date.now() - hop.at;
    if (detail !== undefined) hop.detail = detail.slice(0, 1000);
    this.#onChange();
  }
}

/** The name of a request until its reply says which hop it was. */
function nameOf(url: string): string {
  if (url.includes('oauth-protected-resource')) return 'resource metadata';
  return url.includes('/.well-known/') ? 'authorization server metadata' : 'request';
}
