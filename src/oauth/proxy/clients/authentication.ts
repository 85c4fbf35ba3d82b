import * as jose from 'jose';
import { decodeBase64 } from '../../../protocol/encoding/base64.js';
import { OAuthError } from '../tokens/oauth-error.js';
import { isSameSecret } from '../tokens/random.js';
import type { Records } from '../tokens/records.js';
import type { ProxyClient } from './client.js';
import type { ClientKeys } from './client-keys.js';
import type { ClientDirectory } from './clients.js';

// How clients prove at the token endpoint who they are.

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** The algorithms of assertions. */
export const ASSERTION_ALGORITHMS: readonly string[] = [
  'ES256',
  'RS256',
  'PS256',
  'EdDSA',
  'Ed25519',
  'ES384',
];
const MAX_ASSERTION_AGE_S = 600;
const MAX_ASSERTION = 16 * 1024;
const CLOCK_TOLERANCE_S = 30;

interface AuthenticationParts {
  readonly clients: ClientDirectory;
  readonly records: Records;
  /** The keys of clients that their documents name by an address. */
  readonly keys: ClientKeys;
  /** The audiences that an assertion may have: the issuer and the token endpoint. */
  readonly audiences: readonly string[];
}

/** Identifies the client of a request, and checks its proof. Throws `invalid_client` or `invalid_request`. */
export async function authenticateClient(
  form: ReadonlyMap<string, string>,
  authorization: string | null,
  parts: AuthenticationParts,
): Promise<ProxyClient> {
  const basic = authorization === null ? undefined : readBasic(authorization);
  const assertion = form.get('client_assertion');
  const posted = form.get('client_secret');
  const proofs = [basic, assertion, posted].filter((proof) => proof !== undefined);
  if (proofs.length > 1)
    throw new OAuthError('invalid_request', 'The client uses two authentication methods.');
  const id = basic?.id ?? form.get('client_id') ?? (assertion && subjectOf(assertion));
  if (id === undefined || id === '') throw new OAuthError('invalid_request', 'client_id is missing.');
  if (form.has('client_id') && form.get('client_id') !== id)
    throw new OAuthError('invalid_client', 'client_id contradicts the Authorization header.');
  const client = await parts.clients.find(id);
  const { authentication } = client;
  switch (authentication.method) {
    case 'none':
      // A public client cannot prove anything. A secret that it sends is not one.
      if (assertion !== undefined) throw refused();
      return client;
    case 'secret': {
      const secret = basic?.secret ?? posted;
      if (secret === undefined || !(await isSameSecret(secret, authentication.secret))) throw refused();
      return client;
    }
    case 'private_key_jwt': {
      if (assertion === undefined || form.get('client_assertion_type') !== ASSERTION_TYPE) throw refused();
      await verifyAssertion(assertion, client.id, { ...parts, authentication });
      return client;
    }
    default:
      return authentication satisfies never;
  }
}

async function verifyAssertion(
  assertion: string,
  clientId: string,
  {
    authentication: { jwks, jwksUri },
    audiences,
    keys: published,
    records,
  }: AuthenticationParts & {
    readonly authentication: Extract<ProxyClient['authentication'], { method: 'private_key_jwt' }>;
  },
): Promise<void> {
  if (assertion.length > MAX_ASSERTION) throw refused();
  const keys =
    jwks !== undefined
      ? jose.createLocalJWKSet(jwks as unknown as jose.JSONWebKeySet)
      : published.at(jwksUri as string);
  const options: jose.JWTVerifyOptions = {
    algorithms: [...ASSERTION_ALGORITHMS],
    audience: [...audiences],
    issuer: clientId,
    subject: clientId,
    clockTolerance: CLOCK_TOLERANCE_S,
    requiredClaims: ['exp', 'jti', 'iss', 'sub', 'aud'],
  };
  const { payload } = await jose.jwtVerify(assertion, keys, options).catch((cause: unknown) => {
    throw cause instanceof OAuthError ? cause : refused(cause);
  });
  const { jti, exp } = payload;
  const lifeS = (exp as number) - Date.now() / 1000;
  if (typeof jti !== 'string' || jti.length > 500 || lifeS > MAX_ASSERTION_AGE_S) throw refused();
  const put = await records.put('oauth-assertion', JSON.stringify([clientId, jti]), {
    value: {},
    if: 'absent',
    ttlMs: (MAX_ASSERTION_AGE_S + 2 * CLOCK_TOLERANCE_S) * 1000,
  });
  if (!(await records.write([put])).ok) throw refused();
}

function subjectOf(assertion: string): string | undefined {
  try {
    return assertion.length > MAX_ASSERTION ? undefined : jose.decodeJwt(assertion).sub;
  } catch {
    return undefined;
  }
}

/** RFC 6749, section 2.3.1: both parts are form-encoded. */
function readBasic(header: string): { readonly id: string; readonly secret: string } | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header) ?? [];
  const bytes = encoded === undefined ? undefined : decodeBase64(encoded);
  const text = bytes && new TextDecoder().decode(bytes);
  const colon = text?.indexOf(':') ?? -1;
  if (text === undefined || colon === -1)
    throw new OAuthError('invalid_client', 'The Authorization header is not one of the scheme Basic.');
  return { id: formDecode(text.slice(0, colon)), secret: formDecode(text.slice(colon + 1)) };
}

function formDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

function refused(cause?: unknown): OAuthError {
  return new OAuthError('invalid_client', 'The client could not be authenticated.', { cause });
}
