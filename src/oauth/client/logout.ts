import { withDeadline } from '../../async/deadline.js';
import { McpError } from '../../protocol/errors.js';
import { knownTarget } from './discovery.js';
import { revoke } from './grants/revoke.js';
import { failedHop, hopError } from './hops/failures.js';
import { type AccessParts, contextOf, discoveryOf } from './parts.js';
import { readTokens, type StoredTokens } from './store/records.js';

// The end of an access: the tokens are deleted, and the authorization server is told.

export interface LogoutParts extends AccessParts {
  readonly server: string;
  readonly key: string;
  /** Tokens that could not be saved. */
  readonly unsaved: StoredTokens | undefined;
}

/** Another process may be refreshing the tokens; a login of its user is not waited for. */
const LOCK_WAIT_MS = 10_000;
const LOCK_MS = 10_000;
const REVOCATION_MS = 30_000;

/** Deletes the tokens of a server, and revokes them where the authorization server supports that. */
export async function logout(parts: LogoutParts): Promise<void> {
  const tokens = await takeTokens(parts);
  if (tokens === undefined) return;
  parts.emit({ type: 'tokens deleted', reason: 'logout' });
  const late = (): McpError =>
    hopError(`There was no answer within ${REVOCATION_MS / 1000} seconds.`, { hop: 'revocation' });
  try {
    await withDeadline({ ms: REVOCATION_MS, reason: late }, (signal) =>
      revokeTokens({ ...parts, signal }, tokens),
    );
  } catch (error) {
    const hop = failedHop(error);
    if (hop === undefined) throw error;
    const { message } = error as McpError;
    const sentence = `The tokens for ${parts.server} were deleted here, but the authorization server ${tokens.issuer} could not be told, and accepts them until they end. ${message}`;
    parts.emit({ type: 'failed', hop, message: sentence });
    throw new McpError('unauthorized', sentence, { data: (error as McpError).data, cause: error });
  }
}

/** Removes the tokens from the store. */
async function takeTokens({ store, key, unsaved }: LogoutParts): Promise<StoredTokens | undefined> {
  const release = await lockSoon({ store, key });
  try {
    const current = await readTokens(store, key);
    await store.delete(key);
    return unsaved ?? current.value;
  } finally {
    // The lock ends by itself. The tokens still have to be revoked.
    await release?.().catch(() => undefined);
  }
}

/** Takes the lock. Undefined if somebody else holds it for so long that they must be waiting for a user. */
async function lockSoon({
  store,
  key,
}: Pick<LogoutParts, 'store' | 'key'>): Promise<(() => Promise<void>) | undefined> {
  const signal = AbortSignal.timeout(LOCK_WAIT_MS);
  try {
    return await store.lock(key, { ms: LOCK_MS, signal });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

async function revokeTokens(
  parts: LogoutParts & { readonly signal: AbortSignal },
  tokens: StoredTokens,
): Promise<void> {
  const target = await knownTarget(parts.server, tokens, discoveryOf(parts, tokens));
  await revoke(contextOf(parts, target, { scopes: [], dpop: undefined }), parts.grant, tokens);
}
