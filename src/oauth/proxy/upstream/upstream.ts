import * as oauth from 'oauth4webapi';
import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import {
  type ClientAuthentication,
  noAuthentication,
  secretAuthentication,
} from '../../client/hops/authentication.js';
import { repairTokenReply } from '../../client/hops/repair.js';
import type { AuthorizationServer } from '../../documents/authorization-server.js';
import { isLoopbackUrl } from '../../fetch/check-url.js';
import type { SafeFetch } from '../../fetch/safe-fetch.js';
import { type KeySet, remoteKeySet, verifyIdToken } from './id-token.js';
import { upstreamMetadata } from './metadata.js';
import type { UpstreamContext, UpstreamLogin, UpstreamProvider, UpstreamTokens } from './provider.js';
import { toUpstreamError, UpstreamError } from './upstream-error.js';

// Requests to the provider behind the proxy: PKCE, state and nonce of our own, and tokens that stay here.

/** The secrets of one login at the provider. */
export interface UpstreamSecrets {
  readonly state: string;
  readonly verifier: string;
  readonly nonce: string;
}

interface UpstreamParts {
  readonly fetch: SafeFetch;
  /** The one address that the provider sends users back to. */
  readonly callback: string;
  /** Hosts on a private network that the operator named. */
  readonly privateHosts: readonly string[];
}

/** The provider behind the proxy. */
export class Upstream {
  readonly provider: UpstreamProvider;
  readonly #fetch: SafeFetch;
  readonly #parts: UpstreamParts;
  readonly #loopback: 'allow' | 'refuse';
  readonly #client: oauth.Client;
  readonly #keySets = new Map<string, KeySet>();
  readonly #metadata: () => Promise<AuthorizationServer>;

  constructor(provider: UpstreamProvider, parts: UpstreamParts) {
    this.provider = provider;
    this.#parts = parts;
    // The operator chose the provider. Only a provider on this computer may be reached there.
    this.#loopback = isLoopbackUrl(new URL(provider.issuer)) ? 'allow' : 'refuse';
    this.#fetch = (url, init) => parts.fetch(url, { ...init, loopback: this.#loopback });
    this.#client = { client_id: provider.clientId };
    const { privateHosts } = parts;
    this.#metadata = upstreamMetadata(provider, {
      fetch: this.#fetch,
      loopback: this.#loopback,
      privateHosts,
    });
  }

  /** The address where the user logs in. */
  async authorizationUrl(secrets: UpstreamSecrets): Promise<string> {
    const server = await this.#metadata();
    const { clientId, pushedRequests = server.require_pushed_authorization_requests ?? false } =
      this.provider;
    const parameters = await this.#authorizationParameters(secrets);
    const url = new URL(server.authorization_endpoint as string);
    const shown = pushedRequests
      ? { client_id: clientId, request_uri: await this.#push(parameters, secrets) }
      : parameters;
    for (const [name, value] of Object.entries(shown)) url.searchParams.set(name, value);
    return url.href;
  }

  async #authorizationParameters({
    state,
    verifier,
    nonce,
  }: UpstreamSecrets): Promise<Record<string, string>> {
    const { scopes, authorizationParameters, clientId, pkce = true } = this.provider;
    return {
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      ...authorizationParameters,
      response_type: 'code',
      client_id: clientId,
      redirect_uri: this.#parts.callback,
      state,
      ...(scopes.includes('openid') && { nonce }),
      ...(pkce && {
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }),
    };
  }

  /** Sends the parameters to the provider, so that the browser never has them (RFC 9126). Returns the name of the request. */
  #push(parameters: Readonly<Record<string, string>>, { state, nonce }: UpstreamSecrets): Promise<string> {
    return this.#run('the pushed request', [state, nonce], async (server, options) => {
      if (server.pushed_authorization_request_endpoint === undefined)
        throw new UpstreamError(
          `The metadata of ${server.issuer} has no pushed_authorization_request_endpoint, which is needed to push requests.`,
        );
      const response = await oauth.pushedAuthorizationRequest(
        server,
        this.#client,
        this.#authentication(server),
        parameters,
        options,
      );
      const reply = await oauth.processPushedAuthorizationResponse(server, this.#client, response);
      return reply.request_uri;
    });
  }

  /** Redeems the code of a callback. Checks `state` and `iss` first. */
  async redeem(parameters: URLSearchParams, secrets: UpstreamSecrets): Promise<UpstreamLogin> {
    const { tokenParameters, pkce = true } = this.provider;
    const code = parameters.get('code') ?? undefined;
    return this.#run('the code', [code, secrets.verifier], async (server, options, idTokens) => {
      const checked = oauth.validateAuthResponse(server, this.#client, parameters, secrets.state);
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        this.#client,
        this.#authentication(server),
        checked,
        this.#parts.callback,
        pkce ? secrets.verifier : oauth.nopkce,
        { ...options, additionalParameters: { ...tokenParameters } },
      );
      const reply = await oauth.processAuthorizationCodeResponse(server, this.#client, response);
      return { ...tokensOf(reply), idToken: idTokens.at(-1), reply: reply as JsonObject };
    });
  }

  /** Gets new tokens. The old refresh token stays if the provider does not send another. */
  async refresh(tokens: UpstreamTokens): Promise<UpstreamTokens> {
    const { refreshToken } = tokens;
    if (refreshToken === undefined)
      throw new UpstreamError('The login has no refresh token.', { isFinal: true });
    return this.#run('the refresh token', [refreshToken], async (server, options) => {
      const response = await oauth.refreshTokenGrantRequest(
        server,
        this.#client,
        this.#authentication(server),
        refreshToken,
        { ...options, additionalParameters: { ...this.provider.tokenParameters } },
      );
      const reply = await oauth.processRefreshTokenResponse(server, this.#client, response);
      const fresh = tokensOf(reply);
      return {
        ...fresh,
        refreshToken: fresh.refreshToken ?? refreshToken,
        scope: fresh.scope ?? tokens.scope,
      };
    });
  }

  /** Revokes tokens, if the provider can. */
  async revoke(tokens: UpstreamTokens): Promise<void> {
    if (this.provider.revoke !== undefined)
      return void (await this.provider.revoke(tokens, await this.context()));
    const token = tokens.refreshToken ?? tokens.accessToken;
    await this.#run('the revocation', [token], async (server, options) => {
      if (server.revocation_endpoint === undefined) return;
      const response = await oauth.revocationRequest(
        server,
        this.#client,
        this.#authentication(server),
        token,
        options,
      );
      await oauth.processRevocationResponse(response);
    });
  }

  /** The means for the functions of the provider. Without a nonce, an ID token need not have one. */
  async context(nonce?: string): Promise<UpstreamContext> {
    const { issuer, clientId, scopes } = this.provider;
    const server = await this.#metadata();
    return {
      server,
      fetch: this.#fetch,
      verifyIdToken: async (idToken, expected = {}) => {
        if (server.jwks_uri === undefined)
          throw new Error('The provider does not name its keys (`jwks_uri`).');
        return verifyIdToken(idToken, {
          ...expected,
          issuer: expected.issuer ?? server.issuer ?? issuer,
          clientId,
          keys: this.#keysOf(server.jwks_uri),
          nonce: scopes.includes('openid') ? nonce : undefined,
        });
      },
    };
  }

  #keysOf(url: string): KeySet {
    const keys = this.#keySets.get(url) ?? remoteKeySet(url, this.#fetch);
    if (!this.#keySets.has(url)) {
      this.#keySets.clear();
      this.#keySets.set(url, keys);
    }
    return keys;
  }

  async #run<T>(
    step: string,
    secrets: readonly (string | undefined)[],
    request: (
      server: AuthorizationServer,
      options: RequestOptions,
      idTokens: readonly string[],
    ) => Promise<T>,
  ): Promise<T> {
    const idTokens: string[] = [];
    const options: RequestOptions = {
      [oauth.customFetch]: async (url, { method, headers, body }) => {
        const sent = await this.#fetch(url, { method, headers, body, redirect: 'manual' });
        const response = (await this.provider.repair?.(sent)) ?? sent;
        const idToken = await idTokenOf(response.clone());
        if (idToken !== undefined) idTokens.push(idToken);
        return repairTokenReply(response);
      },
      // The hardened fetch decides: http is for this computer, and for origins that the operator named.
      [oauth.allowInsecureRequests]:
        this.#loopback === 'allow' || this.#parts.privateHosts.some((host) => host.startsWith('http:')),
    };
    try {
      return await request(await this.#metadata(), options, idTokens);
    } catch (error) {
      throw toUpstreamError(error, step, [...secrets, this.provider.clientSecret]);
    }
  }

  #authentication(server: AuthorizationServer): oauth.ClientAuth {
    const { clientSecret, authentication } = this.provider;
    if (typeof authentication === 'object') return authentication.authenticate;
    if (clientSecret === undefined || authentication === 'none') return noAuthentication.authenticate;
    const method = authentication ?? secretMethodOf(server);
    const found: ClientAuthentication | undefined = secretAuthentication(method, clientSecret);
    if (found === undefined)
      throw new UpstreamError(`The authentication method "${method}" is not supported.`);
    return found.authenticate;
  }
}

interface RequestOptions {
  [oauth.customFetch]: (
    url: string,
    init: {
      readonly method: string;
      readonly headers: Record<string, string>;
      readonly body?: URLSearchParams | string | undefined;
    },
  ) => Promise<Response>;
  [oauth.allowInsecureRequests]: boolean;
}

const MAX_TOKEN_LENGTH = 64 * 1024;

/** The tokens of a reply, with the time when they expire. */
function tokensOf(reply: oauth.TokenEndpointResponse): UpstreamTokens {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn, scope } = reply;
  for (const token of [accessToken, refreshToken])
    if (token !== undefined && token.length > MAX_TOKEN_LENGTH)
      throw new UpstreamError(`A token has more than ${MAX_TOKEN_LENGTH} characters.`);
  return {
    accessToken,
    refreshToken,
    expiresAt: expiresIn === undefined ? undefined : Date.now() + expiresIn * 1000,
    scope,
  };
}

/** The method that a provider prefers for a secret. */
function secretMethodOf({ token_endpoint_auth_methods_supported: supported }: AuthorizationServer): string {
  const methods = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt'];
  return methods.find((method) => supported?.includes(method)) ?? 'client_secret_basic';
}

/** The ID token of a reply. The checks of oauth4webapi do not know the exceptions of providers, so it never sees the token. */
async function idTokenOf(response: Response): Promise<string | undefined> {
  try {
    const body: unknown = await response.json();
    return isObject(body) && typeof body['id_token'] === 'string' ? body['id_token'] : undefined;
  } catch {
    return undefined;
  }
}
