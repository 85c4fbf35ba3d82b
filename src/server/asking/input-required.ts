// The result of a handler that asks its questions itself, without `ctx.ask`.

import type { InputRequest } from '../../protocol/model/input.js';

const brand = Symbol.for('fullmcp.inputRequired');

/** The questions that end a run of a handler. The next run has the answers in `ctx.resumed`. Make it with `inputRequired()`. */
export interface InputRequired {
  /** The questions by key. */
  readonly requests: Readonly<Record<string, InputRequest>>;
  /** The value that the next run gets in `ctx.resumed.state`. */
  readonly state: unknown;
}

/**
 * Ends a run with questions, by key: return the value of `inputRequired()` from the handler. `state` is encrypted, passes through
 * the client, and is in `ctx.resumed.state` of the next run.
 */
export function inputRequired(
  requests: Readonly<Record<string, InputRequest>>,
  state?: unknown,
): InputRequired {
  const result = { requests, state };
  Object.defineProperty(result, brand, { value: true });
  return result;
}

/** Whether a handler returned the result of `inputRequired()`, from any copy of this package. */
export function isInputRequired(value: unknown): value is InputRequired {
  return typeof value === 'object' && value !== null && brand in value;
}
