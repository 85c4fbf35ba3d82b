import { BoundedMap } from '../../../async/bounded-map.js';
import type { JsonObject } from '../../../jsonrpc/message.js';
import type { Auth } from '../../../protocol/call.js';
import { McpError } from '../../../protocol/errors.js';
import { invalidToken, unknownToken } from '../../server/credentials.js';
import type { TokenDigest } from '../../server/digests.js';
import type { LoginGrant } from './grant.js';
import type { Grants } from './grants.js';
import type { Sealer } from './sealer.js';

/** The claim that names the login of a caller, for `upstreamToken`. It is not a credential. */
export const LOGIN_CLAIM = 'urn:fullmcp:login';
/** The beginning of every access token, by which other providers and scanners for leaked secrets recognize it. */
export const ACCESS_TOKEN_PREFIX = 'mcp_at_';

interface AccessTokenParts {
  readonly digest: TokenDigest;
  readonly sealer: Sealer;
  readonly grants: Grants;
  readonly lifetimeMs: number;
  /** How long a process may accept a token after another process has revoked it. */
  readonly recheckMs: number;
}

interface Checked {
  readonly auth: Auth;
  readonly grantId: string;
  readonly until: number;
}

const MAX_CHECKED = 10_000;

/** Our own access tokens: sealed, so that they say nothing to anyone else, and bound to a client, this server and scopes. */
export class AccessTokens {
  readonly #parts: AccessTokenParts;
  /** The newest last. The digest is the key, so that a dump of the memory contains no token. */
  readonly #checked = new BoundedMap<string, Checked>(MAX_CHECKED);
  /** The number of grants that have ended: a check that began before the last one must not be kept. */
  #ended = 0;

  constructor(parts: AccessTokenParts) {
    this.#parts = parts;
  }

  /** Issues a token. */
  async issue(
    grant: LoginGrant,
    scopes: readonly string[],
  ): Promise<{ readonly token: string; readonly expiresIn: number }> {
    const { sealer, lifetimeMs } = this.#parts;
    const content: JsonObject = { g: grant.id, c: grant.clientId, s: [...scopes] };
    const sealed = await sealer.sealFor(lifetimeMs, 'access', content);
    return { token: `${ACCESS_TOKEN_PREFIX}${sealed}`, expiresIn: Math.floor(lifetimeMs / 1000) };
  }

  /** The grant id of a token of ours, whether or not it has expired. */
  async grantIdOf(token: string): Promise<string | undefined> {
    const opened = await this.#parts.sealer.open('access', token.slice(ACCESS_TOKEN_PREFIX.length));
    return opened && String(opened['g']);
  }

  /** The caller of a token. Throws an `invalid_token` error, or `overloaded` if the store does not respond. */
  check(token: string): Auth | Promise<Auth> {
    const digest = this.#parts.digest.of(token);
    return typeof digest === 'string'
      ? this.#recall(token, digest)
      : digest.then((one) => this.#recall(token, one));
  }

  #recall(token: string, digest: string): Auth | Promise<Auth> {
    const known = this.#checked.get(digest);
    if (known !== undefined && known.until > performance.now() && (known.auth.expiresAt ?? 0) > Date.now())
      return known.auth;
    this.#checked.delete(digest);
    return this.#open(token, digest);
  }

  async #open(token: string, digest: string): Promise<Auth> {
    const opened = await this.#parts.sealer.open('access', token.slice(ACCESS_TOKEN_PREFIX.length));
    // Another proxy of the same server may have sealed it.
    if (opened === undefined) throw unknownToken('The access token is not valid.');
    if (!(Number(opened['e']) > Date.now())) throw invalidToken('The access token has expired.');
    const grantId = String(opened['g']);
    const ended = this.#ended;
    const grant = await this.#find(grantId);
    if (grant === undefined || grant.clientId !== opened['c'])
      throw invalidToken('The access token was revoked, or its login has ended.');
    const auth = authOf(grant, opened['s'] as string[], opened['e'] as number);
    if (ended !== this.#ended) return auth;
    this.#checked.set(digest, { auth, grantId, until: performance.now() + this.#parts.recheckMs });
    return auth;
  }

  /** Forgets the checks of a grant that has ended. */
  forget(grantId: string): void {
    this.#ended++;
    for (const [digest, checked] of this.#checked)
      if (checked.grantId === grantId) this.#checked.delete(digest);
  }

  async #find(grantId: string): Promise<LoginGrant | undefined> {
    try {
      return await this.#parts.grants.find(grantId);
    } catch (cause) {
      throw new McpError('overloaded', 'The access token cannot be checked now. Retry later.', { cause });
    }
  }
}

function authOf(grant: LoginGrant, scopes: readonly string[], expiresAt: number): Auth {
  const { user, clientId, id } = grant;
  return Object.freeze({
    issuer: user.issuer,
    subject: user.subject,
    email: user.email,
    scopes: Object.freeze(scopes),
    clientId,
    expiresAt,
    claims: { ...user.claims, [LOGIN_CLAIM]: id },
  });
}
