import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import type { Store } from '../../state/store.js';
import type { Topic } from '../../state/topic.js';
import type { Journal } from '../asking/journal.js';
import type { Replay } from '../asking/replay.js';
import type { CallContext } from '../context/call-context.js';
import type { TaskOptions, TasksOptions } from '../define/task-options.js';
import type { Complete } from '../results/results.js';
import type { TaskAnnouncement } from '../state/changes.js';
import type { Logger } from '../state/log.js';

/** A call to a tool, as a task runs it. */
export interface TaskWork {
  readonly name: string;
  /** The version of the tool; undefined if the tool has no versions. */
  readonly version: string | undefined;
  readonly args: unknown;
  /** The settings of the tool; undefined if it is a task only for a client that cannot be asked. */
  readonly options: TaskOptions | undefined;
  /** The id of the run, if its steps must have the same idempotency keys in a later run. */
  readonly runId?: string | undefined;
  /** Makes the state and the user of the call while its request is open, for the first run. */
  readonly prepare?: (() => Promise<void>) | undefined;
  /** Runs the handler with these questions and steps. An error before `onRunning` is called does not come from the handler. */
  readonly run: (call: Call, replay: Replay, onRunning: () => void) => Promise<Outcome>;
  /** Runs the handler as an ordinary call. With `background`, `ctx.background()` turns it into a task. */
  readonly inline: (background?: Background) => Promise<Outcome>;
  /** The journal of a round of the call, from the state that the round has sealed. */
  readonly journalOf: (state: string) => Promise<Journal>;
}

/** Called when a handler continues in the background. Makes the outcome of its call, which ends now. */
export type Background = (running: RunningCall) => Promise<Outcome>;

/** A handler that has been running as an ordinary call. */
export interface RunningCall {
  readonly ctx: CallContext<never, never>;
  readonly replay: Replay;
  /** Settles when the handler has ended. */
  readonly outcome: Promise<Outcome>;
}

/** Runs tools as tasks. The server knows only this interface. */
export interface TaskHost {
  readonly methods: ReadonlyMap<string, (call: Call) => Promise<Outcome>>;
  /** Answers a call to a tool that can run as a task. */
  readonly serve: (call: Call, work: TaskWork) => Promise<Outcome>;
  /** Returns those of these tasks that the caller may watch. Throws if the client does not support tasks. */
  readonly filterWatchable: (call: Call, ids: readonly string[]) => Promise<readonly string[]>;
  /** The task as `tasks/get` returns it to this caller. */
  readonly details: (call: Call, id: string) => Promise<JsonObject | undefined>;
  /** Begins to take up tasks that no other process works on. */
  readonly resume: () => Promise<void>;
  /** Leaves all tasks to other processes. Running steps may finish within `drainMs` and are saved. */
  readonly close: (options?: { readonly drainMs?: number }) => Promise<void>;
}

/** The call that a task was made from, with its caller. */
export interface StoredCall extends Caller, Pick<Call, 'inProgram'> {
  readonly tool: string;
  /** The version of the tool that began the task; absent if the tool had no versions. */
  readonly version?: string;
  readonly args: unknown;
}

/** A task as another version of its tool continues it. */
export interface MigratedTask {
  readonly version: string;
  readonly args: unknown;
  readonly journal: Journal;
}

/** Decides which callers see the tasks of a tool. */
export interface TaskRules {
  /** Whether there are rules at all. */
  readonly areGuarded: () => boolean;
  /** Whether a caller sees the tasks of a tool. Rejects with a challenge if the caller only lacks scopes. */
  readonly sees: (caller: Caller, tool: string) => Promise<boolean>;
}

/** The parts that a task host is made of. */
export interface TaskPluginParts {
  /** The name of the server. */
  readonly server: string;
  /** The version of the server. */
  readonly release: string;
  readonly store: Store;
  /** Whether other processes share the tasks. */
  readonly isShared: () => boolean;
  readonly complete: Complete;
  /** Tells this process and others that a task changed. */
  readonly changes: Topic<TaskAnnouncement>;
  readonly log: Logger;
  /** Finds the tool of a task, to run it again. Rejects with an `McpError` if this process cannot run it. */
  readonly workOf: (task: StoredCall) => Promise<TaskWork>;
  /** The tools that run as tasks here, each with its versions; an empty array if it has none. */
  readonly serves: () => Readonly<Record<string, readonly string[]>>;
  /** Whether this process has the tool, in any version. */
  readonly knows: (tool: string) => boolean;
  /** Migrates a task whose version is gone; undefined if there is no migration from it. Rejects with an `McpError` if that fails. */
  readonly migrate: (task: StoredCall, journal: Journal) => Promise<MigratedTask | undefined>;
  readonly rules: TaskRules;
  readonly limits: TasksOptions;
}
