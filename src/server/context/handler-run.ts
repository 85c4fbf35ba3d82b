import type { Call, Middleware, Outcome } from '../../protocol/call.js';
import type { CallContext, ContextParts, PreparedInputs } from './call-context.js';

/** A handler as the server runs it. It is made once, not for each call. */
export interface HandlerRun<Input, Value> {
  /** The target of a call, to recognize the calls that continue it. */
  readonly target: (call: Call) => CallTarget;
  readonly run: (input: Input, ctx: CallContext<never, never>, call: Call) => Value | Promise<Value>;
  /** Makes the outcome of a run that asks nothing. */
  readonly finish: (value: Value) => Outcome;
  /** The server that the handler belongs to, if it is mounted in the one that runs it. */
  readonly home?: HandlerHome | undefined;
}

/** The server that a handler belongs to: what its context has. */
export interface HandlerHome {
  /** Whether there is nothing to prepare. */
  readonly isPrepared: boolean;
  /** Whether the server has the option `user`, so that its handlers may answer each caller differently. */
  readonly hasUser: boolean;
  /** Makes the state and the user of a call. */
  readonly prepare: (call: Call) => Promise<PreparedInputs>;
  /** The functions that the context calls. */
  readonly contextParts: () => ContextParts;
}

/** Where a definition comes from that is mounted in the server that runs it. */
export interface Mounted {
  readonly home: HandlerHome;
  /** The middleware of that server, around the calls of the definition; undefined if there is none. */
  readonly through: Middleware | undefined;
}

/** The thing that a call acts on: a tool and its arguments, a prompt, a resource. */
export interface CallTarget {
  readonly name: string;
  readonly args: unknown;
  /** The id of the run, if its steps must have the same idempotency keys in a later run. */
  readonly runId?: string | undefined;
}
