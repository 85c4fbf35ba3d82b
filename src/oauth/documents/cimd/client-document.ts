import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { displayUrl } from '../../../protocol/secrets/display-url.js';
import { DocumentError } from '../document-error.js';
import { type DocumentOptions, policyOf, type ReadingOptions } from '../document-options.js';
import { fetchDocument } from '../fetch-document.js';
import { Fields, quoted } from '../fields.js';
import { visibleText } from '../visible-text.js';
import { type ClientDocumentProfile, checkClientUrl } from './client-id.js';
import { checkRedirectUri } from './redirect-uri.js';

// Client ID Metadata Documents: from a client id that is a URL to the client, for authorization servers.

const hop = 'client metadata document';
/** The size that the draft recommends. */
const MAX_BYTES = 5 * 1024;
const TIMEOUT_MS = 5000;

/** A client that its own document describes. Everything in it was written by the client: show it as a claim, next to the host. */
interface DocumentedClient {
  readonly clientId: string;
  /** Without control characters and characters that change the direction of text. Undefined only in the profile `draft-02`. */
  readonly name: string | undefined;
  /** At least one. A request must have one of them, exactly. */
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  readonly responseTypes: readonly string[];
  /** `none`, `private_key_jwt`, or another method without a shared secret. */
  readonly tokenEndpointAuthMethod: string;
  /** The public keys in the document, or the address of them. */
  readonly jwks: JsonObject | undefined;
  readonly jwksUri: string | undefined;
  readonly scope: string | undefined;
  readonly clientUri: string | undefined;
  readonly logoUri: string | undefined;
  readonly policyUri: string | undefined;
  readonly tosUri: string | undefined;
}

export interface FetchedClient {
  readonly client: DocumentedClient;
  /** How long the document may be cached: as its server says, within our bounds. Errors are not cached. */
  readonly cacheMs: number;
}

interface ProfileOption {
  /** Default: `mcp`. */
  readonly profile?: ClientDocumentProfile | undefined;
}

/** Fetches the document of a client. Redirects are not followed, since the client id must be the document's own URL. */
export async function fetchClientDocument(
  clientId: string,
  options: DocumentOptions & ProfileOption,
): Promise<FetchedClient> {
  const { fetch, loopback, signal, profile = 'mcp' } = options;
  checkClientUrl(clientId, profile);
  const found = await fetchDocument(clientId, {
    fetch,
    hop,
    loopback,
    signal,
    redirect: 'error',
    maxBytes: MAX_BYTES,
    timeoutMs: TIMEOUT_MS,
  });
  if (!('json' in found)) {
    const code = found.status >= 500 || found.status === 429 ? 'unavailable' : 'not_found';
    throw new DocumentError(hop, code, `The ${hop} cannot be read: ${found.reply}.`);
  }
  const type = found.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!/^application\/(?:[\w.-]+\+)?json$/.test(type))
    throw new DocumentError(
      hop,
      'bad_document',
      `The ${hop} at ${displayUrl(clientId)} has the content type ${quoted(type)} instead of application/json.`,
    );
  return {
    client: readClientDocument(found.json, { ...options, clientId }),
    cacheMs: cacheMsOf(found.headers),
  };
}

/** Checks the document of a client. */
export function readClientDocument(
  json: JsonObject,
  { clientId, profile = 'mcp', ...reading }: ReadingOptions & ProfileOption & { readonly clientId: string },
): DocumentedClient {
  const policy = policyOf(reading);
  const fields = new Fields(json, { hop, where: displayUrl(clientId) });
  const own = fields.requiredString('client_id');
  if (own !== clientId) throw fields.mistake(`its \`client_id\` is ${quoted(own)}, which is not its own URL`);
  for (const name of ['client_secret', 'client_secret_expires_at']) {
    if (fields.has(name))
      throw fields.mistake(`\`${name}\` is not allowed, since everyone can read the document`);
  }
  const name = visibleText(fields.string('client_name'));
  if (name === undefined && profile === 'mcp') throw fields.mistake('`client_name` is missing');
  const redirectUris = fields.strings('redirect_uris') ?? [];
  if (redirectUris.length === 0) throw fields.mistake('`redirect_uris` must contain at least one URI');
  for (const uri of redirectUris) {
    const problem = checkRedirectUri(uri, profile);
    if (problem !== undefined) throw fields.mistake(`the redirect URI ${quoted(uri)} ${problem}`);
  }
  const tokenEndpointAuthMethod = fields.string('token_endpoint_auth_method') ?? 'none';
  if (tokenEndpointAuthMethod.startsWith('client_secret'))
    throw fields.mistake(
      `\`token_endpoint_auth_method\` is ${quoted(tokenEndpointAuthMethod)}, which needs a shared secret`,
    );
  const jwksUri = fields.url('jwks_uri', policy);
  const jwks = checkPublicKeys(fields);
  if (jwks !== undefined && jwksUri !== undefined)
    throw fields.mistake('`jwks` and `jwks_uri` exclude each other');
  if (tokenEndpointAuthMethod === 'private_key_jwt' && jwks === undefined && jwksUri === undefined)
    throw fields.mistake('`private_key_jwt` needs `jwks` or `jwks_uri`');
  return {
    clientId,
    name,
    redirectUris,
    grantTypes: fields.strings('grant_types') ?? ['authorization_code'],
    responseTypes: fields.strings('response_types') ?? ['code'],
    tokenEndpointAuthMethod,
    jwks,
    jwksUri,
    scope: fields.string('scope'),
    clientUri: fields.url('client_uri', policy),
    logoUri: fields.url('logo_uri', policy),
    policyUri: fields.url('policy_uri', policy),
    tosUri: fields.url('tos_uri', policy),
  };
}

const MIN_CACHE_MS = 30_000;
const MAX_CACHE_MS = 24 * 60 * 60 * 1000;
const DEFAULT_CACHE_MS = 5 * 60 * 1000;

/**
 * How long a document may be cached: `max-age` less `Age`, between 30 s and a day, or else 5 min. The lower bound keeps a client
 * from making the server fetch its document for every request.
 */
function cacheMsOf(headers: Headers): number {
  const directives = (headers.get('cache-control') ?? '').toLowerCase().split(',');
  if (directives.some((one) => /^\s*no-(?:store|cache)\b/.test(one))) return MIN_CACHE_MS;
  const [maxAge] = directives.flatMap((one) => {
    const found = /^\s*max-age="?(\d{1,10})\b/.exec(one);
    return found === null ? [] : [Number(found[1])];
  });
  if (maxAge === undefined) return DEFAULT_CACHE_MS;
  const age = Number(headers.get('age') ?? 0);
  const restMs = (maxAge - (age > 0 ? age : 0)) * 1000;
  return Math.min(Math.max(restMs, MIN_CACHE_MS), MAX_CACHE_MS);
}

const MAX_KEYS = 20;
/** The members of a key that only its owner may know: those of RSA and of curves, and a symmetric key. */
const SECRET_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** The key set in a document. A document is public, so a secret key in it is a mistake that must not be used. */
function checkPublicKeys(fields: Fields): JsonObject | undefined {
  const set = fields.get('jwks');
  if (set === undefined) return undefined;
  const keys = isObject(set) ? set['keys'] : undefined;
  if (
    !isObject(set) ||
    !Array.isArray(keys) ||
    keys.length === 0 ||
    keys.length > MAX_KEYS ||
    !keys.every(isObject)
  )
    throw fields.mistake(`\`jwks\` must have \`keys\`, an array of 1 to ${MAX_KEYS} keys`);
  for (const key of keys) {
    if (typeof key['kty'] !== 'string' || key['kty'] === 'oct')
      throw fields.mistake('`jwks` contains a key that is not a public key');
    if (SECRET_MEMBERS.some((name) => Object.hasOwn(key, name)))
      throw fields.mistake('`jwks` contains a secret key');
  }
  return set;
}
