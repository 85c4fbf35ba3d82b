import type { Call, Outcome } from '../../protocol/call.js';
import type { CallContext } from './call-context.js';

/** A handler as the server runs it. It is made once, not for each call. */
export interface HandlerRun<Input, Value> {
  /** The target of a call, to recognize the calls that continue it. */
  readonly target: (call: Call) => CallTarget;
  readonly run: (input: Input, ctx: CallContext<never, never>, call: Call) => Value | Promise<Value>;
  /** Makes the outcome of a run that asks nothing. */
  readonly finish: (value: Value) => Outcome;
}

/** The thing that a call acts on: a tool and its arguments, a prompt, a resource. */
export interface CallTarget {
  readonly name: string;
  readonly args: unknown;
  /** The id of the run, if its steps must have the same idempotency keys in a later run. */
  readonly runId?: string | undefined;
}
