import type { JsonObject } from '../../jsonrpc/message.js';
import { displayUrl } from '../../protocol/secrets/display-url.js';
import { DocumentError } from './document-error.js';
import { type DocumentOptions, policyOf, type ReadingOptions } from './document-options.js';
import { fetchDocument } from './fetch-document.js';
import { Fields, quoted } from './fields.js';
import { readScopes } from './scopes.js';

// Protected resource metadata (RFC 9728): from an MCP server to its authorization servers.

const hop = 'protected resource metadata';

/** The metadata of an MCP server. */
export interface ProtectedResource {
  /** The text of the document, unchanged: this is what authorization servers expect as `resource`. */
  readonly resource: string;
  /** Issuers, at least one, each with its text unchanged. */
  readonly authorizationServers: readonly string[];
  readonly scopesSupported: readonly string[] | undefined;
  /** Whether the server takes only tokens that are bound with DPoP. */
  readonly requiresDpop: boolean;
  readonly name: string | undefined;
  /** The address of the document. */
  readonly url: string;
}

/**
 * The addresses where the metadata of an MCP server may be, in order: the one from the challenge and no other, or else the
 * well-known address with the server's path, then the one without.
 */
export function protectedResourceAddresses(server: string, fromChallenge?: string): readonly string[] {
  if (fromChallenge !== undefined) return [fromChallenge];
  const { origin, pathname } = new URL(server);
  const root = `${origin}/.well-known/oauth-protected-resource`;
  // The query of a server's URL may contain a key.
  return pathname === '/' ? [root] : [`${root}${pathname}`, root];
}

/** Finds and checks the metadata of an MCP server. */
export async function discoverProtectedResource(
  server: string,
  options: DocumentOptions & { readonly resourceMetadata?: string | undefined },
): Promise<ProtectedResource> {
  const { fetch, loopback, signal, resourceMetadata } = options;
  const replies: string[] = [];
  for (const url of protectedResourceAddresses(server, resourceMetadata)) {
    const found = await fetchDocument(url, { fetch, hop, loopback, signal });
    if ('json' in found) return readProtectedResource(found.json, { ...options, server, url });
    // At the next address could be the document of a larger resource, which this server does not use.
    if (found.status >= 500 || found.status === 429)
      throw new DocumentError(
        hop,
        'unavailable',
        `The ${hop} is not available: ${found.reply}. Retry later.`,
      );
    replies.push(found.reply);
  }
  throw new DocumentError(
    hop,
    'not_found',
    `${displayUrl(server)} does not have ${hop}, which says who authorizes its users: ${replies.join('; ')}.`,
  );
}

/** Checks a document of an MCP server. */
function readProtectedResource(
  json: JsonObject,
  { server, url, ...options }: ReadingOptions & { readonly server: string; readonly url: string },
): ProtectedResource {
  const policy = policyOf(options);
  const fields = new Fields(json, { hop, where: displayUrl(url) });
  const resource = fields.requiredString('resource');
  if (!isResourceOf(resource, server))
    throw new DocumentError(
      hop,
      'resource_mismatch',
      `The ${hop} at ${displayUrl(url)} is about ${quoted(resource)} and not about ${displayUrl(server)}. A token for it could be used elsewhere, so it is not requested. If both are one server, connect to the first URL, or have its operator set \`publicUrl\` to the second.`,
    );
  const authorizationServers = fields.strings('authorization_servers') ?? [];
  if (authorizationServers.length === 0)
    throw fields.mistake('`authorization_servers` must name at least one authorization server');
  for (const issuer of authorizationServers) fields.checkUrl('authorization_servers', issuer, policy);
  const scopes = fields.strings('scopes_supported');
  return {
    resource,
    authorizationServers,
    scopesSupported: scopes === undefined ? undefined : readScopes(scopes),
    requiresDpop: fields.boolean('dpop_bound_access_tokens_required') ?? false,
    name: fields.string('resource_name'),
    url,
  };
}

/**
 * Whether a published `resource` covers an MCP server: the same origin, and a path that is equal or a parent at a slash. A slash at
 * the end makes no difference.
 */
export function isResourceOf(resource: string, server: string): boolean {
  if (!URL.canParse(resource)) return false;
  const published = new URL(resource);
  const own = new URL(server);
  if (!/^https?:$/.test(published.protocol) || published.origin !== own.origin) return false;
  if (resource.includes('#') || published.username !== '' || published.password !== '') return false;
  if (published.search !== '' && published.search !== own.search) return false;
  return `${withoutSlash(own.pathname)}/`.startsWith(`${withoutSlash(published.pathname)}/`);
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
