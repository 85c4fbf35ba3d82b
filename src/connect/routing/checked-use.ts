import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Middleware, Outcome } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';
import { ROUTED_TO } from '../../protocol/tables/meta-keys.js';

// Middleware may answer a call itself, from what it has kept of another caller's. So the rules decide before it does.

/** The reason why a call is not made: an error, or a question that comes first. */
export type CallRefusal = { readonly error: unknown } | { readonly question: Outcome };

/** The refused calls of which middleware of the program has made others that may be made, or whose callers it has identified. */
type Replaced = WeakSet<CallRefusal>;

/** A call that was decided about: as it goes on, and why it must not be made. */
export interface Checked {
  readonly call: Call;
  readonly refusal?: CallRefusal | undefined;
}

/** Decides whether a call may be made. */
export type CheckCall = (call: Call) => Promise<Checked>;

/**
 * Wraps `dispatch` in middleware, the first outermost, and decides about each call before any of it sees the call. Middleware sees a
 * refused call and its error, so that it is logged and counted, but cannot answer it. A call that middleware changes is a new one.
 */
export function composeChecked(use: readonly Middleware[], dispatch: Dispatch, check: CheckCall): Dispatch {
  const replaced: Replaced = new WeakSet();

  async function again(call: Call, last: Checked): Promise<Checked> {
    // Middleware may have made `_meta` anew.
    if (isSame(last.call, call)) return { call: marked(call, markIn(last.call)), refusal: last.refusal };
    const other = await check(call);
    if (last.refusal !== undefined && other.refusal === undefined && call.method === last.call.method)
      replaced.add(last.refusal);
    return other;
  }

  async function run(checked: Checked, at: number): Promise<Outcome> {
    const { call, refusal } = checked;
    const wrap = use[at];
    if (wrap === undefined) return refusal === undefined ? dispatch(call) : answer(refusal);
    const outcome = await wrap(call, async (next) => run(await again(next, checked), at + 1));
    return refusal === undefined || replaced.has(refusal) ? outcome : answer(refusal);
  }

  return use.length === 0 ? dispatch : async (call) => run(await check(call), 0);
}

function answer(refusal: CallRefusal): Outcome {
  if ('question' in refusal) return refusal.question;
  throw refusal.error;
}

/** The call with the servers that it may go to. */
export function marked(call: Call, to: unknown): Call {
  const { _meta } = call.params;
  const meta = isObject(_meta) ? _meta : {};
  if (meta[ROUTED_TO] === to) return call;
  return copyCall(call, { params: { ...call.params, _meta: { ...meta, [ROUTED_TO]: to } as JsonObject } });
}

/** The parameters as a server gets them. */
export function unmarked(params: JsonObject): JsonObject {
  const { _meta } = params;
  if (!isObject(_meta) || !(ROUTED_TO in _meta)) return params;
  const { [ROUTED_TO]: _, ...rest } = _meta;
  return { ...params, _meta: rest };
}

function markIn({ params: { _meta } }: Call): unknown {
  return isObject(_meta) ? _meta[ROUTED_TO] : undefined;
}

/** The mark of a call about a resource: groups of servers, by name. */
export function markOf(groups: readonly (readonly string[])[]): string {
  return JSON.stringify(groups);
}

/** Whether a call about a resource may go to a server: one that was decided about goes nowhere else, although the lists have changed. */
export function mayGoTo(call: Call): (server: string) => boolean {
  const mark = markIn(call);
  if (typeof mark !== 'string' || !mark.startsWith('[[')) return () => true;
  try {
    const names = new Set((JSON.parse(mark) as unknown[]).flat());
    return (server) => names.has(server);
  } catch {
    // A caller wrote it.
    return () => true;
  }
}

/** The parameters that a decision depends on. */
const DECIDING = ['name', 'uri', 'ref', 'taskId', 'requestState', 'inputResponses'] as const;

function isSame(one: Call, other: Call): boolean {
  return (
    one === other ||
    (one.method === other.method &&
      one.auth === other.auth &&
      DECIDING.every((key) => one.params[key] === other.params[key]))
  );
}
