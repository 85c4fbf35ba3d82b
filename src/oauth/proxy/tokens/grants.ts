import type { Lease } from '../../../state/store.js';
import { grantFromJson, grantToJson, type LoginGrant } from './grant.js';
import { OAuthError } from './oauth-error.js';
import { digestText, isSameSecret, randomToken } from './random.js';
import type { Recorded, Records } from './records.js';
import type { Sealer } from './sealer.js';

/** The lifetimes of grants. */
export interface GrantLimits {
  readonly codeMs: number;
  /** The time after which a user has to log in again. */
  readonly maxAgeMs: number;
  /** How long a refresh token may be repeated after its use. */
  readonly graceMs: number;
}

/** The values that a client redeems a code with. */
export interface Redemption {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string | undefined;
  readonly verifier: string | undefined;
}

/** A grant, and the number of the refresh token that its client gets now. */
export interface RefreshedGrant {
  readonly grant: LoginGrant;
  readonly generation: number;
}

const MAX_ATTEMPTS = 8;
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** The grants in the store, from the code to the last refresh. */
export class Grants {
  readonly #records: Records;
  readonly #sealer: Sealer;
  readonly #limits: GrantLimits;
  readonly #onRevoked: (grant: LoginGrant, why: string | undefined) => void;

  constructor(
    parts: { readonly records: Records; readonly sealer: Sealer },
    options: GrantLimits & {
      /** Called when a grant has ended. `why` is there if the reason is suspicious. */
      readonly onRevoked: (grant: LoginGrant, why: string | undefined) => void;
    },
  ) {
    this.#records = parts.records;
    this.#sealer = parts.sealer;
    this.#limits = options;
    this.#onRevoked = options.onRevoked;
  }

  /** Stores a new grant. Returns the code for it. */
  async create(
    init: Omit<LoginGrant, 'id' | 'code' | 'generation'> &
      Pick<LoginGrant['code'], 'redirectUri' | 'challenge'>,
  ): Promise<string> {
    const { redirectUri, challenge, ...rest } = init;
    const id = randomToken();
    const secret = randomToken();
    const code = { digest: await digestText(secret), redirectUri, challenge };
    const value = grantToJson({ ...rest, id, code, generation: undefined });
    const put = await this.#records.put('oauth-grant', id, {
      value,
      if: 'absent',
      ttlMs: this.#limits.codeMs,
    });
    const { ok } = await this.#records.write([put]);
    if (!ok) throw new OAuthError('server_error', 'The login could not be stored.');
    return `${id}.${secret}`;
  }

  /** Reads a grant whose code was redeemed; undefined if there is none, or it was revoked. */
  async find(id: string): Promise<LoginGrant | undefined> {
    const found = await this.#read(id);
    return found?.grant.generation === undefined ? undefined : found.grant;
  }

  /** Redeems a code. A second use revokes the grant, because one of the two was not the client's. */
  async redeem({ code, clientId, redirectUri, verifier }: Redemption): Promise<LoginGrant> {
    const [id = '', secret = ''] = code.length > 200 ? [] : code.split('.', 2);
    const found = await this.#read(id);
    // Only the secret proves that someone has the code: the id is in every token of the grant.
    if (found === undefined || found.grant.code.digest !== (await digestText(secret))) throw unknownCode();
    const { grant } = found;
    if (grant.generation !== undefined) {
      await this.revoke(grant, 'A code was used twice.');
      throw unknownCode();
    }
    const isRightful =
      grant.clientId === clientId &&
      grant.code.redirectUri === redirectUri &&
      verifier !== undefined &&
      VERIFIER.test(verifier) &&
      (await isSameSecret(await digestText(verifier), grant.code.challenge));
    if (!isRightful) {
      await this.revoke(grant, 'A code was presented by another client, or without its verifier.');
      throw unknownCode();
    }
    const active: LoginGrant = { ...grant, generation: 0 };
    const { ok } = await this.#write(found, active, { ttlMs: this.#limits.maxAgeMs });
    if (!ok) {
      await this.revoke(grant, 'A code was used twice.');
      throw unknownCode();
    }
    return active;
  }

  /** Seals the refresh token of a generation. */
  async refreshToken({ id }: LoginGrant, generation: number): Promise<string> {
    return this.#sealer.seal('refresh', { g: id, n: generation });
  }

  /** Finds the grant of a refresh token, whether or not the token is still good; undefined if it is not one of ours. */
  async grantOf(refreshToken: string): Promise<LoginGrant | undefined> {
    const opened = await this.#sealer.open('refresh', refreshToken);
    return opened === undefined ? undefined : this.find(String(opened['g']));
  }

  /**
   * Rotates a refresh token. The one before it may be repeated for a short time, since its reply may have been lost: it then gets
   * the same generation again. An older one was stolen, from the client or by it, and ends the grant for both.
   *
   * @param verify Called before the rotation with a token that is good. It returns the grant, perhaps with new upstream tokens.
   */
  async refresh(
    refreshToken: string,
    {
      clientId,
      verify,
    }: { readonly clientId: string; readonly verify: (grant: LoginGrant) => Promise<unknown> },
  ): Promise<RefreshedGrant> {
    const opened = await this.#sealer.open('refresh', refreshToken);
    if (opened === undefined) throw unknownRefreshToken();
    const id = String(opened['g']);
    const used = Number(opened['n']);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const found = await this.#read(id);
      if (found?.grant.generation === undefined) throw unknownRefreshToken();
      const { grant } = found;
      const newest = grant.generation as number;
      if (grant.clientId !== clientId) {
        await this.revoke(grant, 'A refresh token was presented by another client.');
        throw unknownRefreshToken();
      }
      if (used < newest) {
        const mayRepeat = used === newest - 1 && (await this.#records.has('oauth-grace', id));
        if (mayRepeat) return { grant, generation: newest };
        await this.revoke(grant, 'A refresh token was used again.');
        throw unknownRefreshToken();
      }
      if (attempt === 0) {
        await verify(grant);
        // The check may have stored new upstream tokens.
        const checked = await this.#read(id);
        if (checked?.version !== found.version) continue;
      }
      // A store that lost its last writes may know an older generation than the client.
      const next: LoginGrant = { ...grant, generation: used + 1 };
      const { ok } = await this.#write(found, next, { withGrace: true });
      if (ok) return { grant: next, generation: used + 1 };
    }
    throw new OAuthError('temporarily_unavailable', 'Too many requests use this login at once. Retry later.');
  }

  /**
   * Stores new upstream tokens in a grant, in place of those that they were refreshed with. Other changes of the grant are kept, and
   * so are tokens that somebody else has stored in the meantime. Returns the grant; undefined if it has ended.
   */
  async updateUpstream(
    { id, upstream: before }: LoginGrant,
    upstream: LoginGrant['upstream'],
  ): Promise<LoginGrant | undefined> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const found = await this.#read(id);
      if (found === undefined) return undefined;
      const { accessToken, refreshToken } = found.grant.upstream;
      if (accessToken !== before.accessToken || refreshToken !== before.refreshToken) return found.grant;
      const next = { ...found.grant, upstream, confirmedAt: Date.now() };
      if ((await this.#write(found, next)).ok) return next;
    }
    throw new OAuthError('temporarily_unavailable', 'Too many requests use this login at once. Retry later.');
  }

  /** Ends a grant, and with it all its tokens. */
  async revoke(grant: LoginGrant, why?: string): Promise<void> {
    await this.#records.write([await this.#records.remove('oauth-grant', grant.id)]);
    this.#onRevoked(grant, why);
  }

  /** Ends a grant if a lease is still held. Returns whether it is. */
  async revokeUnder(lease: Lease, grant: LoginGrant): Promise<boolean> {
    const removal = await this.#records.remove('oauth-grant', grant.id);
    const { ok } = await this.#records.write([removal], lease);
    if (ok) this.#onRevoked(grant, undefined);
    return ok;
  }

  async #read(id: string): Promise<ReadGrant | undefined> {
    const record = id === '' ? undefined : await this.#records.read('oauth-grant', id);
    return record && { grant: grantFromJson(id, record.value), version: record.version };
  }

  async #write(
    { version }: ReadGrant,
    grant: LoginGrant,
    { ttlMs, withGrace = false }: { readonly ttlMs?: number; readonly withGrace?: boolean } = {},
  ): Promise<{ readonly ok: boolean }> {
    const value = grantToJson(grant);
    const put = await this.#records.put('oauth-grant', grant.id, {
      value,
      if: { version },
      ...(ttlMs !== undefined && { ttlMs }),
    });
    const grace = withGrace
      ? [await this.#records.put('oauth-grace', grant.id, { value: {}, ttlMs: this.#limits.graceMs })]
      : [];
    return this.#records.write([put, ...grace]);
  }
}

interface ReadGrant extends Pick<Recorded, 'version'> {
  readonly grant: LoginGrant;
}

// The same error for every reason: an attacker learns nothing from it.
function unknownCode(): OAuthError {
  return new OAuthError(
    'invalid_grant',
    'The code is not valid: it has expired, was used, or belongs to another client, redirect URI or verifier.',
  );
}

function unknownRefreshToken(): OAuthError {
  return new OAuthError('invalid_grant', 'The refresh token is not valid: log in again.');
}
