// The tasks extension: creates, finds, answers and cancels tasks.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { McpError } from '../../protocol/errors.js';
import { supportsTasks, TASKS } from '../../protocol/tasks.js';
import { missingCapability } from '../../server/asking/question.js';
import type { TaskHost, TaskPluginParts, TaskWork } from '../../server/handle/task-host.js';
import { TaskCreation } from './creation.js';
import { answerTask, cancelTask, readTask, saving } from './requests.js';
import type { TaskPlace } from './stored/keys.js';
import { isTaskId, type TaskHead, toDetails } from './stored/task.js';
import { UnknownTasks } from './unknown-tasks.js';
import { type TaskLimits, TaskWorker } from './worker.js';

const requiredCapabilities = { extensions: { [TASKS]: {} } };

/** A host with tasks. */
export interface LoadedTaskHost extends Omit<TaskHost, 'close'> {
  /** Leaves all tasks to other processes. Running steps may finish within `drainMs` and are saved. */
  readonly close: (drainMs: number) => Promise<void>;
}

/** Makes the host of the extension `io.modelcontextprotocol/tasks`. */
export function taskHost(parts: TaskPluginParts, limits: TaskLimits): LoadedTaskHost {
  const { store, complete, log, rules, server, release } = parts;
  const worker = new TaskWorker(parts, limits);
  const { keys, quota } = worker;
  const unknown = new UnknownTasks(parts);
  const creation = new TaskCreation(worker, {
    store,
    limits,
    origin: { server, release },
    log,
    onCreated: (id) => unknown.noteCreated(id),
  });

  async function serve(call: Call, work: TaskWork): Promise<Outcome> {
    const { options } = work;
    void worker.start();
    if (options === undefined || !supportsTasks(call.peer)) {
      if (options?.support === 'required') throw tasksNotSupported();
      return untilAsked(call, work, work.inline());
    }
    if (options.start === 'on-background') {
      const moved = work.inline(async (running) => created(await creation.create(call, work, { running })));
      return untilAsked(call, work, moved);
    }
    await work.prepare?.();
    return created(await creation.create(call, work));
  }

  /** Continues an ordinary call as a task if it asks, and its client cannot be asked. */
  async function untilAsked(call: Call, work: TaskWork, running: Promise<Outcome>): Promise<Outcome> {
    const outcome = await running;
    if (call.standIn?.asks !== true || outcome.resultType !== 'input_required') return outcome;
    const { inputRequests = {}, requestState } = outcome;
    const journal = await work.journalOf(requestState as string);
    // The raw form has no journal, and cannot be continued elsewhere.
    if (Object.keys(inputRequests as object).some((key) => !journal.keys.has(key)))
      throw missingCapability({ elicitation: {} });
    return created(await creation.create(call, work, { journal }));
  }

  function created(summary: JsonObject): Outcome {
    return complete({ resultType: 'task', ...summary });
  }

  /** Finds the place of the task that a call names. A task of another caller is elsewhere, and is not found. */
  async function placeOf(call: Call): Promise<TaskPlace> {
    if (!supportsTasks(call.peer)) throw tasksNotSupported();
    const { taskId } = call.params;
    if (typeof taskId !== 'string') throw new McpError('invalid_params', 'params.taskId must be a string');
    void worker.start();
    if (!isTaskId(taskId)) throw unknown.error(taskId);
    return keys.placeOf(principalOf(call), taskId);
  }

  /** Finds a task as clients see it. While the store is unavailable, a task that runs here is seen as it was last saved. */
  async function find(place: TaskPlace): Promise<TaskHead | undefined> {
    try {
      const task = await readTask(store, place);
      return task?.inbox.view(task.head);
    } catch (error) {
      const live = worker.live.get(place.id);
      if (live?.held.place.work === place.work) return live.visible;
      throw error;
    }
  }

  /** Finds a task for a caller that may still use its tool. For any other caller it is unknown. */
  async function findVisible(call: Call, place: TaskPlace): Promise<TaskHead> {
    const task = await saving('The task could not be read', () => find(place));
    if (task === undefined || !(await sees(call, task))) throw unknown.error(place.id);
    return task;
  }

  async function sees(call: Call, { tool = '' }: TaskHead): Promise<boolean> {
    return !rules.areGuarded() || rules.sees(call, tool);
  }

  async function get(call: Call): Promise<Outcome> {
    const place = await placeOf(call);
    const task = await findVisible(call, place);
    const details = toDetails(task);
    return complete(details, details['_meta'] as JsonObject | undefined);
  }

  async function update(call: Call): Promise<Outcome> {
    const place = await placeOf(call);
    const { inputResponses } = call.params;
    if (!isObject(inputResponses))
      throw new McpError('invalid_params', 'params.inputResponses must be an object');
    if (rules.areGuarded()) await findVisible(call, place);
    await saving('The answers could not be saved, and the questions are open again', async () => {
      await quota.checkBytes(place);
      const end = await answerTask(
        { store, keys, maxAnswerBytes: limits.maxAnswerBytes },
        place,
        inputResponses,
      );
      if (end === 'unknown') throw unknown.error(place.id);
      if (end === 'changed') worker.onAnswer(place.id);
    });
    return complete({});
  }

  async function cancel(call: Call): Promise<Outcome> {
    const place = await placeOf(call);
    if (rules.areGuarded()) await findVisible(call, place);
    await saving('The cancellation could not be saved, and the task continues', async () => {
      const reason = 'The client cancelled the task';
      const end = await cancelTask({ store, keys }, place, reason).catch((error: unknown) => {
        worker.onDoubt(place.id);
        throw error;
      });
      if (end === 'unknown') throw unknown.error(place.id);
      if (end === 'changed') worker.onCancel(place.id, reason);
    });
    return complete({});
  }

  /** Finds a task that a caller watches; undefined also if the caller may not use its tool any more, or lacks scopes. */
  async function findFor(call: Call, id: string): Promise<TaskHead | undefined> {
    const task = isTaskId(id) ? await find(await keys.placeOf(principalOf(call), id)) : undefined;
    return task !== undefined && (await sees(call, task).catch(() => false)) ? task : undefined;
  }

  return {
    methods: new Map([
      ['tasks/get', get],
      ['tasks/update', update],
      ['tasks/cancel', cancel],
    ]),
    serve,
    resume: () => worker.start(),
    async filterWatchable(call, ids) {
      if (!supportsTasks(call.peer)) throw tasksNotSupported();
      void worker.start();
      const tasks = await saving('The tasks could not be read', () =>
        Promise.all(ids.map((id) => findFor(call, id))),
      );
      return ids.filter((_, index) => tasks[index] !== undefined);
    },
    async details(call, id) {
      // The process that worked on the task may be gone, and this one may have started nothing yet, as on stdio.
      void worker.start();
      const task = await findFor(call, id);
      return task && toDetails(task);
    },
    close: (drainMs) => worker.close(drainMs),
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
