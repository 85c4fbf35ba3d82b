import type { JsonObject } from '../../../jsonrpc/message.js';
import { readApi } from './api.js';
import type { IdTokenExpectations, UpstreamContext, UpstreamIdentity, UpstreamLogin } from './provider.js';

// From an ID token to a user.

/** The claims that only protect the ID token itself. Handlers do not need them. */
const PROTOCOL_CLAIMS = [
  'nonce',
  'at_hash',
  'c_hash',
  's_hash',
  'aud',
  'azp',
  'exp',
  'iat',
  'nbf',
  'jti',
  'auth_time',
];

/** How a user is read from a login. */
interface IdentifyOptions extends IdTokenExpectations {
  /** Whether the userinfo endpoint is asked for an email address that the ID token lacks. Default: false. */
  readonly wantsUserinfo?: boolean | undefined;
}

/** Verifies the ID token of a login, and reads the user from it. */
export async function identifyByIdToken(
  { idToken, accessToken }: UpstreamLogin,
  context: UpstreamContext,
  { wantsUserinfo = false, ...expected }: IdentifyOptions = {},
): Promise<UpstreamIdentity> {
  if (idToken === undefined) throw new Error('The provider did not send an ID token.');
  const claims = await context.verifyIdToken(idToken, expected);
  const more = wantsUserinfo && claims['email'] === undefined ? await userinfo(accessToken, context) : {};
  // OpenID Connect Core 1.0, section 5.3.2: the facts may be about another user.
  if (more['sub'] !== undefined && more['sub'] !== claims['sub'])
    throw new Error('The userinfo endpoint described another user.');
  // An address and its verification must come from the same reply.
  const { email_verified: _, ...others } = claims;
  return identityOf({ ...more, ...(more['email'] === undefined ? claims : others) });
}

/** The facts of the userinfo endpoint; none if there is no such endpoint, or the token is not for it. */
async function userinfo(accessToken: string, { server, fetch }: UpstreamContext): Promise<JsonObject> {
  const url = server.userinfo_endpoint;
  if (url === undefined) return {};
  const { status, body } = await readApi(fetch, url, { token: accessToken });
  if (status >= 500) throw new Error(`The userinfo endpoint replied with ${status}.`);
  // Without its subject, nobody knows whom a reply is about. Signed replies are not read.
  return status === 200 && typeof body?.['sub'] === 'string' ? body : {};
}

function identityOf(claims: JsonObject): UpstreamIdentity {
  const { iss, sub, email, email_verified: verified } = claims;
  const others = Object.entries(claims).filter(([claim]) => !PROTOCOL_CLAIMS.includes(claim));
  return {
    issuer: String(iss),
    subject: String(sub),
    // Anyone can claim an address that nobody has verified. Some providers write the flag as a string.
    email: typeof email === 'string' && (verified === true || verified === 'true') ? email : undefined,
    claims: Object.fromEntries(others),
  };
}
