// The words of a caller that a proxy does not pass on as they are, because the server would take them for somebody else's.

import { BoundedMap } from '../../async/bounded-map.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import { sha256 } from '../../protocol/encoding/sha256.js';
import { CALLER, IDEMPOTENCY_KEY } from '../../protocol/tables/meta-keys.js';
import { mayAsk } from './login-question.js';

/** The states of all proxies begin with it. */
const OF_PROXIES = 'fullmcp-proxy';
/** Marks the state of a proxy behind this one, once for each proxy in between. */
const BEHIND = `${OF_PROXIES}-behind.`;
/** The longest key that servers accept. Another one is passed on, so that the server refuses it. */
const MAX_KEY = 256;
const encoder = new TextEncoder();

/** The name of the program that the proxy runs in, among its callers. */
export const THIS_PROGRAM = 'this program';
const MAX_TAG = 64;

/** The tags of callers that nobody else is known to be the same as begin with it. */
const UNKNOWN = 'anonymous:';
/** Stands for all tags of such callers. */
export const UNKNOWN_CALLER = ' anonymous';
/** The tags of connections that one caller at a time has begin with it. */
const ALONE = 'alone:';

/** The part of a caller's name that tells the callers of a proxy in front of this one apart; empty if the caller is not such a proxy. */
export function callerTag({ params: { _meta } }: Call): string {
  const tag = isObject(_meta) ? _meta[CALLER] : undefined;
  if (typeof tag !== 'string' || tag.length > MAX_TAG) return '';
  return tag.startsWith(UNKNOWN) ? UNKNOWN_CALLER : ` ${tag}`;
}

/** Whether the proxy in front of this one says that all calls of the session are those of one caller at a time. */
export function hasSessionAlone(call: Call): boolean {
  return callerTag(call).startsWith(` ${ALONE}`);
}

const MAX_TAGS = 1000;

/** The tags by which a proxy behind this one tells the callers apart. They are others in each process, and do not say who it is. */
export class CallerTags {
  /** Of the callers that were seen last: making a tag takes longer than a small call. */
  readonly #tags = new BoundedMap<string, string>(MAX_TAGS);
  /** Made when it is needed: Workers may not make random values while they load. */
  #salt: string | undefined;

  /** The tag of a caller; another one each time if nobody else is known to be the same. */
  of(owner: string | undefined): string {
    if (owner === undefined) return UNKNOWN + crypto.randomUUID();
    const known = this.#tags.get(owner);
    if (known !== undefined) return known;
    this.#salt ??= crypto.randomUUID();
    const tag = digest([this.#salt, owner]);
    this.#tags.set(owner, tag);
    return tag;
  }
}

function digest(parts: readonly string[]): string {
  return encodeBase64Url(sha256(encoder.encode(JSON.stringify(parts))));
}

interface CarriedParts {
  readonly tags: CallerTags;
  /** The name of the caller; undefined if nobody else is known to be the same. */
  readonly owner: string | undefined;
  /** The name of the connection, if only this caller uses it while the call is open. */
  readonly alone: string | undefined;
  /** The state of the call, if it was sealed for the caller. */
  readonly opened?: unknown;
}

/** The parameters of a call as the server gets them. */
export function carriedParams(call: Call, parts: CarriedParts): JsonObject {
  const { requestState } = call.params;
  const params = withTag(withBoundKey(call), call, parts);
  const { opened = requestState } = parts;
  const own = typeof opened === 'string' && opened.startsWith(BEHIND) ? opened.slice(BEHIND.length) : opened;
  return own === requestState ? params : { ...params, requestState: own };
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

// If the server is another proxy, all callers are one to it, and questions and log messages of an older server behind it could reach somebody
// else. So it is told which calls are of one caller, and whether it can tell them by their session: then a session needs one connection there.
function withTag(params: JsonObject, { method, peer }: Call, parts: CarriedParts): JsonObject {
  const { owner, alone, tags } = parts;
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  if (owner !== THIS_PROGRAM && mayAsk(method) && hears(peer)) {
    const tag = alone === undefined ? tags.of(owner) : ALONE + tags.of(alone);
    return { ...params, _meta: { ...meta, [CALLER]: tag } };
  }
  if (!(CALLER in meta)) return params;
  // The tag of the caller's own callers means nothing behind this proxy.
  const { [CALLER]: _, ...rest } = meta;
  return { ...params, _meta: rest };
}

/** Whether a client can be asked, or wants log messages. */
function hears({ capabilities: { elicitation, sampling, roots }, logLevel }: Call['peer']): boolean {
  return [elicitation, sampling, roots, logLevel].some((part) => part !== undefined);
}

// The server sees the proxy, and idempotency keys belong to who calls: two callers with one key would be one call. A digest of the caller
// and the key is the same in every process, so that a retry finds its call. The program itself, which has no name, keeps its keys.
function withBoundKey(call: Call): JsonObject {
  const { params, auth, via, isLocal } = call;
  const meta = params['_meta'];
  const key = isObject(meta) ? meta[IDEMPOTENCY_KEY] : undefined;
  if (typeof key !== 'string' || key === '' || key.length > MAX_KEY) return params;
  if (auth === undefined && (via === undefined || isLocal === true)) return params;
  const bound = digest([principalOf(call), key]);
  return { ...params, _meta: { ...(meta as JsonObject), [IDEMPOTENCY_KEY]: bound } };
}
