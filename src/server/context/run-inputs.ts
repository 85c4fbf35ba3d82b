import type { Run } from '../asking/run.js';
import type { LogCount } from './call-log.js';
import type { Context } from './context.js';

/** The values that a handler's run starts with, beside its call. */
export interface RunInputs<State, User> {
  readonly state: State;
  readonly user: User;
  /** The questions and steps of an earlier round, or of the outer call. */
  readonly asking?: Run | undefined;
  readonly resumed?: Context['resumed'];
  /** The log messages and progress that earlier rounds sent. */
  readonly sent?: SentSoFar | undefined;
  /** The count of the outer call's log messages, where this call is inside another one. */
  readonly logs?: LogCount | undefined;
}

/** The part of the inputs that a nested call shares with the outer call. */
export type PreparedInputs = Pick<RunInputs<never, never>, 'state' | 'user' | 'logs'>;

/** The number of log messages that were sent in all rounds, and the highest progress. */
export interface SentSoFar {
  readonly logged: number;
  readonly reached: number | undefined;
}
