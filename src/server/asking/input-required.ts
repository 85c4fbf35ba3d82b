import type { InputRequest } from '../../protocol/model/input.js';

const brand = Symbol.for('fullmcp.inputRequired');

/** The questions that a handler ends with. The answers are in `ctx.resumed` of the next run. Make it with `inputRequired()`. */
export interface InputRequired {
  /** The questions by key. */
  readonly requests: Readonly<Record<string, InputRequest>>;
  /** The value that the next run gets in `ctx.resumed.state`. */
  readonly state: unknown;
}

/**
 * Ends a call with questions, by key: return the result from the handler. `state` travels sealed through the client and is in
 * `ctx.resumed.state` of the next run.
 */
export function inputRequired(
  requests: Readonly<Record<string, InputRequest>>,
  state?: unknown,
): InputRequired {
  const result = { requests, state };
  Object.defineProperty(result, brand, { value: true });
  return result;
}

export function isInputRequired(value: unknown): value is InputRequired {
  return typeof value === 'object' && value !== null && brand in value;
}
