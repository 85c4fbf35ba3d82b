import { Lifetime } from '../../async/lifetime.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError, toMcpError } from '../../protocol/errors.js';
import { newestRevision } from '../../protocol/tables/revisions.js';
import { isTerminal } from '../../protocol/tasks.js';
import type { Journal } from '../../server/asking/journal.js';
import { Replay, type Suspender } from '../../server/asking/replay.js';
import type { RunningCall, TaskWork } from '../../server/handle/task-host.js';
import { TaskAnswers } from './answers.js';
import { beginTask } from './begin.js';
import { statusMessageOf, taskCall } from './call.js';
import { cancelled, SavedTask, type SavedTaskParts } from './saved-task.js';
import { NeverKept, shuttingDown, unsaved } from './saving-errors.js';
import { requestsOf, type Task } from './task.js';

export interface LiveTaskParts extends SavedTaskParts {
  readonly remove: (task: Task) => Promise<void>;
  readonly ended: (id: string) => void;
  /** How much all answers to a task may have. */
  readonly maxAnswerBytes: number;
}

type Ending = Pick<Task, 'status'> & Partial<Pick<Task, 'result' | 'error'>>;

/**
 * A task that runs in this process. The handler goes on with a step's result or an answer only when that is in the store. While
 * the store is away, the handler waits where it stands.
 */
export class LiveTask {
  readonly #parts: LiveTaskParts;
  readonly #saved: SavedTask;
  readonly #lifetime = new Lifetime();
  readonly #asking: Replay;
  /** The run has come to its end, saved or not. */
  #ended = false;
  #left = false;
  /** Whether the attempts include one of this process. */
  #isCounted = false;
  /** Whether the steps that end are saved by themselves. */
  #isFollowed = false;
  /** How many steps had ended when the task was first saved. */
  #begunWith = 0;
  #answers: TaskAnswers | undefined;
  #tellLife: (() => void) | undefined;

  /** `asking` is that of a handler which runs already, as an ordinary call. */
  constructor(parts: LiveTaskParts, task: Task, asking?: Replay) {
    this.#parts = parts;
    this.#asking = asking ?? new Replay(task.journal, { suspender: this.#waiting });
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

  /** Saves a task that is new. It must not begin before: a crash must not leave effects of no task. */
  save(): Promise<void> {
    this.#isCounted = true;
    this.#begunWith = this.#journal().steps.size;
    return this.#saved.attempt();
  }

  /** Forgets a task that could not be saved, which has not begun. */
  async abandon(): Promise<void> {
    this.#ended = true;
    await this.#saved.close(new McpError('cancelled', 'The task could not be saved'));
    await this.#parts.remove(this.task);
  }

  /** Saves the task soon, since the clock by which it expires was set. */
  touch(): void {
    this.#saved.saveSoon();
  }

  /** Counts an attempt at running the task, in the store, before it is made. */
  async countAttempt(): Promise<void> {
    this.#isCounted = true;
    this.task.attempts++;
    await this.#saved.keep();
  }

  /**
   * Runs the handler from its top; what the journal knows returns at once. Resolves when the task has got further than before,
   * has come to rest, or has ended.
   */
  start(load: () => TaskWork | Promise<TaskWork>): Promise<void> {
    return new Promise((resolve) => {
      this.#tellLife = resolve;
      beginTask({
        call: this.#call(),
        asking: this.#asking,
        load,
        lifetime: this.#lifetime,
        onFailure: (error) => this.#cannotBegin(error),
      }).then(
        (begun) => begun && this.#follow(begun.ended),
        (error) => this.fail(error),
      );
    });
  }

  /** Takes over a handler that ran as an ordinary call until now. */
  adopt({ ctx, ended }: RunningCall): void {
    ctx.continueAs(this.#call());
    this.#asking.suspendWith(this.#waiting);
    // What ended beside `ctx.background()`, while the task was saved.
    if (this.#journal().steps.size > this.#begunWith) this.#saved.keep().catch(ignore);
    this.#follow(ended);
  }

  #call(): Call {
    return taskCall(this.task, this.#lifetime, (report) => this.#tell(report));
  }

  #journal(): Journal {
    const { logged, reached } = this.task.journal;
    return this.#asking.journal({ logged, reached });
  }

  // A client that looks should not wonder why nothing happens.
  #cannotBegin(error: unknown): void {
    const { id, tool } = this.task;
    this.#parts.log('warning', `Task ${id} (${tool}) cannot run yet, and is tried again`, error);
    this.#saved.change({ statusMessage: 'Waiting until the server can run it' });
    this.#saved.saveSoon();
  }

  // Spec, Tasks: progress is not sent for tasks; how far they are stands in their status.
  #tell(report: JsonObject): void {
    if (this.#left || this.#ended) return;
    this.#saved.change({ progress: report, statusMessage: statusMessageOf(report) });
    this.#saved.saveSoon();
  }

  readonly #waiting: Suspender = {
    onIdle: (open) => {
      if (this.#left || this.#ended) return;
      // It has come to where it can only wait: nothing that it does can end this process.
      this.#saved.change({ open: requestsOf(open), status: 'input_required', attempts: 0 });
      this.#tellLife?.();
      this.#saved.keep().catch((error) => this.#neverShown(error));
    },
    onStep: async () => {
      this.task.attempts = Math.min(this.task.attempts, 1);
      await this.#saved.keep();
      this.#tellLife?.();
    },
  };

  // Nobody can answer a question that nobody can see.
  #neverShown(error: unknown): void {
    if (!(error instanceof NeverKept)) return;
    this.#asking.end(new McpError('internal_error', `The question cannot be kept. ${error.message}`));
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
    // A handler that was told to end may end as it likes.
    if (this.#left || this.#ended) return;
    const known = toMcpError(error);
    if (known !== error) this.#parts.log('error', `Task ${this.task.id} (${this.task.tool}) failed`, error);
    this.#finish({ status: 'failed', error: known.toWire(newestRevision) });
  }

  /** Fails a task that cannot be saved with all that it has: its journal is given up. */
  failBare(error: McpError): void {
    this.#saved.bare = true;
    this.fail(error);
  }

  // Until its end is saved the task is shown as it was, and stays here.
  #finish(ending: Ending): void {
    if (this.#left || this.#ended) return;
    this.#ended = true;
    this.#saved.change({ ...ending, open: {} });
    this.#saved.keep().catch((error) => {
      if (error instanceof NeverKept) this.#finishWithout(error);
    });
  }

  #finishWithout(reason: NeverKept): void {
    const { id, tool } = this.task;
    this.#parts.log('error', `The result of task ${id} (${tool}) cannot be kept`, reason);
    const error = new McpError('internal_error', `The result cannot be kept. ${reason.message}`);
    this.#saved.bare = true;
    this.#saved.change({ status: 'failed', result: undefined, error: error.toWire(newestRevision) });
    this.#saved.keep().catch(ignore);
  }

  /** Hands answers to the questions they belong to. Rejects if they could not be saved; the questions are open again then. */
  answer(responses: JsonObject): Promise<void> {
    this.#answers ??= new TaskAnswers({
      saved: this.#saved,
      asking: () => this.#asking,
      journal: () => this.#journal(),
      isEnded: () => this.#ended,
      ensureHere: () => this.#ensureHere(),
      maxBytes: this.#parts.maxAnswerBytes,
    });
    return this.#answers.give(responses);
  }

  /** Ends the task as cancelled. Rejects if that could not be saved; the task goes on then. */
  async cancel(why: string): Promise<void> {
    this.#ensureHere();
    const goOn = (): void => {
      this.#saved.cancelling = undefined;
      // A store may have written what it says it has not.
      this.#saved.saveSoon();
    };
    while (!isTerminal(this.shown.status)) {
      // A task that has come to its end by itself is not cancelled any more: its end is saved.
      if (!this.#ended) this.#saved.cancelling ??= why;
      await this.#saved.attempt({ undo: goOn }).catch((error) => {
        throw unsaved('The cancellation could not be saved, and the task goes on', error);
      });
    }
  }

  /** Its time is over: it ends now, and is forgotten. Rejects if the store could not forget it. */
  async expire(): Promise<void> {
    if (this.#left) return;
    this.#ended = true;
    const reason = new McpError('cancelled', 'It has expired');
    this.#asking.end(reason);
    this.#lifetime.end(reason);
    await this.#saved.close(reason);
    await this.#parts.remove(this.task);
    this.#saved.conclude(cancelled(this.task, reason.message));
  }

  /**
   * The process ends; the task stays as it is, for the next one. No step begins any more. Steps that are running may end and are
   * recorded, until it is `late`.
   */
  async leave(late: Promise<void>): Promise<void> {
    if (this.#left) return;
    this.#left = true;
    const reason = shuttingDown();
    this.#asking.end(reason);
    // This attempt ends in an orderly way, and does not count. That is written at once: a step may take all the time there is.
    const isCounted = this.#isCounted && this.task.attempts > 0;
    if (isCounted) this.task.attempts--;
    const uncounted = isCounted ? this.#saved.attempt().catch(ignore) : undefined;
    await Promise.race([this.#asking.idle(), late]);
    this.#lifetime.end(reason);
    await Promise.race([uncounted, late]);
    if (this.#ended || (this.#isCounted && !this.#isFollowed))
      await Promise.race([this.#saved.attempt().catch(ignore), late]);
    await Promise.race([this.#saved.close(reason), late]);
    this.#tellLife?.();
  }

  #over(ended: Task): void {
    this.#ended = true;
    const reason = new McpError('cancelled', ended.statusMessage ?? 'The task has ended');
    if (ended.status === 'cancelled') this.#lifetime.end(reason);
    this.#asking.end(reason);
    void this.#saved.close(reason);
    this.#tellLife?.();
    this.#parts.changed(ended.id);
    this.#parts.ended(ended.id);
  }

  #ensureHere(): void {
    if (this.#left) throw shuttingDown();
  }
}

function ignore(): void {
  // Whoever has to know was told.
}
