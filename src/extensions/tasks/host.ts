// The tasks extension: creates, finds, answers and cancels tasks.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { checkCounts, timerMs } from '../../protocol/checks/number-options.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { isTerminal, supportsTasks, TASKS } from '../../protocol/tasks.js';
import { newJournal } from '../../server/asking/journal.js';
import type { RunningCall, TaskHost, TaskPluginParts, TaskWork } from '../../server/handle/task-host.js';
import { CallerQuota } from './caller-quota.js';
import { LiveTask, type LiveTaskParts } from './live-task.js';
import { LiveTasks } from './live-tasks.js';
import { oldStore } from './old-store.js';
import { Resumption } from './resumption.js';
import { savingError, shutdownError } from './saving-errors.js';
import { newTask, readTask, remainingMs, type Task, toDetails, toSummary } from './task.js';

const PREFIX = 'task:';
const TASK_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const DRAIN_MS = 5000;
const requiredCapabilities = { extensions: { [TASKS]: {} } };

/** Makes the host of the extension `io.modelcontextprotocol/tasks`. */
export function taskHost(parts: TaskPluginParts): TaskHost {
  const { complete, changes, log, limits } = parts;
  const store = oldStore(parts.store);
  checkCounts('tasks', { ...limits });
  const { ttlMs = 3_600_000, pollIntervalMs = 1000, maxTasks = 10_000 } = limits;
  const { maxTasksPerCaller = 1000, maxBytesPerCaller = 64 * 1024 * 1024 } = limits;
  const { maxTaskBytes = 16 * 1024 * 1024, maxAnswerBytes = 1024 * 1024 } = limits;
  const quota = new CallerQuota({ maxTasksPerCaller, maxBytesPerCaller });
  const live = new LiveTasks(log);
  let closing: Promise<void> | undefined;
  const resumption = new Resumption({
    entries: () => store.entries(PREFIX),
    idOf: (key) => key.slice(PREFIX.length),
    isLive: (id) => live.has(id),
    admit,
    workOf: parts.workOf,
    log,
  });
  const { resume } = resumption;

  const liveParts: LiveTaskParts = {
    async save({ task, json, bytes }, expiresAt) {
      await store.set(PREFIX + task.id, json, expiresAt);
      quota.hold(task.principal, task.id, { bytes, expiresAt, isFinished: isTerminal(task.status) });
    },
    async remove({ id, principal }) {
      await store.delete(PREFIX + id);
      quota.release(principal, id);
    },
    onChange: (id) => changes.publish({ id }),
    onEnd: forget,
    log,
    maxTaskBytes,
    maxAnswerBytes,
  };

  async function serve(call: Call, work: TaskWork): Promise<Outcome> {
    const resumed = resume();
    if (!supportsTasks(call.peer)) {
      if (work.options.support === 'required') throw tasksNotSupported();
      return work.inline();
    }
    // A task that begins while old tasks are being resumed could be mistaken for one of them.
    await resumed;
    if (work.options.start !== 'on-background') {
      await work.prepare?.();
      return create(call, work);
    }
    return work.inline((running) => create(call, work, running));
  }

  async function create(call: Call, work: TaskWork, running?: RunningCall): Promise<Outcome> {
    const principal = principalOf(call);
    if (closing !== undefined) throw shutdownError();
    if (live.size >= maxTasks)
      throw new McpError('overloaded', 'Too many tasks are unfinished (tasks.maxTasks). Try again later.');
    quota.check(principal, { isNewTask: true });
    const journal = running === undefined ? newJournal(work.runId) : running.replay.journal(running.ctx.sent);
    const fresh = newTask(call, work, { ttlMs, pollIntervalMs, journal });
    const task = new LiveTask(liveParts, fresh, running?.replay);
    const summary = toSummary(fresh);
    live.add(task);
    quota.hold(principal, fresh.id, { bytes: 0, expiresAt: fresh.createdAt, isFinished: false });
    try {
      // Spec, Tasks: the response is sent only when the task can be found.
      await task.save();
    } catch (error) {
      await abandon(task);
      throw savingError('The task could not be saved', error);
    }
    if (running !== undefined) task.adopt(running);
    else void task.start(() => work);
    return complete({ resultType: 'task', ...summary });
  }

  // A write that failed may still have reached the store. The client learns that there is no task, so the next process must not
  // find one.
  async function abandon(task: LiveTask): Promise<void> {
    const { id, principal } = task.task;
    await task
      .abandon()
      .catch((error) =>
        log('error', `Task ${id} was rejected, but could not be removed from the store`, error),
      );
    quota.release(principal, id);
    forget(id);
  }

  function forget(id: string): void {
    live.delete(id);
    resumption.onEnd(id);
  }

  async function find(id: unknown): Promise<Task | undefined> {
    if (typeof id !== 'string' || !TASK_ID.test(id)) return undefined;
    const running = live.get(id);
    if (running !== undefined) return running.visible;
    const json = await store.get(PREFIX + id);
    return json && readTask(json, id);
  }

  /** Finds the caller's task. A task of another caller is reported as unknown, like one that does not exist. */
  async function findOwn(call: Call): Promise<Task> {
    if (!supportsTasks(call.peer)) throw tasksNotSupported();
    const { taskId } = call.params;
    if (typeof taskId !== 'string') throw new McpError('invalid_params', 'params.taskId must be a string');
    await resume();
    const task = await find(taskId);
    if (task === undefined || task.principal !== principalOf(call)) {
      throw new McpError('invalid_params', `Unknown task: ${shorten(taskId, 64)}`);
    }
    return task;
  }

  /** The task as it runs here; undefined if it has ended. Throws if another process runs it. */
  function liveTaskOf(task: Task): LiveTask | undefined {
    if (isTerminal(task.status)) return undefined;
    const running = live.get(task.id);
    if (running !== undefined) return running;
    throw new McpError(
      'internal_error',
      `The task ${task.id} does not run in this process. Behind a load balancer, send tasks/update and tasks/cancel to the process that runs the task.`,
    );
  }

  async function get(call: Call): Promise<Outcome> {
    const details = toDetails(await findOwn(call));
    return complete(details, details['_meta'] as JsonObject | undefined);
  }

  async function update(call: Call): Promise<Outcome> {
    const task = await findOwn(call);
    const { inputResponses } = call.params;
    if (!isObject(inputResponses))
      throw new McpError('invalid_params', 'params.inputResponses must be an object');
    const running = liveTaskOf(task);
    if (running !== undefined) {
      quota.check(task.principal, { isNewTask: false });
      await running.answer(inputResponses);
    }
    return complete({});
  }

  async function cancel(call: Call): Promise<Outcome> {
    await liveTaskOf(await findOwn(call))?.cancel('The client cancelled the task');
    return complete({});
  }

  /** Makes a live task from the task of an earlier process; undefined if the task has ended. */
  function admit(task: Task, json: JsonObject): LiveTask | undefined {
    const { id, principal } = task;
    const isFinished = isTerminal(task.status);
    const bytes = JSON.stringify(json).length;
    quota.hold(principal, id, { bytes, expiresAt: Date.now() + remainingMs(task), isFinished });
    if (isFinished) return undefined;
    const resumed = new LiveTask(liveParts, task);
    live.add(resumed);
    return resumed;
  }

  return {
    methods: new Map([
      ['tasks/get', get],
      ['tasks/update', update],
      ['tasks/cancel', cancel],
    ]),
    serve,
    resume,
    async filterWatchable(call, ids) {
      if (!supportsTasks(call.peer)) throw tasksNotSupported();
      const tasks = await Promise.all(ids.map(find));
      return ids.filter((_, index) => tasks[index]?.principal === principalOf(call));
    },
    async details(id) {
      const task = await find(id);
      return task && toDetails(task);
    },
    close({ drainMs = DRAIN_MS } = {}) {
      if (closing !== undefined) return closing;
      const ms = timerMs('drainMs', drainMs);
      resumption.close();
      closing = live.close(ms);
      return closing;
    },
  };
}

function tasksNotSupported(): McpError {
  return new McpError(
    'missing_capability',
    `This call needs a client that supports tasks: one that declares the extension ${TASKS}`,
    {
      data: { requiredCapabilities },
    },
  );
}
