// The values and functions that a handler's run starts with, besides its call.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import type { ResourceContents } from '../../protocol/model/content.js';
import type { Replay } from '../asking/replay.js';
import type { Run } from '../asking/run.js';
import type { ToolResult } from '../results/tool-result.js';
import type { ChangeMessage } from '../state/changes.js';
import type { ReportDeprecated } from '../state/deprecations.js';
import type { Logger } from '../state/log.js';
import type { LogCount } from './call-log.js';
import type { StoredParts } from './caller-state.js';
import type { Context } from './context.js';

/** The values that a handler's run starts with. */
export interface RunInputs<State, User> {
  readonly state: State;
  readonly user: User;
  /** The questions and steps of an earlier round, or of the outer call. */
  readonly run?: Run | undefined;
  readonly resumed?: Context['resumed'];
  /** The log messages and progress of earlier rounds. */
  readonly sent?: SentSoFar | undefined;
  /** The count of the outer call's log messages, for a nested call. */
  readonly logs?: LogCount | undefined;
}

/** The part of the inputs that a nested call shares with the outer call. */
export type PreparedInputs = Pick<RunInputs<never, never>, 'state' | 'user' | 'logs'>;

/** The number of messages that were logged in all rounds, at any level, and the highest progress. */
export interface SentSoFar {
  readonly logCount: number;
  readonly lastProgress: number | undefined;
}

/** The functions of a server that the contexts of its handlers call. */
export interface ContextParts {
  /** Makes the replay of a call when its handler asks the first question or runs the first step. */
  readonly newReplay: () => Replay;
  /** Announces a change. The promise resolves when other processes are told, or cannot be; undefined if there are none. */
  readonly announce: (change: ChangeMessage) => Promise<unknown> | undefined;
  /** The name and the store of the server. */
  readonly stored: Pick<StoredParts, 'server' | 'store'>;
  /** Writes to the log of the operator. */
  readonly log: Logger;
  /** Reports the use of deprecated parts of the API. */
  readonly deprecated: ReportDeprecated;
  readonly read: (nested: NestedCall, uri: string) => Promise<readonly ResourceContents[]>;
  /** Answers a call of any method, as if the caller had made it. */
  readonly request: (call: Call) => Promise<Outcome>;
  readonly callTool: (nested: NestedCall, name: string, args: Readonly<JsonObject>) => Promise<ToolResult>;
}

/** A call that a handler makes with `ctx.call` or `ctx.read`. Its questions and steps belong to the outer call. */
export interface NestedCall {
  readonly inputs: PreparedInputs;
  readonly call: Call;
  readonly run: Run;
}
