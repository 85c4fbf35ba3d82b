// The login of a connection: the authorization of the client, with every hop visible, and the page at which the user logs in.

import { lazySafeFetch } from '../../../adapters/node/fetch/lazy-safe-fetch.js';
import { resolveTarget, type Target } from '../../../connect/targets/target.js';
import type { OAuthClient } from '../../../oauth/client/create-auth.js';
import type { OAuthEvent } from '../../../oauth/client/hops/events.js';
import { clientKey, readTokens, tokensKey } from '../../../oauth/client/store/records.js';
import type { TokenStore } from '../../../oauth/client/store/token-store.js';
import { isLoopbackUrl } from '../../../oauth/fetch/check-url.js';
import { oauth } from '../../../oauth.js';
import type { ClientAuth } from '../../../protocol/model/client-auth.js';
import { serverOf, withoutCredentials } from '../../../transports/http/client/target.js';
import type { AuthView, TokenView } from '../../contract/connection.js';
import type { HttpExchange } from '../../wiretap/seen.js';
import { Hops } from './hops.js';
import { viewOfTokens } from './token-view.js';

/** The account that `oauth` keeps the tokens of users under. */
const ACCOUNT = 'user';
/** The page waits for the user; a login that is given up must end some time. */
const LOGIN_MS = 30 * 60_000;

export interface LoginParts {
  /** The URL of the server that the login is for. */
  readonly server: string;
  readonly store: TokenStore;
  readonly onChange: () => void;
  /** Gets the tokens that are sent, so that nothing shows them that the server sends back. */
  readonly onSecret: (secret: string) => void;
}

export class Login {
  readonly #parts: LoginParts;
  readonly #hops: Hops;
  /** The keys of the store that this login has used. */
  readonly #keys = new Set<string>();
  #client: OAuthClient;
  #state: AuthView['state'] = 'none';
  #loginUrl: string | undefined;
  #token: TokenView | undefined;
  /** The token that was sent last. */
  #sent: string | undefined;
  #refused: HttpExchange | undefined;

  constructor(parts: LoginParts) {
    this.#parts = parts;
    this.#hops = new Hops(parts.onChange);
    this.#client = this.#newClient();
  }

  /** The `auth` of a connection. It stays the same object when everything is forgotten. */
  get auth(): ClientAuth {
    return {
      headersFor: async (request) => {
        const headers = await this.#client.headersFor(request);
        const [, header] =
          Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization') ?? [];
        const token = header?.replace(/^(?:bearer|dpop) /i, '');
        // A token is sent with many requests.
        if (token !== undefined && token !== this.#sent) this.#parts.onSecret(token);
        this.#sent = token;
        return headers;
      },
      onChallenge: (reply, request) => this.#client.onChallenge(reply, request),
      onReply: (reply, request) => this.#client.onReply?.(reply, request),
    };
  }

  get view(): AuthView {
    return {
      state: this.#state,
      hops: this.#hops.views,
      ...(this.#loginUrl !== undefined && { loginUrl: this.#loginUrl }),
      ...(this.#token && { token: this.#token }),
    };
  }

  /** A new attempt to connect begins: so do the hops. */
  begin(): void {
    this.#hops.clear();
    this.#loginUrl = undefined;
    this.#state = this.#token === undefined ? 'none' : 'logged-in';
    this.#parts.onChange();
  }

  /** A reply that refuses a request: the first hop of a login. */
  refused(exchange: HttpExchange): void {
    this.#refused = exchange;
  }

  /** Looks at the tokens that are kept. */
  async look(): Promise<void> {
    const tokens = await this.#tokens();
    this.#token = tokens && viewOfTokens(tokens);
    if (tokens !== undefined) this.#state = 'logged-in';
    this.#parts.onChange();
  }

  /** The connection has failed without a login. */
  failed(isUnauthorized: boolean): void {
    this.#loginUrl = undefined;
    if (this.#state === 'logging-in') this.#state = 'failed';
    else if (isUnauthorized)
      this.#state = this.#hops.views.some(({ outcome }) => outcome === 'failed') ? 'failed' : 'needed';
    this.#parts.onChange();
  }

  /** Deletes the tokens, and tells the authorization server. The next request begins with a login. */
  async logout(): Promise<void> {
    await this.#client.logout(this.#parts.server).catch(() => {});
    await this.#parts.store.delete(this.#tokensKey);
    this.#token = undefined;
  }

  /** Deletes tokens and registrations, and forgets everything that was found out about the authorization server. */
  async forget(): Promise<void> {
    const tokens = await this.#tokens().catch(() => undefined);
    await this.logout();
    const { store } = this.#parts;
    if (tokens !== undefined) this.#keys.add(clientKey(tokens.issuer, ACCOUNT));
    for (const key of this.#keys) await store.delete(key);
    this.#keys.clear();
    this.#client = this.#newClient();
    this.#refused = undefined;
    this.begin();
  }

  get #tokensKey(): string {
    return tokensKey(this.#parts.server, ACCOUNT);
  }

  async #tokens() {
    return (await readTokens(this.#parts.store, this.#tokensKey)).value;
  }

  #newClient(): OAuthClient {
    const { server } = this.#parts;
    const url = new URL(server);
    const privateHosts = isLoopbackUrl(url) ? [] : [url.origin];
    return oauth({
      client: { name: 'fullmcp' },
      store: this.#watched(),
      loginTimeoutMs: LOGIN_MS,
      fetch: this.#hops.tap(lazySafeFetch({ privateHosts })),
      // The page opens it, when the user wants it to.
      open: () => {},
      onEvent: (event) => this.#take(event),
    });
  }

  /** The store, which tells the keys that are used. */
  #watched(): TokenStore {
    const { store } = this.#parts;
    const seen = (key: string): string => {
      this.#keys.add(key);
      return key;
    };
    return {
      // A store that is broken must not keep servers out that need no login.
      get: (key) => store.get(seen(key)).catch(() => undefined),
      set: (key, value, options) => store.set(seen(key), value, options),
      delete: (key) => store.delete(key),
      lock: (key, options) => store.lock(key, options),
    };
  }

  #take(event: OAuthEvent): void {
    switch (event.type) {
      case 'challenge':
        this.#state = 'needed';
        this.#hops.challenged(event.status, this.#refused);
        break;
      case 'authorize':
        this.#state = 'logging-in';
        this.#loginUrl = event.url;
        break;
      case 'tokens':
        this.#state = 'logged-in';
        this.#loginUrl = undefined;
        void this.look().catch(() => {});
        break;
      case 'tokens deleted':
        this.#state = 'needed';
        this.#token = undefined;
        break;
      case 'failed':
        this.#state = 'failed';
        this.#loginUrl = undefined;
        break;
    }
    this.#hops.take(event);
    this.#parts.onChange();
  }
}

/** The URL that a login for a target belongs to; undefined if there cannot be one. Tokens never go over http to another computer. */
export function loginServer(target: Target): string | undefined {
  const resolved = resolveTarget(target);
  if (resolved.kind !== 'http' && resolved.kind !== 'websocket') return undefined;
  const { url } = resolved;
  if (!/^(?:https|wss):$/.test(url.protocol) && !isLoopbackUrl(url)) return undefined;
  return serverOf(withoutCredentials(url));
}
