// The questions of a task that runs in this process, and the answers to them.

import { unref } from '../../../async/unref.js';
import type { Replay } from '../../../server/asking/replay.js';
import type { Logger } from '../../../server/state/log.js';
import type { Store } from '../../../state/store.js';
import type { Answer } from '../stored/inbox.js';
import type { AskedRounds, Round } from '../stored/journal-items.js';
import { Unsaveable } from '../stored/saving-errors.js';
import type { AskedQuestion, TaskHead } from '../stored/task.js';
import type { Asking } from './held-task.js';
import type { SavedTask } from './saved-task.js';

/** The parts of a `TaskQuestions`. */
export interface TaskQuestionsParts {
  readonly store: Store;
  readonly saved: SavedTask;
  readonly replay: Replay;
  /** The rounds in which the questions were asked last. */
  readonly rounds: Map<string, Round>;
  /** Whether the handler may wait in this process. Otherwise the task is put aside as soon as it has asked. */
  readonly mayPark: () => boolean;
  readonly parkMs: number;
  readonly isOver: () => boolean;
  readonly onParked: (isParked: boolean) => void;
  /** Called when the task was put aside, and belongs to nobody. */
  readonly onReleased: () => void;
  /** Called if a question can never be saved. The client will never see it, so it can never be answered. */
  readonly onUnsaveable: (error: Unsaveable) => void;
  readonly log: Logger;
}

/**
 * Asks the client, waits for a while, and then puts the task aside. Answers come from the inbox, where any process may have put
 * them. Each question has a round, which grows when the question is asked again: an answer counts only for the question and the
 * round that the client was shown.
 */
export class TaskQuestions {
  readonly #parts: TaskQuestionsParts;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isParked = false;
  #isClosed = false;
  #looking: Promise<void> | undefined;
  #mustLookAgain = false;
  /** Whether the questions must be asked again when the inbox can be read: an answer has arrived that is not known yet. */
  #mustAskLater = false;

  constructor(parts: TaskQuestionsParts) {
    this.#parts = parts;
  }

  /** Whether the handler only waits for answers. */
  get isParked(): boolean {
    return this.#isParked;
  }

  /** Whether there may be answers that the handler waits for. */
  get mayHaveAnswers(): boolean {
    return this.#isParked || this.#mustAskLater;
  }

  /** Shows the open questions to the client. Called when the handler can only wait. */
  async ask(): Promise<void> {
    const { saved, onReleased, onUnsaveable, log } = this.#parts;
    try {
      let asking: Asking | undefined;
      const end = await saved.ask(() => {
        asking = this.#prepare();
        return asking;
      });
      if (typeof end === 'object') return await this.#readInbox({ mustAsk: true });
      if (end !== 'made') return;
      const answers = asking === undefined ? [] : this.#note(asking.asked);
      if (asking?.release === true) return onReleased();
      this.#park();
      await this.#giveAll(answers, { mustAsk: false });
    } catch (error) {
      if (!(error instanceof Unsaveable)) return log('error', 'A task could not ask its questions', error);
      saved.change({ open: [], status: 'working' });
      onUnsaveable(error);
    }
  }

  /** Remembers the rounds that the client was shown. Returns answers to them, which may have been read before that was known. */
  #note(asked: AskedRounds): readonly Answer[] {
    const { rounds, saved } = this.#parts;
    return asked.flatMap(([key, round, digest]) => {
      rounds.set(key, { round, digest });
      return saved.inbox.find(key, round) ?? [];
    });
  }

  #prepare(): Asking | undefined {
    const { saved, replay, rounds, mayPark } = this.#parts;
    if (this.#isDone || replay.open.size === 0) return undefined;
    const open: AskedQuestion[] = [];
    const asked: AskedRounds[number][] = [];
    for (const [key, { request }] of replay.open) {
      const digest = replay.digestOf(key) ?? '';
      const last = rounds.get(key);
      const isShown = last?.digest === digest && saved.inbox.find(key, last.round) === undefined;
      const round = isShown ? last.round : 1 + Math.max(last?.round ?? 0, saved.inbox.lastRound(key));
      open.push([key, round, request]);
      if (!isShown) asked.push([key, round, digest]);
    }
    // A step that began in the meantime must be saved under this lease.
    const release = !mayPark() && !replay.hasRunningSteps;
    if (!release && asked.length === 0 && isShownIn(saved.head, open)) return undefined;
    // A task that only waits cannot be the one that crashes processes.
    return { fields: { open, status: 'input_required', failed: undefined }, asked, release };
  }

  #park(): void {
    const { replay, parkMs, onParked } = this.#parts;
    if (this.#isDone || this.#isParked || replay.open.size === 0 || replay.hasRunningSteps) return;
    this.#isParked = true;
    onParked(true);
    clearTimeout(this.#timer);
    if (!Number.isFinite(parkMs)) return;
    this.#timer = setTimeout(() => void this.putAside(), Math.min(parkMs, 0x7fffffff));
    unref(this.#timer);
  }

  /** Called when the handler continues, with an answer or because another branch of it begins a step. */
  wake(): void {
    if (!this.#isParked) return;
    this.#isParked = false;
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#parts.onParked(false);
  }

  /** Puts the task aside, if its handler still only waits. */
  async putAside(): Promise<void> {
    const { saved, onReleased } = this.#parts;
    if (!this.#isParked || this.#isDone) return;
    const end = await saved.putAside(() => this.#isParked && !this.#isDone).catch(() => 'closed' as const);
    if (end === 'made') onReleased();
    else if (typeof end === 'object') {
      await this.#readInbox({ mustAsk: false });
      if (this.#isParked) {
        this.#isParked = false;
        this.#park();
      }
    }
  }

  /** Looks for answers in the inbox. */
  look(): void {
    if (this.#isDone) return;
    if (this.#looking !== undefined) {
      this.#mustLookAgain = true;
      return;
    }
    this.#looking = this.#readInbox({ mustAsk: this.#mustAskLater }).finally(() => {
      this.#looking = undefined;
      if (!this.#mustLookAgain) return;
      this.#mustLookAgain = false;
      this.look();
    });
  }

  async #readInbox({ mustAsk }: { readonly mustAsk: boolean }): Promise<void> {
    const { store, saved, log } = this.#parts;
    const { inbox, place } = saved;
    let answers: readonly Answer[];
    try {
      const after = inbox.lastAt;
      answers = inbox.add(await store.items(place.inbox, after === undefined ? {} : { after }));
    } catch (error) {
      // The next renewal of the lease looks again.
      this.#mustAskLater ||= mustAsk;
      return log('warning', `The answers to task ${place.id} could not be read. The server retries.`, error);
    }
    this.#mustAskLater = false;
    await this.#giveAll(answers, { mustAsk });
  }

  async #giveAll(answers: readonly Answer[], { mustAsk }: { readonly mustAsk: boolean }): Promise<void> {
    if (this.#isDone) return;
    const wasIdle = this.#isParked;
    let mustAskAgain = mustAsk;
    for (const answer of answers) if (!this.#give(answer)) mustAskAgain ||= wasIdle;
    if (mustAskAgain && this.#parts.replay.open.size > 0) await this.ask();
  }

  /** Passes an answer to its question. Returns false if the question must be asked again. */
  #give({ key, round, response }: Answer): boolean {
    const { saved, replay, rounds } = this.#parts;
    const last = rounds.get(key);
    // The answer to an earlier round, or to a question that the handler has changed since.
    if (last?.round !== round || last.digest !== replay.digestOf(key)) return true;
    const wasOpen = replay.open.has(key);
    if (!replay.give(key, response)) return false;
    if (!wasOpen) return true;
    this.wake();
    const open = saved.head.open.filter(([other]) => other !== key);
    saved.head = {
      ...saved.head,
      open,
      status: open.length === 0 ? 'working' : 'input_required',
      waiting: false,
    };
    return true;
  }

  get #isDone(): boolean {
    return this.#isClosed || this.#parts.isOver();
  }

  /** Stops asking and waiting. */
  close(): void {
    if (this.#isClosed) return;
    this.wake();
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}

function isShownIn({ status, open, waiting }: TaskHead, questions: readonly AskedQuestion[]): boolean {
  return (
    status === 'input_required' &&
    waiting !== true &&
    open.length === questions.length &&
    questions.every(([key, round], at) => open[at]?.[0] === key && open[at]?.[1] === round)
  );
}
