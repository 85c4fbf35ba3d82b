// Runs a handler again from its journal: known answers and results return at once, and new questions are collected.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call } from '../../protocol/call.js';
import { type Journal, type JournalNews, newJournal } from './journal.js';
import { type OpenQuestion, OpenQuestions } from './open-questions.js';
import type { Question } from './question.js';
import { begunInsideStep, keyNotReached, ReplayState } from './replay-state.js';
import {
  handlerEnded,
  isSuspension,
  markHandled,
  type Run,
  refuse,
  type StepWork,
  suspension,
} from './run.js';
import { QUESTION_CHANGED, type RunReport, reportOf } from './run-report.js';
import { Steps } from './steps.js';
import type { Suspender } from './suspender.js';

// A run that seems to have skipped a key may have a parallel branch that has not reached the key yet. Before the run fails, the
// branch gets as much time as a request to another service takes.
const SLOW_BRANCH_MS = 1000;
// In a run that is known to have parallel branches, a step that waits for them is not refused so soon. Nothing happens meanwhile.
const SLOW_PARALLEL_BRANCH_MS = 30_000;

/** A step that has not begun, because the run has not reached a key that comes before it. */
interface HeldStep {
  readonly release: () => void;
  readonly reject: (reason: Error) => void;
}

/** The options of `Replay`. */
export interface ReplayOptions {
  /** The answers that came with this round. */
  readonly answers?: JsonObject;
  /** The largest size of the journal. Default: no limit. */
  readonly maxBytes?: number;
  /** Decides what happens while the run waits. Default: the run ends with its open questions. */
  readonly suspender?: Suspender;
}

/**
 * The questions and steps of one run of a handler. A known key returns at once. The first unknown question waits
 * until everything that runs in parallel is waiting, too, so that questions asked together are sent together.
 */
export class Replay implements Run {
  readonly #state: ReplayState;
  #suspender: Suspender | undefined;
  readonly #questions: OpenQuestions;
  readonly #steps: Steps;
  readonly #held = new Map<string, HeldStep>();
  /** How long a run with held steps may do nothing until it counts as one that has skipped a key. */
  #slowMs = SLOW_BRANCH_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reason: Error | undefined;
  #hasRefused = false;
  #hasDiverged = false;
  #refusals = 0;
  #isClosed = false;
  #report: RunReport | undefined;

  constructor(journal: Journal = newJournal(), options: ReplayOptions = {}) {
    const { answers = {}, maxBytes = Number.POSITIVE_INFINITY, suspender } = options;
    this.#state = new ReplayState(journal, { answers, maxBytes });
    this.#suspender = suspender;
    this.#steps = new Steps(this.#state, {
      suspender: () => this.#suspender,
      isOver: () => this.#reason !== undefined,
      end: (reason) => this.end(reason),
      onEnd: () => this.#scheduleIdleCheck(),
    });
    this.#questions = new OpenQuestions(this.#state, {
      isOver: () => this.#reason !== undefined,
      onOpen: () => this.#scheduleIdleCheck(),
      onReject: () => {
        this.#hasRefused = true;
      },
    });
  }

  /** Sets the suspender for the rest of the run. */
  suspendWith(suspender: Suspender): void {
    this.#suspender = suspender;
  }

  /** Reports what the run meets from now on, if somebody listens. */
  reportFor(call: Call): void {
    // A run that continues as a task keeps reporting.
    this.#report ??= reportOf(call);
  }

  /** Reports the end of a run that asks nothing more. */
  reportEnd(cell: 'threw' | 'returned', value?: unknown): void {
    this.#report?.met('return', 'return', cell, { value });
  }

  /** Whether a suspender decides about open questions, so that they do not end the run. */
  get hasSuspender(): boolean {
    return this.#suspender !== undefined;
  }

  /** Whether the run was ended to ask its questions. The handler's result after that is ignored. */
  get isSuspended(): boolean {
    return isSuspension(this.#reason);
  }

  /** Whether the run ended because it did not reach a key of an earlier run. It has done nothing that is new. */
  get hasDiverged(): boolean {
    return this.#hasDiverged;
  }

  get reason(): Error | undefined {
    return this.#reason;
  }

  /** The reason that was thrown at a question or step of the handler. The handler's return value after that is ignored. */
  get refusal(): Error | undefined {
    return this.#hasRefused && !this.#isClosed ? this.#reason : undefined;
  }

  get open(): ReadonlyMap<string, OpenQuestion> {
    return this.#questions.open;
  }

  /** Whether a step is running, or its result is being saved. */
  get hasRunningSteps(): boolean {
    return this.#steps.areRunning;
  }

  /**
   * Ends the run: every open question throws `reason`, and so does every later question and step, before its work starts. A
   * running step finishes, is saved, and then throws `reason`. Only the first reason counts.
   */
  end(reason?: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason ?? suspension();
    clearTimeout(this.#timer);
    this.#questions.rejectAll(this.#reason);
    this.#releaseSteps();
  }

  close(): void {
    if (this.#reason !== undefined) return;
    this.#isClosed = true;
    this.end(handlerEnded());
  }

  /** Resolves when no step is running: each step has been saved or has failed. */
  idle(): Promise<void> {
    return this.#steps.idle();
  }

  ask<T>(key: string, question: Question<T>): Promise<T> {
    if (this.#reason !== undefined) return this.#refuse(this.#reason);
    this.#claim(key, question);
    const earlier = this.#state.answerTo(key, question);
    if (earlier !== undefined) {
      this.#report?.met('ask', key, 'known', earlier);
      return Promise.resolve(earlier.value);
    }
    const problem = this.#state.changeProblem(key);
    if (problem === undefined) return this.#askNow(key, question);
    this.end(problem);
    return this.#refuse(problem);
  }

  #askNow<T>(key: string, question: Question<T>): Promise<T> {
    const answer = this.#questions.ask(key, question);
    const report = this.#report;
    if (report === undefined) return answer;
    const isChanged = this.#state.changedQuestions.includes(key);
    report.met('ask', key, 'asked', isChanged ? { warning: QUESTION_CHANGED } : {});
    // A task gets the answer in the same run.
    answer.then(
      (value) => report.met('ask', key, 'asked', { value }),
      () => undefined,
    );
    return answer;
  }

  withdraw(prefix: string, reason: Error): void {
    this.#questions.withdraw(prefix, reason);
    for (const [key, { reject }] of this.#held) if (key.startsWith(prefix)) reject(reason);
    if (this.#held.size > 0) this.#scheduleIdleCheck();
  }

  /**
   * Passes an answer to its question, or keeps it for a question of an earlier run that this run has not reached yet. Returns
   * false if the question is open and the answer is not valid for it.
   */
  give(key: string, response: unknown): boolean {
    const open = this.open.get(key);
    if (open !== undefined) {
      const isValid = open.answer(response);
      // The handler may still wait for the answer to another question.
      if (isValid) this.#scheduleIdleCheck();
      return isValid;
    }
    if (!this.#state.hasUsed(key)) this.#state.keepAnswer(key, response);
    return true;
  }

  /** The digest of the question with this key: the one that this run asked, or else that of an earlier run. */
  digestOf(key: string): string | undefined {
    return this.#state.digestOf(key);
  }

  known(key: string): { readonly value: unknown } | undefined {
    return this.#state.resultOf(key);
  }

  /** Lets the journal grow to this size, if that is more than it may have. A journal that travels through the client has its own limit. */
  allow(maxBytes: number): void {
    this.#state.allow(maxBytes);
  }

  step<T>(key: string, work: StepWork<T>): Promise<T> {
    if (this.#reason !== undefined) return this.#refuse(this.#reason);
    return markHandled(this.#runStep(key, work));
  }

  async #runStep<T>(key: string, work: StepWork<T>): Promise<T> {
    this.#claim(key);
    if (typeof work !== 'function')
      throw new TypeError('A step needs a function after its key: ctx.step("create", () => create())');
    const earlier = this.#state.resultOf(key);
    if (earlier !== undefined) {
      this.#report?.met('step', key, 'known', earlier);
      return earlier.value as T;
    }
    // The check comes before the work: code that was changed while the call waited must not do anything that cannot be undone.
    if (this.#state.keyBefore(key) !== undefined) await this.#hold(key);
    if (this.#reason !== undefined) return this.#refuse(this.#reason);
    this.#state.recordStep(key);
    const report = this.#report?.step(key, this.#state.idempotencyKey(key));
    try {
      const done = await this.#steps.run(key, work);
      if (done === undefined) return this.#refuse(this.reason as Error);
      report?.('ran', done.value);
      return done.value;
    } catch (error) {
      report?.('threw', error);
      throw error;
    }
  }

  #claim(key: string, question?: Question<unknown>): void {
    const { current } = this.#steps;
    if (current !== undefined) throw begunInsideStep(key, current);
    // If the journal has no room for another entry, nothing more may start, even if the handler catches the error.
    const problem = this.#state.sizeProblem(key);
    if (problem !== undefined) {
      this.end(problem);
      this.#hasRefused = true;
      throw problem;
    }
    const isParallel = this.#steps.areRunning || this.open.size > 0 || this.#held.size > 0;
    const missed = isParallel ? this.#state.missedKey : undefined;
    this.#state.claim(key, { question, isParallel });
    if (this.#held.size === 0) return;
    if (this.#state.missedKey !== missed) this.#releaseSteps();
    this.#scheduleIdleCheck();
  }

  /** Holds a step until the run has reached every key that comes before it, or is over. */
  async #hold(key: string): Promise<void> {
    if (this.#held.size === 0)
      this.#slowMs = this.#state.isParallel ? SLOW_PARALLEL_BRANCH_MS : SLOW_BRANCH_MS;
    try {
      await new Promise<void>((release, reject) => {
        this.#held.set(key, { release, reject });
        this.#scheduleIdleCheck();
      });
    } finally {
      this.#held.delete(key);
      this.#scheduleIdleCheck();
    }
  }

  /** Releases the steps that need not be held any more. */
  #releaseSteps(): void {
    for (const [key, { release }] of this.#held)
      if (this.#reason !== undefined || this.#state.keyBefore(key) === undefined) release();
  }

  #refuseHeld(): void {
    // A step that has begun meanwhile may come before the missing key. Its end starts the time again.
    if (this.#steps.areRunning) return;
    for (const held of this.#held.keys()) {
      const missing = this.#state.keyBefore(held);
      if (missing !== undefined) return this.#diverge(missing, { held });
    }
  }

  #diverge(missing: string, options?: { readonly held: string }): void {
    this.#hasDiverged ||= this.#reason === undefined;
    this.end(keyNotReached(missing, options));
  }

  #refuse(reason: Error): Promise<never> {
    this.#hasRefused = true;
    return refuse(reason, ++this.#refusals);
  }

  // After one turn of the event loop without a new question or a running step, the handler can only wait.
  #scheduleIdleCheck(): void {
    clearTimeout(this.#timer);
    if (this.#steps.areRunning || this.#reason !== undefined) return;
    if (this.open.size > 0) this.#timer = setTimeout(() => this.#checkIdle(), 0);
    else if (this.#held.size > 0) this.#timer = setTimeout(() => this.#refuseHeld(), this.#slowMs);
  }

  #checkIdle({ hasWaited = false } = {}): void {
    if (this.#steps.areRunning || this.open.size === 0) return;
    const skipped = this.#state.skippedKey(this.open);
    if (skipped !== undefined && hasWaited) this.#diverge(skipped);
    else if (skipped !== undefined)
      this.#timer = setTimeout(() => this.#checkIdle({ hasWaited: true }), SLOW_BRANCH_MS);
    else if (this.#suspender === undefined) this.end();
    else this.#suspender.onIdle(this.open);
  }

  /** Throws if the handler's return value cannot be its result: a question or step was rejected, or the run missed an earlier key. */
  checkResult(): void {
    const { refusal } = this;
    const { missedKey } = this.#state;
    const problem = refusal ?? (missedKey === undefined ? undefined : keyNotReached(missedKey));
    if (problem === undefined) return;
    this.#hasDiverged ||= refusal === undefined;
    this.reportEnd('threw', problem);
    throw problem;
  }

  /** The keys of the questions that are asked again, because they have changed since they were answered. */
  get changedQuestions(): readonly string[] {
    return this.#state.changedQuestions;
  }

  /** Whether the state of the run may be used only once, because it has an answer that may be used only once. */
  get isOnce(): boolean {
    return this.#state.isOnce;
  }

  /** The current journal, for the next round. */
  journal(sentSoFar: { readonly logCount: number; readonly lastProgress: number | undefined }): Journal {
    return this.#state.journal(sentSoFar);
  }

  /** Takes what was added to the journal since the last time; undefined if nothing was. */
  takeNews(): JournalNews | undefined {
    return this.#state.takeNews();
  }
}
