// The tasks extension: creates, finds, answers and cancels tasks.

import { delay } from '../../async/delay.js';
import { unref } from '../../async/unref.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { principalOf, storableAuth } from '../../protocol/caller.js';
import { checkCounts, timerMs } from '../../protocol/checks/number-options.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { isTerminal, supportsTasks, TASKS } from '../../protocol/tasks.js';
import { newJournal } from '../../server/asking/journal.js';
import type { RunningCall, TaskHost, TaskPluginParts, TaskWork } from '../../server/handle/task-host.js';
import { CallerQuota } from './caller-quota.js';
import { LiveTask, type LiveTaskParts } from './live-task.js';
import { Resumption } from './resumption.js';
import { shuttingDown, unsaved } from './saving-errors.js';
import { detailed, readTask, remainingMs, summary, type Task } from './task.js';

const PREFIX = 'task:';
const TASK_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TICK_MS = 1000;
const DRAIN_MS = 5000;
const required = { extensions: { [TASKS]: {} } };

/** The extension `io.modelcontextprotocol/tasks`. */
export function taskHost(parts: TaskPluginParts): TaskHost {
  const { store, complete, publish, log, limits } = parts;
  checkCounts('tasks', { ...limits });
  const { ttlMs = 3_600_000, pollIntervalMs = 1000, maxTasks = 10_000 } = limits;
  const { maxTasksPerCaller = 1000, maxBytesPerCaller = 64 * 1024 * 1024 } = limits;
  const { maxTaskBytes = 16 * 1024 * 1024, maxAnswerBytes = 1024 * 1024 } = limits;
  const quota = new CallerQuota({ maxTasksPerCaller, maxBytesPerCaller });
  const live = new Map<string, LiveTask>();
  let timer: ReturnType<typeof setInterval> | undefined;
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
    changed: (id) => publish({ kind: 'task', id }),
    ended: forget,
    log,
    maxTaskBytes,
    maxAnswerBytes,
  };

  async function serve(call: Call, work: TaskWork): Promise<Outcome> {
    const resumed = resume();
    if (!supportsTasks(call.peer)) {
      if (work.options.support === 'required') throw missing();
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
    if (closing !== undefined) throw shuttingDown();
    if (live.size >= maxTasks) throw new McpError('overloaded', 'Too many tasks are open. Try again later.');
    quota.check(principal, { newTask: true });
    const now = Date.now();
    const fresh: Task = {
      id: crypto.randomUUID(),
      principal,
      ...(call.auth && { auth: storableAuth(call.auth) }),
      tool: work.name,
      args: work.args,
      peer: call.peer,
      createdAt: now,
      updatedAt: now,
      ttlMs: work.options.ttlMs ?? ttlMs,
      pollIntervalMs: work.options.pollIntervalMs ?? pollIntervalMs,
      attempts: 1,
      status: 'working',
      statusMessage: undefined,
      open: {},
      journal: running === undefined ? newJournal(work.runId) : running.replay.journal(running.ctx.sent),
      result: undefined,
      error: undefined,
    };
    const task = new LiveTask(liveParts, fresh, running?.replay);
    const created = summary(fresh);
    const { id } = fresh;
    watch(task);
    quota.hold(principal, id, { bytes: 0, expiresAt: now, isFinished: false });
    try {
      // Spec, Tasks: the response is sent only when the task can be found.
      await task.save();
    } catch (error) {
      await abandon(task);
      throw unsaved('The task could not be saved', error);
    }
    if (running !== undefined) task.adopt(running);
    else void task.start(() => work);
    return complete({ resultType: 'task', ...created });
  }

  // A write that was reported as failed may still have reached the store. The caller is told that there is no task, so the next
  // process must not find one.
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
    resumption.ended(id);
    if (live.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function watch(task: LiveTask): void {
    live.set(task.task.id, task);
    if (timer !== undefined) return;
    let drift = Date.now() - performance.now();
    timer = setInterval(() => {
      const now = Date.now() - performance.now();
      // The store uses the wall clock: when that is set, the expiry of each running task is written again.
      const isSet = Math.abs(now - drift) > TICK_MS;
      drift = now;
      for (const task of [...live.values()]) {
        if (task.expired) expire(task);
        else if (isSet) task.touch();
      }
    }, TICK_MS);
    unref(timer);
  }

  const expiring = new Set<LiveTask>();
  function expire(task: LiveTask): void {
    // The store may take longer than one tick.
    if (expiring.has(task)) return;
    expiring.add(task);
    task
      .expire()
      .catch((error) => log('error', 'An expired task could not be removed', error))
      .finally(() => expiring.delete(task));
  }

  async function find(id: unknown): Promise<Task | undefined> {
    if (typeof id !== 'string' || !TASK_ID.test(id)) return undefined;
    const running = live.get(id);
    if (running !== undefined) return running.shown;
    const json = await store.get(PREFIX + id);
    return json && readTask(json, id);
  }

  /** The task, if the caller may see it. The task of another caller is reported as unknown, like one that does not exist. */
  async function own(call: Call): Promise<Task> {
    if (!supportsTasks(call.peer)) throw missing();
    const { taskId } = call.params;
    if (typeof taskId !== 'string') throw new McpError('invalid_params', 'params.taskId must be a string');
    await resume();
    const task = await find(taskId);
    if (task === undefined || task.principal !== principalOf(call)) {
      throw new McpError('invalid_params', `Unknown task: ${shorten(taskId, 64)}`);
    }
    return task;
  }

  /** The task where it runs; undefined if it has ended. */
  function running(task: Task): LiveTask | undefined {
    if (isTerminal(task.status)) return undefined;
    const found = live.get(task.id);
    if (found !== undefined) return found;
    throw new McpError(
      'internal_error',
      `The task ${task.id} does not run in this process. Answer or cancel it in the process that runs it.`,
    );
  }

  async function get(call: Call): Promise<Outcome> {
    const details = detailed(await own(call));
    return complete(details, details['_meta'] as JsonObject | undefined);
  }

  async function update(call: Call): Promise<Outcome> {
    const task = await own(call);
    const { inputResponses } = call.params;
    if (!isObject(inputResponses))
      throw new McpError('invalid_params', 'params.inputResponses must be an object');
    const found = running(task);
    if (found !== undefined) {
      quota.check(task.principal, { newTask: false });
      await found.answer(inputResponses);
    }
    return complete({});
  }

  async function cancel(call: Call): Promise<Outcome> {
    await running(await own(call))?.cancel('The client cancelled it');
    return complete({});
  }

  /** A task of an earlier process; undefined if it has ended. */
  function admit(task: Task, json: JsonObject): LiveTask | undefined {
    const { id, principal } = task;
    const held = { bytes: JSON.stringify(json).length, expiresAt: Date.now() + remainingMs(task) };
    quota.hold(principal, id, { ...held, isFinished: isTerminal(task.status) });
    if (isTerminal(task.status)) return undefined;
    const resumed = new LiveTask(liveParts, task);
    watch(resumed);
    return resumed;
  }

  async function close(drainMs: number): Promise<void> {
    resumption.close();
    clearInterval(timer);
    const left = new AbortController();
    const late = delay(drainMs, { signal: left.signal }).catch(() => undefined);
    await Promise.all([...live.values()].map((task) => task.leave(late)));
    left.abort();
    live.clear();
  }

  return {
    methods: new Map([
      ['tasks/get', get],
      ['tasks/update', update],
      ['tasks/cancel', cancel],
    ]),
    serve,
    resume,
    async watchable(call, ids) {
      if (!supportsTasks(call.peer)) throw missing();
      const found = await Promise.all(ids.map(find));
      return ids.filter((_, at) => found[at]?.principal === principalOf(call));
    },
    async show(id) {
      const task = await find(id);
      return task && detailed(task);
    },
    close({ drainMs = DRAIN_MS } = {}) {
      closing ??= close(timerMs('drainMs', drainMs));
      return closing;
    },
  };
}

function missing(): McpError {
  return new McpError('missing_capability', `This call needs a client that declares the extension ${TASKS}`, {
    data: { requiredCapabilities: required },
  });
}
