import { McpError } from '../../protocol/errors.js';
import { requireS256 } from '../documents/authorization-server.js';
import type { ResourceChallenge } from '../documents/resource-challenge.js';
import { type DiscoveredTarget, discoverTarget, exceptionsOf, knownTarget, reading } from './discovery.js';
import type { GrantContext, IssuedTokens } from './grants/grant.js';
import { refresh } from './grants/refresh.js';
import { DpopKey } from './hops/dpop-key.js';
import { answeredError, hopError } from './hops/failures.js';
import { trySaving } from './hops/try-saving.js';
import { type AccessParts, contextOf, discoveryOf } from './parts.js';
import { chooseScopes } from './scopes.js';
import {
  isCovered,
  isDue,
  isExpired,
  readTokens,
  type StoredRecord,
  type StoredTokens,
} from './store/records.js';

// Gets tokens, while nobody else does so for the same server: from the store, with the refresh token, or with a login.

/** The reason why tokens are needed. */
export type Cause =
  | { readonly kind: 'due' }
  | {
      readonly kind: 'challenge';
      readonly status: number;
      readonly challenge: ResourceChallenge;
      /** The access token of the request; undefined if it had none. */
      readonly sent: string | undefined;
      /** How this process got the token, if the server has never accepted it. */
      readonly untried: 'login' | 'refresh' | undefined;
    };

/** Tokens that can be used now. */
export interface HeldTokens {
  readonly tokens: StoredTokens;
  readonly dpop: DpopKey | undefined;
  readonly how: 'login' | 'refresh' | 'store';
  /** The text in the store that could not be replaced by these tokens; undefined if they were saved. */
  readonly unsaved?: Pick<StoredRecord<StoredTokens>, 'text'> | undefined;
}

export interface AcquireParts extends AccessParts {
  readonly server: string;
  readonly key: string;
  readonly cause: Cause;
  readonly mayAsk: boolean;
  /** The tokens in use, whose key has learnt nonces. */
  readonly held: HeldTokens | undefined;
  /** Called before each login. Throws if there were too many. */
  readonly countLogin: () => void;
  readonly signal: AbortSignal;
}

/** The longest time that a process may hold the lock; others wait for it. */
const REFRESH_LOCK_MS = 30_000;
const LOGIN_LOCK_MS = 120_000;

/** Gets tokens. Undefined if only the user could get them and may not be asked. */
export async function acquire(parts: AcquireParts): Promise<HeldTokens | undefined> {
  const { store, key, grant, mayAsk, signal } = parts;
  const ms = grant.isInteractive && mayAsk ? LOGIN_LOCK_MS : REFRESH_LOCK_MS;
  const release = await store.lock(key, { ms, signal });
  try {
    return await acquireAlone(parts);
  } finally {
    // The lock ends by itself. A failure to release it must not lose the tokens.
    await release().catch(() => undefined);
  }
}

async function acquireAlone(parts: AcquireParts): Promise<HeldTokens | undefined> {
  const { store, key, cause, emit, grant, held } = parts;
  const current = newestOf(await readTokens(store, key), held);
  const { value } = current;
  if (value !== undefined && isRenewed(value, cause)) {
    const { issuer, scopes, expiresAt } = value;
    emit({ type: 'tokens', how: 'store', issuer, scopes, expiresAt });
    return { tokens: value, dpop: await keyOf(parts, value), how: 'store' };
  }
  const target = await targetFor(parts, value);
  if (target === undefined) return undefined;
  const refreshed = await tryRefresh(parts, target, current);
  if (refreshed !== undefined) return refreshed;
  if (grant.isInteractive && (!parts.mayAsk || cause.kind === 'due')) return undefined;
  return login(parts, target, current);
}

/** Tokens that could not be saved are newer than those in the store, unless somebody else has replaced those since. */
function newestOf(
  stored: StoredRecord<StoredTokens>,
  held: HeldTokens | undefined,
): StoredRecord<StoredTokens> {
  const isNewer = held?.unsaved !== undefined && held.unsaved.text === stored.text;
  return isNewer ? { value: held.tokens, text: stored.text } : stored;
}

/** Whether somebody else has got better tokens in the meantime. */
function isRenewed(tokens: StoredTokens, cause: Cause): boolean {
  if (cause.kind === 'due') return !isDue(tokens);
  if (tokens.accessToken === cause.sent || isExpired(tokens)) return false;
  return cause.status === 401 || isCovered(cause.challenge.scopes ?? [], tokens);
}

async function targetFor(
  parts: AcquireParts,
  current: StoredTokens | undefined,
): Promise<DiscoveredTarget | undefined> {
  const { cause, server } = parts;
  const discovery = discoveryOf(parts, current);
  if (cause.kind === 'challenge') return discoverTarget(server, cause.challenge, discovery);
  return current && knownTarget(server, current, discovery);
}

async function tryRefresh(
  parts: AcquireParts,
  target: DiscoveredTarget,
  current: StoredRecord<StoredTokens>,
): Promise<HeldTokens | undefined> {
  const { cause, grant } = parts;
  const tokens = current.value;
  // A refresh token belongs to its issuer, and does not give more scopes.
  if (tokens?.refreshToken === undefined || tokens.issuer !== target.issuer) return undefined;
  if (cause.kind === 'challenge' && (cause.status === 403 || cause.untried !== undefined)) return undefined;
  const context = contextOf(parts, target, { scopes: [], dpop: await keyOf(parts, tokens) });
  const identity = await grant.identityOf(context, tokens.clientId);
  if (identity === undefined) return undefined;
  try {
    return await keep(parts, {
      issued: await refresh(context, identity, tokens),
      context,
      current,
      how: 'refresh',
    });
  } catch (error) {
    const answered = answeredError(error);
    const isClientGone = answered === 'invalid_client' || answered === 'unauthorized_client';
    if (answered !== 'invalid_grant' && !isClientGone) throw error;
    await trySaving(() => parts.store.delete(parts.key), parts.emit);
    if (isClientGone) await grant.forgetClient(target.issuer);
    parts.emit({ type: 'tokens deleted', reason: answered });
    return undefined;
  }
}

async function login(
  parts: AcquireParts,
  target: DiscoveredTarget,
  current: StoredRecord<StoredTokens>,
): Promise<HeldTokens> {
  const { cause, grant, wantedScopes } = parts;
  const tokens = current.value;
  if (cause.kind === 'challenge') requireHope(cause, target, tokens);
  if (grant.needsPkce(target)) {
    const { assumeS256 } = exceptionsOf(parts.issuers, target.issuer);
    await reading('authorization', () => requireS256(target.metadata as never, { assumeS256 }));
  }
  const scopes = chooseScopes(
    {
      challenge: cause.kind === 'challenge' ? cause.challenge.scopes : undefined,
      resource: target.resourceScopes,
      wanted: wantedScopes,
      asked: tokens?.asked ?? [],
    },
    target.metadata,
  );
  parts.countLogin();
  const dpop = await keyFor(parts, target, tokens);
  const context = contextOf(parts, target, { scopes, dpop });
  try {
    return await keep(parts, { issued: await grant.obtain(context), context, current, how: 'login' });
  } catch (error) {
    if (answeredError(error) === 'invalid_client') await grant.forgetClient(target.issuer);
    throw error;
  }
}

/** Throws if another login would end like the last one. */
function requireHope(
  { status, challenge, untried, sent }: Extract<Cause, { kind: 'challenge' }>,
  target: DiscoveredTarget,
  tokens: StoredTokens | undefined,
): void {
  if (tokens === undefined || sent === undefined || tokens.accessToken !== sent) return;
  const needed = challenge.scopes ?? (status === 403 ? target.resourceScopes : []);
  if (!isCovered(needed, tokens)) return;
  if (status === 403) {
    throw new McpError(
      'forbidden',
      `${target.server} requires the scopes ${needed.join(' ') || '(it does not say which)'}. The last login asked for them already, and did not get what the server accepts.`,
      { status, data: { status, scopes: needed } },
    );
  }
  if (untried === 'login' && tokens.issuer === target.issuer) {
    throw hopError(
      `${target.server} does not accept the token that ${target.issuer} has just issued for it. Its operator has to find out why.`,
      // The server may repeat the token.
      { hop: 'token', status, description: challenge.errorDescription, secrets: [sent] },
    );
  }
}

interface Kept {
  readonly issued: IssuedTokens;
  readonly context: GrantContext;
  readonly current: StoredRecord<StoredTokens>;
  readonly how: 'login' | 'refresh';
}

async function keep(parts: AcquireParts, { issued, context, current, how }: Kept): Promise<HeldTokens> {
  const { target, scopes: requested, dpop } = context;
  const { clientId, accessToken, tokenType, lifetimeMs, refreshToken } = issued;
  const before = current.value?.asked ?? [];
  const tokens: StoredTokens = {
    issuer: target.issuer,
    resource: target.resource,
    clientId,
    accessToken,
    tokenType,
    lifetimeMs,
    expiresAt: lifetimeMs === undefined ? undefined : Date.now() + lifetimeMs,
    refreshToken,
    // RFC 6749, 5.1: without the member, the scopes are those that were asked for.
    scopes: issued.scopes ?? requested,
    asked: [...new Set([...before, ...requested])],
    dpopKey: await dpop?.export(),
  };
  // If the lock has expired, somebody else may have logged in since: their tokens are newer than these.
  const save = (): Promise<unknown> =>
    parts.store.set(parts.key, JSON.stringify(tokens), { expected: current.text ?? null });
  const isSaved = await trySaving(save, parts.emit);
  const { issuer, scopes, expiresAt } = tokens;
  parts.emit({ type: 'tokens', how, issuer, scopes, expiresAt });
  return { tokens, dpop, how, unsaved: isSaved ? undefined : { text: current.text } };
}

/** The key for new tokens; undefined for bearer tokens. */
async function keyFor(
  parts: AcquireParts,
  target: DiscoveredTarget,
  tokens: StoredTokens | undefined,
): Promise<DpopKey | undefined> {
  const { dpop, cause } = parts;
  const schemes = cause.kind === 'challenge' ? cause.challenge.schemes : [];
  const isOffered = schemes.includes('dpop') && (!schemes.includes('bearer') || dpop);
  const isBound = cause.kind === 'due' && tokens?.tokenType === 'dpop';
  if (!dpop && !isOffered && !isBound && !target.requiresDpop) return undefined;
  const known = tokens?.issuer === target.issuer ? await keyOf(parts, tokens) : undefined;
  return known ?? DpopKey.create(target.metadata);
}

/** The key of stored tokens, with the nonces that it has learnt in this process. */
export async function keyOf(
  { held }: Pick<AcquireParts, 'held'>,
  tokens: StoredTokens,
): Promise<DpopKey | undefined> {
  const { dpopKey } = tokens;
  if (dpopKey === undefined) return undefined;
  const isSame = JSON.stringify(held?.tokens.dpopKey?.publicKey) === JSON.stringify(dpopKey.publicKey);
  return isSame && held?.dpop !== undefined ? held.dpop : DpopKey.restore(dpopKey);
}
