import type { Auth, Call } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { canonical } from '../../protocol/canonical.js';
import { assertJson } from '../../protocol/encoding/json-value.js';
import { IDEMPOTENCY_KEY } from '../../protocol/tables/meta-keys.js';
import { charsBeyond } from '../facts/json-size.js';
import { type Fact, factOf } from './observed-call.js';

// The keys that results are kept under. Every part is JSON without line breaks, so that a line break separates them.

/** Calls with longer parameters are seldom repeated, and their keys would fill the memory. */
const MAX_PARAMS_CHARS = 4000;

/** The method and the parameters of a call; undefined if its result must not be kept. */
export function callKeyOf({ method, params, isNested }: Call): string | undefined {
  // A result without a run would lack in the record of the outer handler, which runs again after each question.
  if (isNested) return undefined;
  const { _meta, ...rest } = params;
  // Spec 2026-07-28, Caching: a result that depends on answers of the user is not cached.
  if ('inputResponses' in rest || 'requestState' in rest) return undefined;
  if ((_meta as Record<string, unknown> | undefined)?.[IDEMPOTENCY_KEY] !== undefined) return undefined;
  if (charsBeyond(MAX_PARAMS_CHARS, rest) !== undefined) return undefined;
  try {
    return canonical([method, rest]);
  } catch {
    return undefined;
  }
}

/** A caller that can be told from all others. */
export interface Owner {
  /** The name of the caller. */
  readonly name: string;
  /** The name, with everything that is known about the caller: its scopes and claims may decide what it gets. */
  readonly context: string;
}

const sessions = new WeakMap<object, Owner>();
let lastSession = 0;
const LOCAL: Owner = { name: 'local', context: 'local' };

/**
 * The caller of a call: the authenticated one, the program itself, or the other end of a connection. Undefined if nobody is
 * authenticated and each call stands alone, as over HTTP: then two calls may be those of two people.
 */
export function ownerOf({ auth, isLocal, via }: Call): Owner | undefined {
  if (auth !== undefined) return authenticated(auth);
  if (isLocal === true) return LOCAL;
  const session = via?.session;
  if (session === undefined) return undefined;
  const known = sessions.get(session);
  if (known !== undefined) return known;
  const name = `session ${++lastSession}`;
  const owner = { name, context: name };
  sessions.set(session, owner);
  return owner;
}

// Spec 2026-07-28, Caching: caches must not be shared across authorization contexts.
function authenticated({ expiresAt, ...auth }: Auth): Owner | undefined {
  try {
    // A value that is not JSON, such as a set of roles, could not be compared.
    assertJson(auth, 'auth');
    return { name: `caller ${principalOf({ auth })}`, context: canonical(auth) };
  } catch {
    return undefined;
  }
}

/** The keys of a result: the one for all callers, and the one for its caller alone. */
export interface CallKeys {
  readonly shared: string;
  readonly own: string | undefined;
}

/** The keys of the result of a call, given the facts that results of such calls have depended on. */
export function keysOf(
  call: Call,
  callKey: string,
  { owner, facts }: { readonly owner: string | undefined; readonly facts: readonly Fact[] },
): CallKeys {
  const variant = [callKey, ...facts.map((fact) => `${fact} ${factOf(call, fact)}`)].join('\n');
  return { shared: `all\n${variant}`, own: owner === undefined ? undefined : `own\n${owner}\n${variant}` };
}
