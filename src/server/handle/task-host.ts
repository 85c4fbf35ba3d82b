import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import type { Replay } from '../asking/replay.js';
import type { CallContext } from '../context/call-context.js';
import type { TaskOptions, TasksOptions } from '../define/task-options.js';
import type { Complete } from '../results/results.js';
import type { BusMessage } from '../state/bus.js';
import type { Logger } from '../state/log.js';
import type { Store } from '../state/store.js';

/** A tool's handler and how to run it, as a task sees it. */
export interface TaskWork {
  readonly name: string;
  readonly args: unknown;
  readonly options: TaskOptions;
  /** Names the run, where a later one should have the same keys for its steps. */
  readonly runId?: string | undefined;
  /** Makes the user of the call while the request is open; the first run uses it. */
  readonly prepare?: (() => Promise<void>) | undefined;
  /** Runs the handler with these questions and steps. An error before `onRunning` is called is not the handler's. */
  readonly run: (call: Call, replay: Replay, onRunning: () => void) => Promise<Outcome>;
  /** Runs the handler as an ordinary call. With `background`, `ctx.background()` turns it into a task. */
  readonly inline: (background?: Background) => Promise<Outcome>;
}

/** Called when a handler continues in the background; makes the outcome of the call that it leaves. */
export type Background = (running: RunningCall) => Promise<Outcome>;

/** A handler that has been running as an ordinary call. */
export interface RunningCall {
  readonly ctx: CallContext<never, never>;
  readonly replay: Replay;
  /** Settles when the handler has ended. */
  readonly outcome: Promise<Outcome>;
}

/** Runs tools as tasks. The server knows only that there is one. */
export interface TaskHost {
  readonly methods: ReadonlyMap<string, (call: Call) => Promise<Outcome>>;
  /** Answers a call to a tool that can run as a task. */
  readonly serve: (call: Call, work: TaskWork) => Promise<Outcome>;
  /** Which of these tasks the caller may watch. Throws if the caller does not support tasks. */
  readonly watchable: (call: Call, ids: readonly string[]) => Promise<readonly string[]>;
  /** The task as `tasks/get` shows it. */
  readonly show: (id: string) => Promise<JsonObject | undefined>;
  /** Resumes the tasks that an earlier process left unfinished. */
  readonly resume: () => Promise<void>;
  /** Starts nothing more. Running steps may finish within `drainMs` and are recorded. */
  readonly close: (options?: { readonly drainMs?: number }) => Promise<void>;
}

/** The parts that a task host is made of. */
export interface TaskPluginParts {
  readonly store: Store;
  readonly complete: Complete;
  readonly publish: (change: BusMessage) => void;
  readonly log: Logger;
  /** Finds the tool of a task that an earlier process left. */
  readonly workOf: (task: { readonly tool: string; readonly args: unknown }) => Promise<TaskWork>;
  readonly limits: TasksOptions;
}
