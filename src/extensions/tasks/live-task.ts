import { Lifetime } from '../../async/lifetime.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError, toMcpError } from '../../protocol/errors.js';
import { newestRevision } from '../../protocol/tables/revisions.js';
import type { Journal } from '../../server/asking/journal.js';
import { Replay, type Suspender } from '../../server/asking/replay.js';
import type { RunningCall, TaskWork } from '../../server/handle/task-host.js';
import { AnswerQueue } from './answers.js';
import { beginTask, taskCall } from './begin.js';
import { type Ending, SavedTask, type SavedTaskParts, toCancelled } from './saved-task.js';
import { shutdownError, Unsaveable } from './saving-errors.js';
import { requestsOf, statusMessageOf, type Task } from './task.js';

/** The parts of a `LiveTask` that all tasks share. */
export interface LiveTaskParts extends SavedTaskParts {
  readonly remove: (task: Task) => Promise<void>;
  /** Called when the end of a task is saved. */
  readonly onEnd: (id: string) => void;
  /** The limit for all answers to a task together. */
  readonly maxAnswerBytes: number;
}

/**
 * A task that runs in this process. The handler gets a step's result or an answer only when that is in the store. While the store
 * is unavailable, the handler waits.
 */
export class LiveTask {
  readonly #parts: LiveTaskParts;
  readonly #saved: SavedTask;
  readonly #lifetime = new Lifetime();
  readonly #replay: Replay;
  /** Whether the run has ended, saved or not. */
  #hasEnded = false;
  /** Whether the task is left for the next process. */
  #hasLeft = false;
  /** Whether `task.attempts` includes the attempt of this process. */
  #isCounted = false;
  /** Whether the handler is running, so that each of its finished steps is saved. */
  #isFollowed = false;
  /** The number of finished steps when the task was first saved. */
  #firstSteps = 0;
  #answers: AnswerQueue | undefined;
  /** Called when the task makes progress, waits for an answer, or has ended. */
  #onProgress: (() => void) | undefined;

  /** With `replay`, the task is for a handler that already runs as an ordinary call. */
  constructor(parts: LiveTaskParts, task: Task, replay?: Replay) {
    this.#parts = parts;
    this.#replay = replay ?? new Replay(task.journal, { suspender: this.#suspender });
    this.#saved = new SavedTask(parts, task, {
      journal: () => this.#journal(),
      onEnd: (task) => this.#onEnd(task),
    });
  }

  /** The task as it is now. */
  get task(): Task {
    return this.#saved.task;
  }

  /** The task as it was last saved. */
  get visible(): Task {
    return this.#saved.visible;
  }

  get isExpired(): boolean {
    return this.#saved.isExpired;
  }

  /** Saves a new task. Its handler starts only after that, so that a crash cannot leave effects without a task. */
  save(): Promise<void> {
    this.#isCounted = true;
    this.#firstSteps = this.#journal().steps.size;
    return this.#saved.trySave();
  }

  /** Removes a new task that could not be saved. Its handler has not started. */
  async abandon(): Promise<void> {
    this.#hasEnded = true;
    await this.#saved.close(new McpError('cancelled', 'The task could not be saved'));
    await this.#parts.remove(this.task);
  }

  /** Saves the task soon, because the clock that determines its expiry was set. */
  touch(): void {
    this.#saved.saveSoon();
  }

  /** Records in the store that this process is about to run the task. */
  async countAttempt(): Promise<void> {
    this.#isCounted = true;
    this.task.attempts++;
    await this.#saved.save();
  }

  /**
   * Runs the handler from its first line; steps in the journal return at once. Resolves when the task has made progress, waits
   * for an answer, or has ended.
   */
  start(load: () => TaskWork | Promise<TaskWork>): Promise<void> {
    return new Promise((resolve) => {
      this.#onProgress = resolve;
      beginTask({
        call: this.#call(),
        replay: this.#replay,
        load,
        lifetime: this.#lifetime,
        onFailure: (error) => this.#onStartFailure(error),
      }).then(
        (started) => started && this.#follow(started.outcome),
        (error) => this.fail(error),
      );
    });
  }

  /** Takes over a handler that has been running as an ordinary call. */
  adopt({ ctx, outcome }: RunningCall): void {
    ctx.continueAs(this.#call());
    this.#replay.suspendWith(this.#suspender);
    // Steps may have finished while the task was being saved in `ctx.background()`.
    if (this.#journal().steps.size > this.#firstSteps) this.#saved.save().catch(ignore);
    this.#follow(outcome);
  }

  #call(): Call {
    return taskCall(this.task, this.#lifetime, (report) => this.#report(report));
  }

  #journal(): Journal {
    const { logCount, lastProgress } = this.task.journal;
    return this.#replay.journal({ logCount, lastProgress });
  }

  // The status message tells the client why the task makes no progress.
  #onStartFailure(error: unknown): void {
    const { id, tool } = this.task;
    this.#parts.log('warning', `Task ${id} (${tool}) cannot run yet. The server retries.`, error);
    this.#saved.change({ statusMessage: 'Waiting until the server can run the task' });
    this.#saved.saveSoon();
  }

  // Spec, Tasks: progress notifications are not sent for tasks. Their status message has the progress.
  #report(report: JsonObject): void {
    if (this.#hasLeft || this.#hasEnded) return;
    this.#saved.change({ progress: report, statusMessage: statusMessageOf(report) });
    this.#saved.saveSoon();
  }

  readonly #suspender: Suspender = {
    onIdle: (open) => {
      if (this.#hasLeft || this.#hasEnded) return;
      // A task that only waits cannot be the one that crashes this process, so its attempts are counted anew.
      this.#saved.change({ open: requestsOf(open), status: 'input_required', attempts: 0 });
      this.#onProgress?.();
      this.#saved.save().catch((error) => this.#onQuestionUnsaved(error));
    },
    onStep: async () => {
      this.task.attempts = Math.min(this.task.attempts, 1);
      await this.#saved.save();
      this.#onProgress?.();
    },
  };

  // A question that can never be saved is never shown to the client, so it can never be answered.
  #onQuestionUnsaved(error: unknown): void {
    if (!(error instanceof Unsaveable)) return;
    this.#replay.end(new McpError('internal_error', `The question cannot be saved. ${error.message}`));
    this.#saved.change({ open: {}, status: 'working' });
  }

  #follow(outcome: Promise<Outcome>): void {
    this.#isFollowed = true;
    outcome.then(
      ({ resultType, ...result }) => this.#finish({ status: 'completed', result: { resultType, ...result } }),
      (error) => this.fail(error),
    );
  }

  /** Ends the task with an error. */
  fail(error: unknown): void {
    // The error of a handler that was stopped is ignored.
    if (this.#hasLeft || this.#hasEnded) return;
    const reported = toMcpError(error);
    if (reported !== error)
      this.#parts.log('error', `Task ${this.task.id} (${this.task.tool}) failed`, error);
    this.#finish({ status: 'failed', error: reported.toWire(newestRevision) });
  }

  /** Fails a task that cannot be saved completely: its journal is dropped. */
  failWithoutJournal(error: McpError): void {
    this.#saved.withoutJournal = true;
    this.fail(error);
  }

  // Until the end is saved, clients see the task as it was before, and the task stays in this process.
  #finish(ending: Ending): void {
    if (this.#hasLeft || this.#hasEnded) return;
    this.#hasEnded = true;
    this.#saved.finish(ending);
  }

  /** Passes answers to their questions. Rejects if the answers could not be saved; then the questions are open again. */
  answer(responses: JsonObject): Promise<void> {
    this.#answers ??= new AnswerQueue({
      saved: this.#saved,
      replay: this.#replay,
      journal: () => this.#journal(),
      hasEnded: () => this.#hasEnded,
      ensureHere: () => this.#ensureHere(),
      maxBytes: this.#parts.maxAnswerBytes,
    });
    return this.#answers.give(responses);
  }

  /** Ends the task as cancelled. Rejects if that could not be saved; then the task continues. */
  async cancel(reason: string): Promise<void> {
    this.#ensureHere();
    await this.#saved.cancel(reason, () => this.#hasEnded);
  }

  /** Ends an expired task and removes it. Rejects if the store could not remove it. */
  async expire(): Promise<void> {
    if (this.#hasLeft) return;
    this.#hasEnded = true;
    const reason = new McpError('cancelled', 'The task has expired');
    this.#replay.end(reason);
    this.#lifetime.end(reason);
    await this.#saved.close(reason);
    await this.#parts.remove(this.task);
    this.#saved.end(toCancelled(this.task, reason.message));
  }

  /**
   * Leaves the task for the next process, because this process ends. No further step starts. Until `deadline` resolves, running
   * steps may finish and are saved.
   */
  async leave(deadline: Promise<void>): Promise<void> {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    const reason = shutdownError();
    this.#replay.end(reason);
    // An attempt that ends with a shutdown does not count. That is saved at once, because a step may use up all the time.
    const isCounted = this.#isCounted && this.task.attempts > 0;
    if (isCounted) this.task.attempts--;
    const countSaved = isCounted ? this.#saved.trySave().catch(ignore) : undefined;
    await Promise.race([this.#replay.idle(), deadline]);
    this.#lifetime.end(reason);
    await Promise.race([countSaved, deadline]);
    if (this.#hasEnded || (this.#isCounted && !this.#isFollowed))
      await Promise.race([this.#saved.trySave().catch(ignore), deadline]);
    await Promise.race([this.#saved.close(reason), deadline]);
    this.#onProgress?.();
  }

  #onEnd({ id, status, statusMessage }: Task): void {
    this.#hasEnded = true;
    const reason = new McpError('cancelled', statusMessage ?? 'The task has ended');
    if (status === 'cancelled') this.#lifetime.end(reason);
    this.#replay.end(reason);
    void this.#saved.close(reason);
    this.#onProgress?.();
    this.#parts.onChange(id);
    this.#parts.onEnd(id);
  }

  #ensureHere(): void {
    if (this.#hasLeft) throw shutdownError();
  }
}

function ignore(): void {
  // The writer has already reported the failure.
}
