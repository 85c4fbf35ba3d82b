// Creates tasks.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { McpError } from '../../protocol/errors.js';
import { isTerminal } from '../../protocol/tasks.js';
import { type Journal, newJournal } from '../../server/asking/journal.js';
import type { RunningCall, TaskWork } from '../../server/handle/task-host.js';
import type { Logger } from '../../server/state/log.js';
import type { Count, Store, StoreChange, Written } from '../../state/store.js';
import { bytesOfJson, bytesOfTask, removeTask } from './stored/endings.js';
import { Inbox } from './stored/inbox.js';
import { firstItem, type TaskCall, taskCallOf } from './stored/journal-items.js';
import { isCounted, type TaskPlace } from './stored/keys.js';
import { savingError, unknownOutcome } from './stored/saving-errors.js';
import { GRACE_MS, readHead, type TaskHead, toSummary } from './stored/task.js';
import type { TaskLimits, TaskWorker } from './worker.js';

// Each conflict means that another process has changed the task meanwhile.
const MAX_CONFLICTS = 100;

/** The parts of a `TaskCreation`. */
export interface TaskCreationParts {
  readonly store: Store;
  readonly limits: TaskLimits;
  /** The name and the version of the server. */
  readonly origin: { readonly server: string; readonly release: string };
  readonly log: Logger;
  readonly onCreated: (id: string) => void;
}

/** The beginning of a task that was an ordinary call: a handler that runs, or the journal of one that has ended with a question. */
export interface TaskBeginning {
  readonly running?: RunningCall;
  readonly journal?: Journal;
}

/** A task that is being created. */
interface NewTask {
  readonly place: TaskPlace;
  readonly head: TaskHead;
  readonly call: TaskCall;
  readonly journal: ReturnType<typeof newJournal>;
  readonly item: JsonObject;
  readonly itemBytes: number;
}

/** Creates tasks. If this process has room for a task, it runs it; otherwise the first process with room does. */
export class TaskCreation {
  readonly #worker: TaskWorker;
  readonly #parts: TaskCreationParts;

  constructor(worker: TaskWorker, parts: TaskCreationParts) {
    this.#worker = worker;
    this.#parts = parts;
  }

  /** Creates a task for a call, or for a handler that already runs. Returns the task as the client sees it. */
  create(call: Call, work: TaskWork, beginning: TaskBeginning = {}): Promise<JsonObject> {
    return this.#worker.create(() => this.#create(call, work, beginning));
  }

  async #create(call: Call, work: TaskWork, beginning: TaskBeginning): Promise<JsonObject> {
    const { running } = beginning;
    this.#worker.checkOpen();
    const task = await this.#prepare(call, work, beginning);
    const mustHold = running !== undefined || this.#worker.hasRoom;
    const requestedAt = performance.now();
    const mayExist = call.standIn !== undefined && running === undefined;
    const written = await this.#save(task, { mustHold, isRunning: running !== undefined, mayExist });
    const { place, head } = task;
    // The same call, in another process, has created the task.
    if (written === 'exists') return toSummary(head);
    this.#worker.quota.noteAdded();
    this.#parts.onCreated(place.id);
    if (written.lease === undefined) {
      this.#worker.onEnqueued(place.id);
      return toSummary(head);
    }
    const journal = { ...task, rounds: new Map(), size: 1, bytes: task.itemBytes };
    const held = { place, lease: written.lease, head, journal, inbox: new Inbox(), remainingMs: head.ttlMs };
    const live = this.#worker.hold(held, { requestedAt, ...(running && { replay: running.replay }) });
    if (running !== undefined) live.adopt(running);
    else void live.start(() => work);
    this.#worker.leaveIfClosing(live);
    return toSummary(head);
  }

  async #prepare(call: Call, work: TaskWork, { running, journal: earlier }: TaskBeginning): Promise<NewTask> {
    const { limits, origin } = this.#parts;
    const { options } = work;
    const now = Date.now();
    const id = call.standIn?.taskId ?? crypto.randomUUID();
    const place = await this.#worker.keys.placeOf(principalOf(call), id);
    const taskCall = taskCallOf(call, work);
    // From here on, the task writes what its handler adds to the journal.
    const journal = running?.replay.journal(running.ctx.sent) ?? earlier ?? newJournal(work.runId);
    const item = firstItem(taskCall, journal);
    running?.replay.takeNews();
    const head: TaskHead = {
      id,
      tool: work.name,
      ...origin,
      ...(work.version !== undefined && { version: work.version }),
      createdAt: now,
      updatedAt: now,
      ttlMs: options?.ttlMs ?? limits.ttlMs,
      pollIntervalMs: options?.pollIntervalMs ?? limits.pollIntervalMs,
      status: 'working',
      open: [],
      bytes: 0,
    };
    try {
      const itemBytes = bytesOfJson(item);
      const bytes = isCounted(place) ? bytesOfTask(head, itemBytes, limits.maxTaskBytes) : 0;
      bytesOfTask(head, itemBytes, limits.maxTaskBytes);
      return { place, head: { ...head, bytes }, call: taskCall, journal, item, itemBytes };
    } catch (error) {
      throw savingError('The task could not be saved', error);
    }
  }

  // Spec, Tasks: the response is sent only when the task can be found.
  async #save(
    task: NewTask,
    { mustHold, isRunning, mayExist }: Record<'mustHold' | 'isRunning' | 'mayExist', boolean>,
  ): Promise<(Written & { readonly ok: true }) | 'exists'> {
    const { log, store } = this.#parts;
    const { quota } = this.#worker;
    const { place } = task;
    let isSent = false;
    try {
      await quota.checkSize();
      for (let hasSwept = false; ; hasSwept = true) {
        const changes = this.#changes(task, mustHold);
        isSent = true;
        const written = await store.write(changes);
        if (written.ok) return written;
        if (mayExist && written.refusedBy === 0) return 'exists';
        const refused = written.refusedBy === 'guard' ? undefined : changes[written.refusedBy];
        const refusal = await quota.refusal(place, refused as Count | undefined);
        if (refusal === undefined || hasSwept) throw refusal ?? new Error('The id of the new task is taken');
        // Finished tasks that have expired may still be counted.
        await this.#worker.sweep();
      }
    } catch (error) {
      if (!McpError.is(error)) {
        log('error', `Task ${place.id} could not be saved`, error);
        // A handler that already runs cannot continue in another process without its answers and steps.
        if (isSent && isRunning) await this.#abandon(place);
        else if (isSent && (await this.#isSaved(place, error))) return { ok: true };
      }
      throw savingError('The task could not be saved', error);
    }
  }

  // A write that failed may still have been made. Then the task runs as soon as the lease ends that nobody knows.
  async #isSaved({ id, head }: TaskPlace, cause: unknown): Promise<boolean> {
    try {
      return (await this.#parts.store.get(head)) !== undefined;
    } catch (error) {
      this.#parts.log('error', `It is unknown whether task ${id} was saved`, error);
      throw unknownOutcome(
        'It is unknown whether the task was created, because the store failed. If it was, it runs when the store works again.',
        cause,
      );
    }
  }

  #changes({ place, head, item }: NewTask, mustHold: boolean): StoreChange[] {
    const ttlMs = head.ttlMs + GRACE_MS;
    const { keys, quota, owner } = this.#worker;
    const { leaseMs } = this.#parts.limits;
    return [
      { do: 'put', key: place.head, value: { ...head }, if: 'absent', ttlMs },
      { do: 'append', list: place.journal, name: '0', value: item, ttlMs },
      ...quota.added(place, head.bytes),
      {
        ...{ do: 'enqueue', queue: keys.queue, key: place.work },
        ...(mustHold && { hold: { owner, ms: leaseMs } }),
      },
    ];
  }

  // A write that failed may still have been made. The client learns that there is no task, so no process must find one.
  async #abandon(place: TaskPlace): Promise<void> {
    const { store, log } = this.#parts;
    try {
      for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
        const entry = await store.get(place.head);
        if (entry === undefined) return;
        const { head, version } = readHead(entry, place.id);
        // Another process may have taken the task up, and changed it or even ended it.
        if (isTerminal(head.status)) return;
        const changes = removeTask(this.#worker.keys, place, head).map((change) =>
          change.do === 'delete' ? { ...change, if: { version } } : change,
        );
        if ((await store.write(changes)).ok) return;
      }
    } catch (error) {
      log('error', `Task ${place.id} was rejected, but could not be removed from the store`, error);
    }
  }
}
