import * as oauth from 'oauth4webapi';
import type { JsonObject } from '../../../jsonrpc/message.js';
import { type FilledOptions, type OptionTable, readOptions } from '../../../protocol/checks/options.js';
import { McpError } from '../../../protocol/errors.js';
import { displayUrl } from '../../../protocol/secrets/display-url.js';
import type { AuthContext } from '../../../state/auth-provider.js';
import { discoverAuthorizationServer } from '../../documents/authorization-server.js';
import { basicCredentials } from '../../fetch/basic-credentials.js';
import type { SafeFetch } from '../../fetch/safe-fetch.js';
import { CredentialsError } from '../credentials.js';
import { checkChosenUrl, chosenHosts, loopbackFor } from '../keys/load-keys.js';
import type { VerifierRuntime } from '../keys/runtime.js';
import { own, readCaller, wrongAudience } from './claims.js';
import { TokenCache, type TokenVerdict } from './token-cache.js';
import { audiencesOf, checkTokenOptions, type TokenOptions, tokenTable } from './token-options.js';
import { createTokenProvider, type TokenProvider } from './token-provider.js';
import { final, foreign, readBinding, wrongClient } from './verify-jwt.js';

// Tokens about which the authorization server is asked (RFC 7662).

/** The options of `introspection`. One of `issuer` and `endpoint` is required. */
export interface IntrospectionOptions extends TokenOptions {
  /** The authorization server. Its metadata has the endpoint, and clients log in there. */
  readonly issuer?: string | undefined;
  /** The URL of the endpoint. Default: the `introspection_endpoint` of the issuer's metadata. */
  readonly endpoint?: string | undefined;
  /** The name of this server at the authorization server. */
  readonly clientId: string;
  /** The secret of this server at the authorization server. */
  readonly clientSecret: string;
  /** How the secret is sent. Default: `client_secret_basic`. */
  readonly authentication?: 'client_secret_basic' | 'client_secret_post' | undefined;
  /** The hosts on private networks that may be asked, besides those of `issuer` and `endpoint`. Default: none. */
  readonly privateHosts?: readonly string[] | undefined;
}

const optionTable = {
  ...tokenTable,
  cacheSeconds: { ...tokenTable.cacheSeconds, default: 30 },
  issuer: 'string',
  endpoint: 'string',
  clientId: 'any',
  clientSecret: 'any',
  authentication: { oneOf: ['client_secret_basic', 'client_secret_post'] },
  privateHosts: 'strings',
} as const satisfies OptionTable<IntrospectionOptions>;

type Settings = FilledOptions<IntrospectionOptions, typeof optionTable>;

const REJECTED_MS = 5_000;
const ENDPOINT_MS = 3_600_000;
const RETRY_MS = 5_000;
const MAX_BYTES = 64 * 1024;
const TIMEOUT_MS = 5000;
/** Invented tokens must not open any number of connections to the authorization server. */
const MAX_ASKING = 500;

/** Makes `introspection` for a runtime. */
export function makeIntrospection(
  runtime: VerifierRuntime,
): (options: IntrospectionOptions) => TokenProvider {
  return function introspection(given) {
    const options = readSettings(given);
    const { issuer, endpoint, cacheSeconds } = options;
    const privateHosts = chosenHosts([issuer, endpoint], options.privateHosts);
    if (issuer !== undefined && endpoint === undefined)
      checkChosenUrl('introspection', issuer, { option: 'issuer', privateHosts });
    if (endpoint !== undefined)
      checkChosenUrl('introspection', endpoint, { option: 'endpoint', privateHosts });
    const asker = new Asker(options, { fetch: runtime.safeFetch({ privateHosts }), privateHosts });
    return createTokenProvider({
      name: 'introspection',
      options,
      runtime,
      // A token may be so new that not every part of the authorization server knows it yet.
      cache: new TokenCache({ keepMs: cacheSeconds * 1000, rejectedMs: REJECTED_MS }),
      verify: async (token) => judge(await asker.ask(token), options),
      authorizationServers: issuer === undefined ? [] : [issuer],
      start: ({ log }) => asker.start(log),
      close: () => asker.close(),
    });
  };
}

function readSettings(given: IntrospectionOptions): Settings {
  const options = readOptions('introspection', given, optionTable);
  checkTokenOptions('introspection', options);
  const { issuer, endpoint, clientId, clientSecret } = options;
  const wrong = (what: string): TypeError => new TypeError(`introspection: ${what}`);
  if (issuer === undefined && endpoint === undefined) throw wrong('`issuer` or `endpoint` is required.');
  if (
    typeof clientId !== 'string' ||
    clientId === '' ||
    typeof clientSecret !== 'string' ||
    clientSecret === ''
  )
    throw wrong('`clientId` and `clientSecret` are required: the authorization server tells others nothing.');
  return options;
}

function judge(claims: JsonObject, options: Settings): TokenVerdict {
  const { issuer, endpoint = '', clientIds, claims: names, clockToleranceSeconds: tolerance } = options;
  if (own(claims, 'active') !== true)
    return foreign('The token is not active: it has expired, was revoked, or is unknown.');
  const { exp, nbf, iss } = claims;
  const now = Date.now() / 1000;
  if (typeof exp === 'number' && now >= exp + tolerance) return final('The token has expired (exp).');
  if (typeof nbf === 'number' && now < nbf - tolerance)
    return { reason: 'The token is not valid yet (nbf).', isFinal: false };
  if (issuer !== undefined && iss !== undefined && iss !== issuer)
    return final('The token is from another issuer (iss) than this server accepts.');
  const reason =
    wrongUse(claims) ?? wrongAudience(claims, audiencesOf(options)) ?? wrongClient(claims, clientIds, names);
  if (reason !== undefined) return final(reason);
  const expiresAt = typeof exp === 'number' ? (exp + tolerance) * 1000 : undefined;
  const named = issuer ?? (typeof iss === 'string' && iss !== '' ? iss : endpoint);
  const caller = readCaller(claims, { names, issuer: named, expiresAt });
  if ('reason' in caller) return final(caller.reason);
  const binding = readBinding(claims);
  return 'reason' in binding ? final(binding.reason) : { auth: caller.auth, jkt: binding.jkt };
}

/** Authorization servers also know refresh tokens and ID tokens, and each of them says so in its own way. */
function wrongUse({ token_type: type, token_use: use, typ }: JsonObject): string | undefined {
  const isAccessToken =
    (typeof type !== 'string' || /^(?:bearer|dpop)$/i.test(type)) &&
    (typeof use !== 'string' || /^access(?:_token)?$/.test(use)) &&
    (typeof typ !== 'string' || !/^(?:refresh|offline|id)$/i.test(typ));
  return isAccessToken ? undefined : 'The token is not an access token (token_type, token_use, typ).';
}

/** Asks the authorization server. */
class Asker {
  readonly #options: IntrospectionOptions;
  readonly #fetch: SafeFetch;
  readonly #privateHosts: readonly string[];
  #closing = new AbortController();
  #endpoint: { readonly url: string; readonly at: number } | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #hasTrouble = false;
  #asking = 0;
  #log: AuthContext['log'] | undefined;

  constructor(
    options: IntrospectionOptions,
    { fetch, privateHosts }: { readonly fetch: SafeFetch; readonly privateHosts: readonly string[] },
  ) {
    this.#options = options;
    this.#fetch = fetch;
    this.#privateHosts = privateHosts;
  }

  start(log: AuthContext['log']): void {
    if (this.#closing.signal.aborted) this.#closing = new AbortController();
    this.#log = log;
  }

  close(): void {
    this.#closing.abort(new McpError('connection_closed', 'The server was closed.'));
  }

  /** The claims of a token. Throws a 503 if the authorization server does not say. */
  async ask(token: string): Promise<JsonObject> {
    if (this.#asking >= MAX_ASKING)
      throw undecided(`${MAX_ASKING} tokens are being checked at this moment. Retry later.`);
    this.#asking++;
    try {
      const claims = await this.#request(await this.#find(), token);
      this.#hasTrouble = false;
      return claims;
    } catch (error) {
      const { issuer, endpoint = issuer ?? '' } = this.#options;
      const why = error instanceof Error ? error.message : '';
      if (!this.#hasTrouble && !this.#closing.signal.aborted)
        this.#log?.(
          'warning',
          `Tokens cannot be checked: ${displayUrl(endpoint)} does not answer as expected. ${why}`,
        );
      this.#hasTrouble = true;
      // The cause has no token in it: it could be in a message of the peer, so the peer's words are left out.
      throw undecided(
        'The token cannot be checked now, because its authorization server does not answer. Retry later.',
      );
    } finally {
      this.#asking--;
    }
  }

  async #find(): Promise<string> {
    const { issuer = '', endpoint } = this.#options;
    if (endpoint !== undefined) return endpoint;
    const now = Date.now();
    if (this.#endpoint !== undefined && now - this.#endpoint.at < ENDPOINT_MS) return this.#endpoint.url;
    if (now - this.#failedAt < RETRY_MS) throw new Error('Its metadata could not be fetched a moment ago.');
    try {
      const { introspection_endpoint: url } = await discoverAuthorizationServer(issuer, {
        fetch: this.#fetch,
        loopback: loopbackFor(issuer),
        privateHosts: this.#privateHosts,
        signal: this.#closing.signal,
      });
      if (url === undefined) throw new Error('Its metadata does not have an `introspection_endpoint`.');
      this.#endpoint = { url, at: now };
      return url;
    } catch (error) {
      this.#failedAt = now;
      throw error;
    }
  }

  async #request(url: string, token: string): Promise<JsonObject> {
    const { issuer = new URL(url).origin, endpoint, clientId, clientSecret, authentication } = this.#options;
    const server = { issuer, introspection_endpoint: url };
    const client = { client_id: clientId };
    const authenticate: oauth.ClientAuth =
      authentication === 'client_secret_post'
        ? oauth.ClientSecretPost(clientSecret)
        : (_server, _client, _body, headers) => {
            headers.set('authorization', basicCredentials(clientId, clientSecret));
          };
    const response = await oauth.introspectionRequest(server, client, authenticate, token, {
      additionalParameters: { token_type_hint: 'access_token' },
      // The fetch decides for itself; without this, it would never be asked about http.
      [oauth.allowInsecureRequests]: true,
      [oauth.customFetch]: (address, { method, headers, body }) =>
        this.#fetch(address, {
          method,
          headers,
          body: body as URLSearchParams | string | undefined,
          redirect: 'error',
          loopback: loopbackFor(endpoint ?? issuer),
          maxBytes: MAX_BYTES,
          timeoutMs: TIMEOUT_MS,
        }),
      signal: this.#closing.signal,
    });
    return (await oauth.processIntrospectionResponse(server, client, response)) as unknown as JsonObject;
  }
}

/** The error for a token that may be anybody's: only the authorization server knows. */
function undecided(message: string): CredentialsError {
  return new CredentialsError('overloaded', message, { isRecognized: false });
}
