// The words of a caller that a proxy does not pass on as they are, because the server would take them for somebody else's.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import { sha256 } from '../../protocol/encoding/sha256.js';
import { IDEMPOTENCY_KEY } from '../../protocol/tables/meta-keys.js';

/** The states of all proxies begin with it. */
const OF_PROXIES = 'fullmcp-proxy';
/** Marks the state of a proxy behind this one, once for each proxy in between. */
const BEHIND = `${OF_PROXIES}-behind.`;
/** The longest key that servers accept. Another one is passed on, so that the server refuses it. */
const MAX_KEY = 256;
const encoder = new TextEncoder();

/** The parameters of a call as the server gets them. */
export function carriedParams(call: Call): JsonObject {
  const { requestState } = call.params;
  const params = withBoundKey(call);
  return typeof requestState === 'string' && requestState.startsWith(BEHIND)
    ? { ...params, requestState: requestState.slice(BEHIND.length) }
    : params;
}

/** The outcome of a call as the caller gets it. A state of a proxy behind this one must not be taken for one of this one. */
export function carriedOutcome(outcome: Outcome): Outcome {
  const { resultType, requestState } = outcome;
  return resultType === 'input_required' &&
    typeof requestState === 'string' &&
    requestState.startsWith(OF_PROXIES)
    ? { ...outcome, requestState: BEHIND + requestState }
    : outcome;
}

// The server sees the proxy, and idempotency keys belong to who calls: two callers with one key would be one call. A digest of the caller
// and the key is the same in every process, so that a retry finds its call. The program itself, which has no name, keeps its keys.
function withBoundKey(call: Call): JsonObject {
  const { params, auth, via, isLocal } = call;
  const meta = params['_meta'];
  const key = isObject(meta) ? meta[IDEMPOTENCY_KEY] : undefined;
  if (typeof key !== 'string' || key === '' || key.length > MAX_KEY) return params;
  if (auth === undefined && (via === undefined || isLocal === true)) return params;
  const digest = sha256(encoder.encode(JSON.stringify([principalOf(call), key])));
  return { ...params, _meta: { ...(meta as JsonObject), [IDEMPOTENCY_KEY]: encodeBase64Url(digest) } };
}
