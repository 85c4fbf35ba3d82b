import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { TASKS } from '../../protocol/extensions.js';
import { idle } from '../../protocol/idle-timer.js';
import type { RunningCall, TaskHost, TaskPluginParts, TaskWork } from '../../server/task-host.js';
import { LiveTask, type LiveTaskParts } from './live-task.js';
import { detailed, expiresAt, isTerminal, readTask, summary, type Task } from './task.js';

const PREFIX = 'task:';
const required = { extensions: { [TASKS]: {} } };

/** The extension `io.modelcontextprotocol/tasks`. */
export function taskHost(parts: TaskPluginParts): TaskHost {
  const { store, complete, publish, log, limits } = parts;
  const { ttlMs = 3_600_000, pollIntervalMs = 1000, maxTasks = 10_000 } = limits;
  const live = new Map<string, LiveTask>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let resuming: Promise<void> | undefined;

  async function serve(call: Call, work: TaskWork): Promise<Outcome> {
    const resumed = resume();
    if (!knowsTasks(call)) {
      if (work.options.support === 'required') throw missing();
      return work.inline();
    }
    // A task that begins while the old ones are taken up might be taken for one of them.
    await resumed;
    if (work.options.begin !== 'when told') return create(call, work);
    return work.inline((running) => create(call, work, running));
  }

  async function create(call: Call, work: TaskWork, running?: RunningCall): Promise<Outcome> {
    if (live.size >= maxTasks) throw new McpError('overloaded', 'Too many tasks are open: try again later');
    const { options } = work;
    const now = Date.now();
    const task = LiveTask.create(partsOf(), {
      principal: principalOf(call),
      tool: work.name,
      args: work.args,
      peer: call.peer,
      createdAt: now,
      ttlMs: options.ttlMs ?? ttlMs,
      pollIntervalMs: options.pollIntervalMs ?? pollIntervalMs,
    });
    const made = summary(task.task);
    watch(task);
    if (running !== undefined) task.adopt(running);
    // Spec: not before the task can be found. Nor does it begin before: a crash must not leave effects of no task.
    if (!(await task.save())) {
      await task.leave();
      forget(task.task.id);
      throw new McpError('overloaded', 'The task could not be saved: try again later');
    }
    if (running === undefined) task.start(work.run);
    return complete({ resultType: 'task', ...made });
  }

  function partsOf(): LiveTaskParts {
    return {
      save: (key, json, until) => store.set(PREFIX + key, json, until),
      changed: (id) => publish({ kind: 'task', id }),
      ended: forget,
      log,
    };
  }

  function forget(id: string): void {
    live.delete(id);
    if (live.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function watch(task: LiveTask): void {
    live.set(task.task.id, task);
    timer ??= setInterval(() => {
      const now = Date.now();
      for (const { task: kept } of [...live.values()])
        if (expiresAt(kept) <= now) void live.get(kept.id)?.cancel('It has expired');
    }, 1000);
    idle(timer);
  }

  async function find(id: unknown): Promise<Task | undefined> {
    if (typeof id !== 'string') return undefined;
    const known = live.get(id);
    // What a client has seen, a crash must not take back.
    await known?.saved();
    if (known !== undefined) return known.task;
    const json = await store.get(PREFIX + id);
    return json && readTask(json);
  }

  /** The task, if the caller may see it. A task of somebody else's is as unknown as one that never was. */
  async function own(call: Call): Promise<Task> {
    if (!knowsTasks(call)) throw missing();
    await resume();
    const task = await find(call.params['taskId']);
    if (task === undefined || task.principal !== principalOf(call)) {
      throw new McpError('invalid_params', `Unknown task: ${String(call.params['taskId']).slice(0, 64)}`);
    }
    return task;
  }

  async function get(call: Call): Promise<Outcome> {
    const shown = detailed(await own(call));
    return complete(shown, shown['_meta'] as JsonObject | undefined);
  }

  async function update(call: Call): Promise<Outcome> {
    const { id } = await own(call);
    const { inputResponses } = call.params;
    if (!isObject(inputResponses))
      throw new McpError('invalid_params', 'params.inputResponses must be an object');
    if ((await live.get(id)?.answer(inputResponses)) === false)
      throw new McpError('internal_error', 'The answers could not be saved');
    return complete({});
  }

  async function cancel(call: Call): Promise<Outcome> {
    const { id } = await own(call);
    await live.get(id)?.cancel('The client cancelled it');
    return complete({});
  }

  function resume(): Promise<void> {
    resuming ??= takeUp().catch((error) => {
      resuming = undefined;
      log('error', 'Unfinished tasks could not be taken up', error);
    });
    return resuming;
  }

  async function takeUp(): Promise<void> {
    for await (const [, json] of store.entries(PREFIX)) {
      const task = readTask(json);
      if (isTerminal(task) || live.has(task.id)) continue;
      const resumed = LiveTask.resume(partsOf(), task);
      watch(resumed);
      parts.workOf(task).then(
        (work) => resumed.start(work.run),
        (error) => resumed.fail(error),
      );
    }
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
      if (!knowsTasks(call)) throw missing();
      const found = await Promise.all(ids.map(find));
      return ids.filter((_, at) => found[at]?.principal === principalOf(call));
    },
    async show(id) {
      const task = await find(id);
      return task && detailed(task);
    },
    async close() {
      clearInterval(timer);
      await Promise.all([...live.values()].map((task) => task.leave()));
      live.clear();
    },
  };
}

function knowsTasks({ peer }: Call): boolean {
  const { extensions } = peer.capabilities;
  return extensions !== undefined && Object.hasOwn(extensions, TASKS);
}

function missing(): McpError {
  return new McpError('missing_capability', `This call needs a client that declares the extension ${TASKS}`, {
    data: { requiredCapabilities: required },
  });
}

function principalOf({ auth }: Call): string {
  return auth?.subject ?? '';
}
