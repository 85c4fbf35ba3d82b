import type { Call, Outcome } from '../../protocol/call.js';
import type { CallContext } from './call-context.js';

// A handler as the server runs it. It is made when a tool, a prompt or a resource is defined, so that a call makes nothing.

export interface HandlerRun<Input, Value> {
  /** The target of a call, for the calls that continue it. */
  readonly target: (call: Call) => CallTarget;
  readonly run: (input: Input, ctx: CallContext<never, never>, call: Call) => Value | Promise<Value>;
  /** Makes the outcome of a run that asks nothing. */
  readonly finish: (value: Value) => Outcome;
}

/** The thing that a call acts on: a tool and its arguments, a prompt, a resource. */
export interface CallTarget {
  readonly name: string;
  readonly args: unknown;
  /** Names the run, where a later one should have the same keys for its steps. */
  readonly runId?: string | undefined;
}
