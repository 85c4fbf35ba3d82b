// Starts the handler of a task, and retries while that fails.

import { type Lifetime, withSignal } from '../../../async/lifetime.js';
import { Retries, type RetriesOptions } from '../../../async/retries.js';
import type { JsonObject } from '../../../jsonrpc/message.js';
import type { Call, Outcome } from '../../../protocol/call.js';
import { McpError } from '../../../protocol/errors.js';
import type { Replay } from '../../../server/asking/replay.js';
import type { TaskWork } from '../../../server/handle/task-host.js';
import { ToolError } from '../../../server/results/tool-error.js';
import type { HeldTask } from './held-task.js';

/** The parts of the start of a task. */
export interface TaskStart {
  readonly call: Call;
  readonly replay: Replay;
  readonly load: () => TaskWork | Promise<TaskWork>;
  readonly lifetime: Lifetime;
  /** Called with each failure that is retried. */
  readonly onFailure: (error: unknown) => void;
  /** Called if `load` rejects with an `McpError`: this process cannot run the task. */
  readonly onMisfit: (error: McpError) => void;
}

/** A task whose handler is running. */
export interface StartedTask {
  /** Settles when the handler has ended. */
  readonly outcome: Promise<Outcome>;
}

const RETRY: RetriesOptions = { baseMs: 100, maxMs: 60_000, jitter: [0.75, 1], unref: true };

/**
 * Runs a task's handler. A failure before the handler runs is retried with growing delays: a database that is unavailable for a
 * moment must not fail every task. An `McpError` or a `ToolError` is final. Resolves with undefined if the task has ended in the meantime.
 */
export async function beginTask(start: TaskStart): Promise<StartedTask | undefined> {
  const { lifetime, load, onFailure, onMisfit } = start;
  const retries = new Retries({ ...RETRY, until: lifetime });
  while (await retries.next()) {
    let work: TaskWork | undefined;
    try {
      work = await load();
      return await begin(work, start);
    } catch (error) {
      if (lifetime.ended) return undefined;
      if (work === undefined && McpError.is(error)) {
        onMisfit(error);
        return undefined;
      }
      if (McpError.is(error) || ToolError.is(error)) throw error;
      onFailure(error);
    }
  }
  return undefined;
}

async function begin(work: TaskWork, { call, replay }: TaskStart): Promise<StartedTask> {
  let isRunning = false;
  let onStarted!: () => void;
  const started = new Promise<void>((resolve) => {
    onStarted = resolve;
  });
  const outcome = work.run(call, replay, () => {
    isRunning = true;
    onStarted();
  });
  const failed = outcome.catch((error) => {
    if (!isRunning) throw error;
  });
  await Promise.race([started, failed]);
  return { outcome };
}

/** The call that a task's handler answers: the one that created the task, without its request. */
export function taskCall(
  { place: { id }, journal }: HeldTask,
  lifetime: Lifetime,
  onProgress: (report: JsonObject) => void,
): Call {
  const { tool, args, peer, auth, isLocal, trace } = journal.call;
  const call = {
    id,
    method: 'tools/call',
    params: { name: tool, arguments: args, _meta: { ...trace, progressToken: id } },
    peer,
    auth,
    isLocal,
    notify: (method: string, { progressToken, ...report }: JsonObject = {}) => {
      if (method === 'notifications/progress') onProgress(report);
    },
  };
  return withSignal(call, lifetime);
}
