// A task that runs in this process.

import { Lifetime } from '../../../async/lifetime.js';
import type { JsonObject } from '../../../jsonrpc/message.js';
import type { Call, Outcome } from '../../../protocol/call.js';
import { McpError, toMcpError } from '../../../protocol/errors.js';
import { newestRevision } from '../../../protocol/tables/revisions.js';
import { Replay } from '../../../server/asking/replay.js';
import type { Suspender } from '../../../server/asking/suspender.js';
import type { RunningCall, TaskWork } from '../../../server/handle/task-host.js';
import type { Logger } from '../../../server/state/log.js';
import type { LeaseKeeper } from '../../../state/lease-keeper.js';
import { leaseLost, shutdownError, Unsaveable } from '../stored/saving-errors.js';
import { type Ending, statusMessageOf, type TaskHead } from '../stored/task.js';
import { beginTask, taskCall } from './begin.js';
import type { HeldTask, SavedTaskParts } from './held-task.js';
import { SavedTask } from './saved-task.js';
import { TaskQuestions } from './task-questions.js';
import { taskSuspender } from './task-suspender.js';
import { TaskTransactions } from './task-transactions.js';

/** The parts of a `LiveTask` that all tasks share. */
export interface LiveTaskParts extends SavedTaskParts {
  readonly leases: LeaseKeeper;
  /** How long a handler waits for an answer before it is put aside. */
  readonly parkMs: number;
  /** Whether another handler may wait for an answer in this process. */
  readonly mayPark: () => boolean;
  /** Called when the task begins to wait for an answer, and when it continues. */
  readonly onParked: (live: LiveTask, isParked: boolean) => void;
  /** Called when the task was left for other processes, which may take it up at once. */
  readonly onHandedBack: (id: string) => void;
  /** Called when this process no longer works on the task. */
  readonly onOver: (live: LiveTask) => void;
}

/**
 * A task that runs in this process, under a lease. The handler gets a step's result or an answer only when that is in the store.
 * While the store is unavailable, the handler waits. When another process has the lease, the run is over and writes nothing more.
 */
export class LiveTask {
  readonly saved: SavedTask;
  readonly held: HeldTask;
  readonly #parts: LiveTaskParts;
  readonly #lifetime = new Lifetime();
  readonly #replay: Replay;
  readonly #questions: TaskQuestions;
  readonly #transactions: TaskTransactions;
  readonly #suspender: Suspender;
  /**
   * `ended`: the handler has ended, and that is being saved. `expiring`: the task is being removed. `leaving`: this process shuts
   * down. `over`: this process no longer works on the task.
   */
  #phase: 'running' | 'ended' | 'expiring' | 'leaving' | 'over' = 'running';
  #leaving: Promise<void> | undefined;
  #onProgress: (() => void) | undefined;

  /** With `replay`, the task is for a handler that already runs as an ordinary call. */
  constructor(parts: LiveTaskParts, held: HeldTask, replay?: Replay) {
    this.#parts = parts;
    this.held = held;
    this.#suspender = taskSuspender(() => ({
      saved: this.saved,
      questions: this.#questions,
      transactions: this.#transactions,
      leases: parts.leases,
      lease: held.lease,
      lose: () => this.lose(),
      onProgress: () => this.#onProgress?.(),
    }));
    this.#replay = replay ?? new Replay(held.journal.journal, { suspender: this.#suspender });
    this.saved = new SavedTask(parts, held, {
      takeNews: () => this.#replay.takeNews(),
      onLost: () => this.lose(),
    });
    const { store, leases, log } = parts;
    this.#transactions = new TaskTransactions({
      ...{ store, saved: this.saved, lease: held.lease, lifetime: this.#lifetime, log },
      leaseMs: leases.leaseMs,
    });
    this.#questions = new TaskQuestions({
      store: parts.store,
      saved: this.saved,
      replay: this.#replay,
      rounds: held.journal.rounds,
      mayPark: () => parts.parkMs > 0 && parts.mayPark(),
      parkMs: parts.parkMs,
      isOver: () => this.#phase !== 'running',
      onParked: (isParked) => parts.onParked(this, isParked),
      onReleased: () => this.#suspend(),
      onUnsaveable: (error) =>
        this.#replay.end(new McpError('internal_error', `The question cannot be saved. ${error.message}`)),
      log: parts.log,
    });
  }

  get id(): string {
    return this.held.place.id;
  }

  get isOver(): boolean {
    return this.#phase === 'over';
  }

  /** The task as clients see it. */
  get visible(): TaskHead {
    return this.saved.visible;
  }

  get isExpired(): boolean {
    return this.saved.remainingMs <= 0;
  }

  /**
   * Runs the handler from its first line; steps in the journal return at once. Resolves when the task has made progress, waits
   * for an answer, or has ended here. If `load` rejects with an `McpError`, or the handler does not reach what an earlier run has
   * reached, `onMisfit` is called: this process cannot run the task.
   */
  start(load: () => TaskWork | Promise<TaskWork>, onMisfit?: (error: McpError) => void): Promise<void> {
    return new Promise((resolve) => {
      this.#onProgress = resolve;
      beginTask({
        call: this.#call(),
        replay: this.#replay,
        load,
        lifetime: this.#lifetime,
        onFailure: (error) => this.#onStartFailure(error),
        onMisfit: (error) => (onMisfit === undefined ? this.fail(error) : onMisfit(error)),
      }).then(
        (started) => started && this.#follow(started.outcome, onMisfit),
        (error) => this.fail(error),
      );
    });
  }

  /** Takes over a handler that has been running as an ordinary call. */
  adopt({ ctx, outcome }: RunningCall): void {
    ctx.continueAs(this.#call());
    this.#replay.suspendWith(this.#suspender);
    // Steps may have finished while the task was being saved in `ctx.background()`.
    this.saved.save().catch((error) => this.#onUnsaved(error));
    this.#follow(outcome);
  }

  #call(): Call {
    return taskCall(this.held, this.#lifetime, (report) => this.#report(report));
  }

  // The status message tells the client why the task makes no progress.
  #onStartFailure(error: unknown): void {
    const { tool } = this.held.journal.call;
    this.#parts.log('warning', `Task ${this.id} (${tool}) cannot run yet. The server retries.`, error);
    this.saved.change({ statusMessage: 'Waiting until the server can run the task' });
    this.saved.saveSoon();
  }

  // Spec, Tasks: progress notifications are not sent for tasks. Their status message has the progress.
  #report(report: JsonObject): void {
    if (this.#phase !== 'running') return;
    this.saved.change({ progress: report, statusMessage: statusMessageOf(report) });
    this.saved.saveSoon();
  }

  #onUnsaved(error: unknown): void {
    if (error instanceof Unsaveable)
      this.#replay.end(new McpError('internal_error', `The task cannot be saved. ${error.message}`));
  }

  #follow(outcome: Promise<Outcome>, onMisfit?: (error: McpError) => void): void {
    outcome.then(
      ({ resultType, ...result }) => this.#finish({ status: 'completed', result: { resultType, ...result } }),
      (error) => {
        const isMisfit = this.#phase === 'running' && this.#replay.hasDiverged && McpError.is(error);
        if (isMisfit && onMisfit !== undefined) onMisfit(error);
        else this.fail(error);
      },
    );
  }

  /** Ends the task with an error. */
  fail(error: unknown): void {
    // The error of a handler that was stopped is ignored.
    if (this.#phase !== 'running') return;
    this.#finish(failedWith(error, this.#ending));
  }

  // Until the end is saved, clients see the task as it was before, and the task stays in this process.
  #finish(ending: Ending): void {
    if (this.#phase !== 'running') return;
    this.#phase = 'ended';
    const reason = new McpError('cancelled', 'The task has ended');
    this.#questions.close();
    this.#replay.end(reason);
    this.#transactions.close(reason);
    void saveEnding(ending, this.#ending).then((isSaved) => {
      if (!isSaved) return;
      this.#over();
      this.#parts.onChange(this.id);
    });
  }

  get #ending(): EndingTask {
    return { saved: this.saved, tool: this.held.journal.call.tool, log: this.#parts.log };
  }

  /** Whether there may be answers that the handler waits for. */
  get mayHaveAnswers(): boolean {
    return this.#questions.mayHaveAnswers;
  }

  /** Looks for answers, and for a change of the task that this process has not made. */
  look(): void {
    this.#questions.look();
  }

  /** Ends the run, because another process may have the task. Nothing more is written. */
  lose(): void {
    if (this.isOver) return;
    this.#parts.log(
      'info',
      `Task ${this.id} is no longer held by this process. Another one may continue it.`,
    );
    this.stop(leaseLost());
    // The last write may have been made and only its reply lost, so that nobody has announced it.
    this.#parts.onChange(this.id);
  }

  /** Ends the run: the task was cancelled, or another process has it. */
  stop(reason: McpError): void {
    if (this.isOver) return;
    this.#replay.end(reason);
    this.#over();
    this.#lifetime.end(reason);
  }

  // The task belongs to nobody until it is answered, and then runs again from its first line.
  #suspend(): void {
    this.#replay.end();
    this.#over();
    this.#lifetime.end(
      new McpError('cancelled', 'The task waits for an answer, and runs again when it has one'),
    );
  }

  /** Ends an expired task and removes it. */
  async expire(): Promise<void> {
    if (this.#phase !== 'running' && this.#phase !== 'ended') return;
    this.#phase = 'expiring';
    const reason = new McpError('cancelled', 'The task has expired');
    this.#questions.close();
    this.#replay.end(reason);
    this.#lifetime.end(reason);
    await this.saved.remove().catch(() => undefined);
    this.#over();
    this.#parts.onChange(this.id);
  }

  /** Gives the task back, as if it had not run. The next process may claim it after `inMs`. */
  async handBack(inMs: number, fields: Partial<TaskHead>): Promise<void> {
    this.#phase = 'leaving';
    this.#questions.close();
    // A run of other code need not reach the questions that this one would have asked.
    this.#replay.takeNews();
    this.saved.change(fields);
    await this.saved.handBack(inMs).catch(() => undefined);
    this.stop(new McpError('cancelled', 'The task is left for later'));
  }

  /**
   * Leaves the task for another process, because this process ends. No further step starts. Until `deadline` resolves, running
   * steps may finish and are saved.
   */
  leave(deadline: Promise<void>): Promise<void> {
    this.#leaving ??= this.#leave(deadline);
    return this.#leaving;
  }

  async #leave(deadline: Promise<void>): Promise<void> {
    if (this.isOver) return;
    const isRunning = this.#phase === 'running';
    if (isRunning) this.#phase = 'leaving';
    const reason = shutdownError();
    const isParked = this.#questions.isParked;
    this.#questions.close();
    this.#replay.end(reason);
    await Promise.race([this.#replay.idle(), deadline]);
    this.#lifetime.end(reason);
    const leaving = isRunning ? this.#release(isParked) : this.saved.save();
    await Promise.race([leaving.catch(() => undefined), deadline]);
    await Promise.race([this.saved.close(), deadline]);
    this.#over();
  }

  // An attempt that ends with a shutdown does not count, and another process continues at once.
  async #release(isParked: boolean): Promise<void> {
    if (isParked && (await this.saved.putAside(() => !this.saved.isAnswered)) === 'made') return;
    if ((await this.saved.handBack(0)) === 'made') this.#parts.onHandedBack(this.id);
  }

  #over(): void {
    if (this.isOver) return;
    this.#phase = 'over';
    this.#questions.close();
    this.#parts.leases.drop(this.held.lease);
    void this.saved.close();
    this.#onProgress?.();
    this.#parts.onOver(this);
  }
}

interface EndingTask {
  readonly saved: SavedTask;
  readonly tool: string;
  readonly log: Logger;
}

/** The end of a task whose handler threw an error. An error that the client must not see is logged instead. */
function failedWith(error: unknown, { saved, tool, log }: EndingTask): Ending {
  const reported = toMcpError(error);
  if (reported !== error) log('error', `Task ${saved.place.id} (${tool}) failed`, error);
  return { status: 'failed', error: reported.toWire(newestRevision) };
}

/** Saves the end of a task. If its result can never be saved, the task fails. Returns whether the end was saved. */
async function saveEnding(ending: Ending, { saved, tool, log }: EndingTask): Promise<boolean> {
  try {
    return (await saved.end(ending)) === 'made';
  } catch (reason) {
    log('error', `The result of task ${saved.place.id} (${tool}) cannot be saved`, reason);
    const why = reason instanceof Error ? reason.message : '';
    const error = new McpError('internal_error', `The result cannot be saved. ${why}`);
    const failed: Ending = { status: 'failed', error: error.toWire(newestRevision) };
    const end = await saved.end(failed, Number.POSITIVE_INFINITY).catch(() => undefined);
    return end === 'made';
  }
}
