import type { InputRequest } from '../../protocol/input.js';

const brand = Symbol.for('fullmcp.inputRequired');

/** The raw form of asking: the handler ends with its questions and sees the answers in `ctx.resumed` of the next round. */
export interface InputRequired {
  readonly requests: Readonly<Record<string, InputRequest>>;
  readonly state: unknown;
}

/** Ends the call with questions. `state` comes back sealed, in `ctx.resumed.state`. */
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
