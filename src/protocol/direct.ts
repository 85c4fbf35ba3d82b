import { withSignalOf } from '../async/lifetime.js';
import type { Call, Dispatch, Outcome } from './call.js';

// Outcomes without a promise. For a small call, awaiting a promise takes longer than its handler does, and a server without
// middleware does not need one.

/**
 * A `Dispatch` that returns its outcome synchronously if nothing has to be awaited, and may throw synchronously. It never
 * spreads its call, so that `signal`, `http` and `notify` may be getters of a class.
 */
export type DirectDispatch = (call: Call) => Outcome | Promise<Outcome>;

const direct: unique symbol = Symbol('fullmcp.direct');

/** Turns a direct dispatch into a `Dispatch`; `toDirect` gets it back. A function that wraps the `Dispatch` is not direct. */
export function fromDirect(answer: DirectDispatch): Dispatch {
  async function dispatch(call: Call): Promise<Outcome> {
    return answer(call);
  }
  return Object.assign(dispatch, { [direct]: answer });
}

/** The direct dispatch that this one was made from; undefined if it was not made by `fromDirect`. */
export function toDirect(
  dispatch: Dispatch & { readonly [direct]?: DirectDispatch },
): DirectDispatch | undefined {
  return dispatch[direct];
}

/** Copies a call, with these changes. All members become own properties; a signal that does not exist yet is not created. */
export function copyCall(call: Call, changes: Partial<Omit<Call, 'signal'>> = {}): Call {
  const copy: Record<string, unknown> = {};
  // Not a spread: it would read the signal, and so create it.
  for (const name in call) if (name !== 'signal') copy[name] = call[name as keyof Call];
  const { http, via, notify } = call;
  return withSignalOf(call, Object.assign(copy, { http, via, notify }, changes) as Omit<Call, 'signal'>);
}
