import type { JsonObject } from '../../jsonrpc/message.js';
import { displayUrl } from '../../protocol/secrets/display-url.js';
import { checkUrl } from '../fetch/check-url.js';
import { SafeFetchError } from '../fetch/safe-fetch.js';
import { DocumentError } from './document-error.js';
import { type DocumentOptions, policyOf, type ReadingOptions } from './document-options.js';
import { fetchDocument } from './fetch-document.js';
import { Fields, quoted } from './fields.js';

// Authorization server metadata (RFC 8414, OpenID Connect Discovery 1.0): from an issuer to its endpoints.

const hop = 'authorization server metadata';

const endpoints = [
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
  'introspection_endpoint',
  'userinfo_endpoint',
  'device_authorization_endpoint',
  'pushed_authorization_request_endpoint',
  'jwks_uri',
] as const;
const lists = [
  'scopes_supported',
  'response_types_supported',
  'grant_types_supported',
  'code_challenge_methods_supported',
  'token_endpoint_auth_methods_supported',
  'token_endpoint_auth_signing_alg_values_supported',
  'dpop_signing_alg_values_supported',
] as const;
const flags = [
  'authorization_response_iss_parameter_supported',
  'client_id_metadata_document_supported',
  'require_pushed_authorization_requests',
] as const;

/**
 * The metadata of an authorization server with the names of RFC 8414, fit for oauth4webapi. Members that are not listed here are
 * there too, as the server sent them.
 */
export type AuthorizationServer = {
  /** The issuer, as the server spells it. */
  readonly issuer: string;
} & {
  readonly [Name in (typeof endpoints)[number]]?: string;
} & { readonly [Name in (typeof lists)[number]]?: string[] } & {
  readonly [Name in (typeof flags)[number]]?: boolean;
};

/** The exceptions for one issuer that does not follow the rules. */
export interface IssuerExceptions {
  /**
   * The `issuer` that the metadata of this server has instead of its own. An authorization server could otherwise pretend to be
   * another one, so name only the exact text that you have seen and trust.
   */
  readonly publishedIssuer?: string | undefined;
  /** Whether the server supports PKCE with S256 although its metadata does not say so, as those of Entra ID and Cognito do not. */
  readonly assumeS256?: boolean | undefined;
}

/** The addresses where the metadata of an issuer may be, in the order of the specification. */
export function authorizationServerAddresses(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.endsWith('/') ? pathname.slice(0, -1) : pathname;
  const inserted = ['oauth-authorization-server', 'openid-configuration'].map(
    (name) => `${origin}/.well-known/${name}${path}`,
  );
  return path === '' ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`];
}

/** How metadata is searched for. */
interface DiscoveryOptions extends DocumentOptions, IssuerExceptions {
  /**
   * Whether the keys must be found. A provider may have two documents, of which the one for OAuth lacks what is in the one for
   * OpenID: it is then completed. Default: false.
   */
  readonly needsKeys?: boolean | undefined;
}

/** Finds and checks the metadata of an authorization server. */
export async function discoverAuthorizationServer(
  issuer: string,
  options: DiscoveryOptions,
): Promise<AuthorizationServer> {
  checkIssuer(issuer, options);
  const { fetch, loopback, signal, needsKeys = false } = options;
  const replies: string[] = [];
  let incomplete: AuthorizationServer | undefined;
  for (const url of authorizationServerAddresses(issuer)) {
    const found = await fetchDocument(url, { fetch, hop, loopback, signal });
    if ('json' in found) {
      const server = { ...readAuthorizationServer(found.json, { ...options, issuer, url }), ...incomplete };
      if (!needsKeys || server.jwks_uri !== undefined) return server;
      incomplete = server;
    } else replies.push(found.reply);
  }
  if (incomplete !== undefined) return incomplete;
  throw new DocumentError(
    hop,
    'not_found',
    `The authorization server ${displayUrl(issuer)} does not have ${hop}: ${replies.join('; ')}.`,
  );
}

/** Checks a document of an authorization server. The issuer is compared as text: a slash more is another issuer. */
function readAuthorizationServer(
  json: JsonObject,
  options: ReadingOptions & IssuerExceptions & { readonly issuer: string; readonly url: string },
): AuthorizationServer {
  const { issuer, url, publishedIssuer = issuer } = options;
  const policy = policyOf(options);
  const fields = new Fields(json, { hop, where: displayUrl(url) });
  const published = fields.requiredString('issuer');
  if (published !== publishedIssuer)
    throw new DocumentError(
      hop,
      'issuer_mismatch',
      `The ${hop} at ${displayUrl(url)} is of the issuer ${quoted(published)}, and ${quoted(publishedIssuer)} was expected. Both must be the same text. If you trust this server, name the difference as its \`publishedIssuer\`.`,
    );
  const checked: Record<string, unknown> = {};
  for (const name of endpoints) checked[name] = fields.url(name, policy);
  for (const name of lists) checked[name] = fields.strings(name);
  for (const name of flags) checked[name] = fields.boolean(name);
  // Absent members stay absent: libraries distinguish them from undefined ones.
  const present = Object.entries({ ...json, ...checked }).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  return { ...Object.fromEntries(present), issuer: published };
}

/** Throws unless the authorization server supports PKCE with S256: the specification demands to refuse it before the browser opens. */
export function requireS256(
  server: AuthorizationServer,
  { assumeS256 = false }: IssuerExceptions = {},
): void {
  const methods = server.code_challenge_methods_supported;
  if (methods?.includes('S256') || (methods === undefined && assumeS256)) return;
  const says = methods === undefined ? 'does not say that it supports' : 'does not support';
  throw new DocumentError(
    hop,
    'no_pkce',
    `The authorization server ${displayUrl(server.issuer)} ${says} PKCE with S256 (\`code_challenge_methods_supported\`), without which a stolen code can be used.${methods === undefined ? ' If you know that it does, set `assumeS256` for this issuer.' : ''}`,
  );
}

function checkIssuer(issuer: string, options: ReadingOptions): void {
  const refuse = (why: string, cause?: unknown): DocumentError =>
    new DocumentError(hop, 'bad_document', `The issuer ${displayUrl(issuer)} cannot be used: ${why}`, {
      cause,
    });
  try {
    checkUrl(issuer, policyOf(options));
  } catch (error) {
    throw error instanceof SafeFetchError ? refuse(error.message, error) : error;
  }
  // RFC 8414, section 2.
  if (/[?#]/.test(issuer)) throw refuse('an issuer does not have a query or a fragment.');
}
