// A task that runs in this process.

import { Lifetime } from '../../async/lifetime.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError, toMcpError } from '../../protocol/errors.js';
import { newestRevision } from '../../protocol/tables/revisions.js';
import { isTerminal } from '../../protocol/tasks.js';
import type { Journal } from '../../server/asking/journal.js';
import { Replay, type Suspender } from '../../server/asking/replay.js';
import type { RunningCall, TaskWork } from '../../server/handle/task-host.js';
import { AnswerQueue } from './answers.js';
import { beginTask, taskCall } from './begin.js';
import { cancelled, SavedTask, type SavedTaskParts } from './saved-task.js';
import { shuttingDown, Unsaveable, unsaved } from './saving-errors.js';
import { requestsOf, statusMessageOf, type Task } from './task.js';

export interface LiveTaskParts extends SavedTaskParts {
  readonly remove: (task: Task) => Promise<void>;
  readonly ended: (id: string) => void;
  /** The limit for all answers to a task together. */
  readonly maxAnswerBytes: number;
}

type Ending = Pick<Task, 'status'> & Partial<Pick<Task, 'result' | 'error'>>;

/**
 * A task that runs in this process. The handler continues with a step's result or an answer only when it is in the store. While
 * the store is unavailable, the handler waits.
 */
export class LiveTask {
  readonly #parts: LiveTaskParts;
  readonly #saved: SavedTask;
  readonly #lifetime = new Lifetime();
  readonly #replay: Replay;
  /** Whether the run has ended, saved or not. */
  #ended = false;
  #left = false;
  /** Whether `attempts` includes one of this process. */
  #isCounted = false;
  /** Whether the end of the run is followed, so that each finished step is saved on its own. */
  #isFollowed = false;
  /** The number of finished steps when the task was first saved. */
  #firstSteps = 0;
  #answers: AnswerQueue | undefined;
  #onProgress: (() => void) | undefined;

  /** `replay` belongs to a handler that already runs, as an ordinary call. */
  constructor(parts: LiveTaskParts, task: Task, replay?: Replay) {
    this.#parts = parts;
    this.#replay = replay ?? new Replay(task.journal, { suspender: this.#waiting });
    this.#saved = new SavedTask(parts, task, {
      journal: () => this.#journal(),
      onEnd: (ended) => this.#over(ended),
    });
  }

  /** The task as it is now. */
  get task(): Task {
    return this.#saved.task;
  }

  /** The task as it was last saved. */
  get shown(): Task {
    return this.#saved.shown;
  }

  get expired(): boolean {
    return this.#saved.expired;
  }

  /** Saves a new task. It must not begin before that: a crash must not leave effects without a task. */
  save(): Promise<void> {
    this.#isCounted = true;
    this.#firstSteps = this.#journal().steps.size;
    return this.#saved.attempt();
  }

  /** Forgets a task that could not be saved, which has not begun. */
  async abandon(): Promise<void> {
    this.#ended = true;
    await this.#saved.close(new McpError('cancelled', 'The task could not be saved'));
    await this.#parts.remove(this.task);
  }

  /** Saves the task soon, because the clock by which it expires was set. */
  touch(): void {
    this.#saved.saveSoon();
  }

  /** Records an attempt to run the task in the store, before the attempt. */
  async countAttempt(): Promise<void> {
    this.#isCounted = true;
    this.task.attempts++;
    await this.#saved.keep();
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
        onFailure: (error) => this.#cannotBegin(error),
      }).then(
        (started) => started && this.#follow(started.ended),
        (error) => this.fail(error),
      );
    });
  }

  /** Takes over a handler that has been running as an ordinary call. */
  adopt({ ctx, outcome }: RunningCall): void {
    ctx.continueAs(this.#call());
    this.#replay.suspendWith(this.#waiting);
    // Steps may have finished while the task was being saved in `ctx.background()`.
    if (this.#journal().steps.size > this.#firstSteps) this.#saved.keep().catch(ignore);
    this.#follow(outcome);
  }

  #call(): Call {
    return taskCall(this.task, this.#lifetime, (report) => this.#report(report));
  }

  #journal(): Journal {
    const { logCount, lastProgress } = this.task.journal;
    return this.#replay.journal({ logCount, lastProgress });
  }

  // The status tells the client why nothing happens.
  #cannotBegin(error: unknown): void {
    const { id, tool } = this.task;
    this.#parts.log('warning', `Task ${id} (${tool}) cannot run yet, and is retried`, error);
    this.#saved.change({ statusMessage: 'Waiting until the server can run it' });
    this.#saved.saveSoon();
  }

  // Spec, Tasks: progress notifications are not sent for tasks; their status has the progress.
  #report(report: JsonObject): void {
    if (this.#left || this.#ended) return;
    this.#saved.change({ progress: report, statusMessage: statusMessageOf(report) });
    this.#saved.saveSoon();
  }

  readonly #waiting: Suspender = {
    onIdle: (open) => {
      if (this.#left || this.#ended) return;
      // The task can only wait now, so it cannot be the one that ends this process.
      this.#saved.change({ open: requestsOf(open), status: 'input_required', attempts: 0 });
      this.#onProgress?.();
      this.#saved.keep().catch((error) => this.#cannotSaveQuestion(error));
    },
    onStep: async () => {
      this.task.attempts = Math.min(this.task.attempts, 1);
      await this.#saved.keep();
      this.#onProgress?.();
    },
  };

  // A question that cannot be saved is never listed, so it can never be answered.
  #cannotSaveQuestion(error: unknown): void {
    if (!(error instanceof Unsaveable)) return;
    this.#replay.end(new McpError('internal_error', `The question cannot be saved. ${error.message}`));
    this.#saved.change({ open: {}, status: 'working' });
  }

  #follow(ended: Promise<Outcome>): void {
    this.#isFollowed = true;
    ended.then(
      (outcome) => {
        const { resultType, ...result } = outcome;
        this.#finish({ status: 'completed', result: { resultType, ...result } });
      },
      (error) => this.fail(error),
    );
  }

  fail(error: unknown): void {
    // Ignore errors from a handler that has already been stopped.
    if (this.#left || this.#ended) return;
    const known = toMcpError(error);
    if (known !== error) this.#parts.log('error', `Task ${this.task.id} (${this.task.tool}) failed`, error);
    this.#finish({ status: 'failed', error: known.toWire(newestRevision) });
  }

  /** Fails a task that cannot be saved completely: its journal is dropped. */
  failBare(error: McpError): void {
    this.#saved.bare = true;
    this.fail(error);
  }

  // Until the end is saved, clients see the task as it was, and the task stays here.
  #finish(ending: Ending): void {
    if (this.#left || this.#ended) return;
    this.#ended = true;
    this.#saved.change({ ...ending, open: {} });
    this.#saved.keep().catch((error) => {
      if (error instanceof Unsaveable) this.#finishWithout(error);
    });
  }

  #finishWithout(reason: Unsaveable): void {
    const { id, tool } = this.task;
    this.#parts.log('error', `The result of task ${id} (${tool}) cannot be saved`, reason);
    const error = new McpError('internal_error', `The result cannot be saved. ${reason.message}`);
    this.#saved.bare = true;
    this.#saved.change({ status: 'failed', result: undefined, error: error.toWire(newestRevision) });
    this.#saved.keep().catch(ignore);
  }

  /** Gives answers to their questions. Rejects if the answers could not be saved; then the questions are open again. */
  answer(responses: JsonObject): Promise<void> {
    this.#answers ??= new AnswerQueue({
      saved: this.#saved,
      replay: () => this.#replay,
      journal: () => this.#journal(),
      isEnded: () => this.#ended,
      ensureHere: () => this.#ensureHere(),
      maxBytes: this.#parts.maxAnswerBytes,
    });
    return this.#answers.give(responses);
  }

  /** Ends the task as cancelled. Rejects if that could not be saved; then the task continues. */
  async cancel(why: string): Promise<void> {
    this.#ensureHere();
    const undo = (): void => {
      this.#saved.cancelling = undefined;
      // A store may have written the task although it reported a failure.
      this.#saved.saveSoon();
    };
    while (!isTerminal(this.shown.status)) {
      // A task that has ended on its own is not cancelled any more: its end is saved.
      if (!this.#ended) this.#saved.cancelling ??= why;
      await this.#saved.attempt({ undo }).catch((error) => {
        throw unsaved('The cancellation could not be saved, and the task continues', error);
      });
    }
  }

  /** Ends an expired task and removes it. Rejects if the store could not remove it. */
  async expire(): Promise<void> {
    if (this.#left) return;
    this.#ended = true;
    const reason = new McpError('cancelled', 'It has expired');
    this.#replay.end(reason);
    this.#lifetime.end(reason);
    await this.#saved.close(reason);
    await this.#parts.remove(this.task);
    this.#saved.conclude(cancelled(this.task, reason.message));
  }

  /**
   * Leaves the task as it is for the next process, because this one ends. No more steps begin. Running steps may finish, and are
   * recorded, until `late` resolves.
   */
  async leave(late: Promise<void>): Promise<void> {
    if (this.#left) return;
    this.#left = true;
    const reason = shuttingDown();
    this.#replay.end(reason);
    // This attempt ends in an orderly way and does not count. That is written at once, because a step may use up all the time.
    const isCounted = this.#isCounted && this.task.attempts > 0;
    if (isCounted) this.task.attempts--;
    const uncounted = isCounted ? this.#saved.attempt().catch(ignore) : undefined;
    await Promise.race([this.#replay.idle(), late]);
    this.#lifetime.end(reason);
    await Promise.race([uncounted, late]);
    if (this.#ended || (this.#isCounted && !this.#isFollowed))
      await Promise.race([this.#saved.attempt().catch(ignore), late]);
    await Promise.race([this.#saved.close(reason), late]);
    this.#onProgress?.();
  }

  #over(ended: Task): void {
    this.#ended = true;
    const reason = new McpError('cancelled', ended.statusMessage ?? 'The task has ended');
    if (ended.status === 'cancelled') this.#lifetime.end(reason);
    this.#replay.end(reason);
    void this.#saved.close(reason);
    this.#onProgress?.();
    this.#parts.changed(ended.id);
    this.#parts.ended(ended.id);
  }

  #ensureHere(): void {
    if (this.#left) throw shuttingDown();
  }
}

function ignore(): void {
  // The failure has been reported already.
}
