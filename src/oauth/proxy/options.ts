import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import type { ClientDocumentProfile } from '../documents/cimd/client-id.js';
import { isLoopbackUrl } from '../fetch/check-url.js';
import type { SafeFetch } from '../fetch/safe-fetch.js';
import type { KnownClient } from './clients/client.js';
import { checkSchemes } from './clients/redirect-uris.js';
import type { Addresses, Admit } from './endpoints/parts.js';
import type { UpstreamProvider } from './upstream/provider.js';

/** The options of `oauthProxy`. */
export interface OAuthProxyOptions {
  /** The provider that users log in to: a preset, or `openId`. Register the redirect URI `<issuer>/callback` there. */
  readonly upstream: UpstreamProvider;
  /** The URL of the MCP server, as clients see it. All tokens are for this URL. */
  readonly publicUrl: string | URL;
  /**
   * The path of the endpoints, such as `/oauth`; '' is the root of the host. The issuer is the host with this path. Default: the
   * path of `publicUrl` without its last part.
   */
  readonly path?: string | undefined;
  /** The name of the server on the pages that users see. Default: the name of the MCP server. */
  readonly name?: string | undefined;
  /** The scopes that clients may ask for, as an array or as an object with a description of each for users. Default: none. */
  readonly scopes?: readonly string[] | Readonly<Record<string, string>> | undefined;
  /**
   * The scopes that clients begin with: a 401 names them, and clients that do not ask for any get them. A client asks for the others
   * when a tool needs one. Default: all.
   */
  readonly defaultScopes?: readonly string[] | undefined;
  /** Decides who may log in, and with which scopes. Default: every user whom the provider identifies, with all that was asked for. */
  readonly admit?: Admit | undefined;
  /** The clients that you registered yourself. Default: none. */
  readonly clients?: readonly KnownClient[] | undefined;
  /**
   * Whether clients may be described by a document at the URL that is their client id, and by which rules. Default: `mcp`, the rules
   * of the MCP specification.
   */
  readonly clientDocuments?: ClientDocumentProfile | false | undefined;
  /** Whether clients may register themselves. Default: true. */
  readonly registration?: boolean | undefined;
  /** The number of clients that may register themselves in an hour. Default: 1000. */
  readonly maxRegistrationsPerHour?: number | undefined;
  /** Schemes of applications that may be in redirect URIs, such as `cursor`. Schemes with a dot always may. Default: none. */
  readonly redirectSchemes?: readonly string[] | undefined;
  /** The lifetime of access tokens. Default: 1 hour. */
  readonly accessTokenMs?: number | undefined;
  /** The time after which a user has to log in again, however often the client refreshes its tokens. Default: 30 days. */
  readonly maxAgeMs?: number | undefined;
  /**
   * The same for logins that the provider cannot confirm again, because it issued no refresh token. All others are confirmed this
   * often, even if the tokens of the provider do not expire. Default: 1 day.
   */
  readonly unverifiedMaxAgeMs?: number | undefined;
  /** How long a client may repeat a refresh token after its use, because the reply may have been lost. Default: 30 s. */
  readonly refreshGraceMs?: number | undefined;
  /** How long another process may accept an access token after it was revoked. Default: 10 s. */
  readonly recheckMs?: number | undefined;
  /** Whether a request without credentials is served for an anonymous caller. Default: it gets 401. */
  readonly optional?: boolean | undefined;
  /** Hosts of the provider on a private network: exact names or origins. The host of its issuer is always allowed. Default: none. */
  readonly privateHosts?: readonly string[] | undefined;
  /** Sends all requests of the proxy. Default: a `fetch` that reaches only public addresses, and those of the provider. */
  readonly fetch?: SafeFetch | undefined;
}

const HOUR_MS = 60 * 60 * 1000;

const optionTable = {
  upstream: 'any',
  publicUrl: 'any',
  path: 'any',
  name: 'string',
  scopes: ['strings', 'object'],
  defaultScopes: 'strings',
  admit: 'function',
  clients: 'array',
  clientDocuments: { is: 'any', default: 'mcp' },
  registration: { is: 'boolean', default: true },
  maxRegistrationsPerHour: { is: 'count', default: 1000 },
  redirectSchemes: 'strings',
  accessTokenMs: { is: 'count', default: HOUR_MS },
  maxAgeMs: { is: 'count', default: 30 * 24 * HOUR_MS },
  unverifiedMaxAgeMs: { is: 'count', default: 24 * HOUR_MS },
  refreshGraceMs: { is: 'count', default: 30_000 },
  recheckMs: { is: 'count', default: 10_000 },
  optional: 'boolean',
  privateHosts: 'strings',
  fetch: 'function',
} as const satisfies OptionTable<OAuthProxyOptions>;

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** The options with their defaults. */
export interface ProxySettings {
  readonly addresses: Addresses;
  readonly scopes: ReadonlyMap<string, string>;
  readonly defaultScopes: readonly string[];
  readonly profile: ClientDocumentProfile | undefined;
  readonly schemes: readonly string[];
  readonly maxRegistrationsPerHour: number;
  readonly accessTokenMs: number;
  readonly maxAgeMs: number;
  readonly unverifiedMaxAgeMs: number;
  readonly refreshGraceMs: number;
  readonly recheckMs: number;
}

/** Checks the options. Throws a TypeError that says what is wrong. */
export function readOAuthProxyOptions(given: OAuthProxyOptions): ProxySettings {
  const options = readOptions('oauthProxy', given, optionTable);
  checkUpstream(options.upstream);
  const { clientDocuments, redirectSchemes = [], scopes = [] } = options;
  checkSchemes(redirectSchemes);
  const { maxRegistrationsPerHour, accessTokenMs, maxAgeMs, unverifiedMaxAgeMs } = options;
  const { refreshGraceMs, recheckMs } = options;
  const described = new Map<string, string>(
    Array.isArray(scopes) ? scopes.map((scope: string) => [scope, '']) : Object.entries(scopes),
  );
  const { defaultScopes = [...described.keys()] } = options;
  for (const scope of described.keys())
    if (!SCOPE.test(scope)) throw new TypeError(`oauthProxy: ${JSON.stringify(scope)} cannot be a scope.`);
  for (const scope of defaultScopes)
    if (!described.has(scope))
      throw new TypeError(`oauthProxy: the default scope ${JSON.stringify(scope)} must be one of "scopes".`);
  return {
    maxRegistrationsPerHour,
    accessTokenMs,
    maxAgeMs,
    unverifiedMaxAgeMs,
    refreshGraceMs,
    recheckMs,
    addresses: readAddresses(options),
    scopes: described,
    defaultScopes,
    profile: clientDocuments === false ? undefined : clientDocuments,
    schemes: redirectSchemes,
  };
}

function checkUpstream(upstream: unknown): void {
  const { issuer, identify } = (upstream ?? {}) as Partial<UpstreamProvider>;
  if (typeof issuer === 'string' && URL.canParse(issuer) && typeof identify === 'function') return;
  throw new TypeError(
    'oauthProxy: "upstream" must be the provider that users log in to, such as openId({ issuer, clientId, clientSecret }).',
  );
}

function readAddresses({ publicUrl, path }: OAuthProxyOptions): Addresses {
  const resource = String(publicUrl);
  if (!URL.canParse(resource))
    throw new TypeError('oauthProxy: "publicUrl" must be the URL of the MCP server, as clients see it.');
  const url = new URL(resource);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackUrl(url)))
    throw new TypeError('oauthProxy: "publicUrl" must begin with https://, except on this computer.');
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
    throw new TypeError('oauthProxy: "publicUrl" must not have a query, a fragment or user information.');
  const base = path ?? url.pathname.replace(/\/[^/]*\/?$/, '');
  if (base !== '' && !/^(?:\/[\w.~-]+)+$/.test(base))
    throw new TypeError(
      'oauthProxy: "path" must begin with a slash and must not end with one, such as "/oauth".',
    );
  return { issuer: `${url.origin}${base}`, resource, base, origin: url.origin };
}
