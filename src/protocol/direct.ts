import { withSignalOf } from '../async/lifetime.js';
import type { Call, Dispatch, Outcome } from './call.js';

// A promise that is awaited costs a small call more than its handler does. A server without middleware can answer without one.

/**
 * A `Dispatch` that answers at once where nothing has to be awaited, and may throw at once. It never spreads its call, so that
 * `signal`, `http` and `notify` may be getters of a class.
 */
export type DirectDispatch = (call: Call) => Outcome | Promise<Outcome>;

const direct: unique symbol = Symbol('fullmcp.direct');

/** Makes the `Dispatch` of a direct one, which `directly` finds again. A function that wraps it has its own way. */
export function fromDirect(answer: DirectDispatch): Dispatch {
  async function dispatch(call: Call): Promise<Outcome> {
    return answer(call);
  }
  return Object.assign(dispatch, { [direct]: answer });
}

/** The direct dispatch that this one was made of; undefined where it was not. */
export function directly(
  dispatch: Dispatch & { readonly [direct]?: DirectDispatch },
): DirectDispatch | undefined {
  return dispatch[direct];
}

/** A copy whose members are all its own, with some of them changed. It makes no signal where there is none yet. */
export function copyCall(call: Call, changes: Partial<Omit<Call, 'signal'>> = {}): Call {
  const { http, notify } = call;
  return withSignalOf(call, { ...call, http, notify, ...changes });
}
