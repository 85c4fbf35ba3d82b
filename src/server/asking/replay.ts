import type { JsonObject } from '../../jsonrpc/message.js';
import type { InputRequest } from '../../protocol/model/input.js';
import { type Journal, newJournal } from './journal.js';
import type { Question } from './question.js';
import { begunInsideStep, keyNotReached, ReplayState } from './replay-state.js';
import { handlerEnded, isSuspension, markHandled, type Run, refuse, type Step, suspension } from './run.js';

/** What becomes of questions that nobody has answered yet. */
export interface Suspender {
  /** Called when the handler can do nothing but wait. `Asking.end` ends the run; otherwise the handler stays where it is. */
  readonly onIdle: (open: ReadonlyMap<string, OpenQuestion>) => void;
  /**
   * A step has ended and is in the journal, which is to be kept. Rejects if the journal could not be kept: the handler gets that
   * error instead of the step's result, and the run is over.
   */
  readonly onStep?: () => Promise<void>;
}

export interface OpenQuestion {
  readonly request: InputRequest;
  /** Takes an answer; undefined if the question cannot be answered with it. */
  readonly answer: (response: unknown) => AcceptedAnswer | undefined;
}

/** An answer that was taken: it is in the journal, and the handler does not have it yet. */
export interface AcceptedAnswer {
  /** Lets the handler go on with the answer. */
  readonly proceed: () => void;
  /** Forgets the answer, and opens the question again. */
  readonly reopen: () => void;
}

// A run that seems to have passed a key by may have a branch that nobody has seen yet. Before it is called a mistake, the branch
// is given the time that a request to another service takes.
const SLOW_BRANCH_MS = 1000;

export interface ReplayOptions {
  /** The answers that came with this round. */
  readonly answers?: JsonObject;
  /** How large the journal may become. No limit by default. */
  readonly maxBytes?: number;
  /** Without it, open questions end the run. */
  readonly suspender?: Suspender;
}

/**
 * The questions and steps of one run of a handler. Known keys return at once; the first unknown one leaves the run waiting
 * until everything else that goes on beside it has come to rest, so that questions asked together go out together.
 */
export class Replay implements Run {
  readonly #state: ReplayState;
  #suspender: Suspender | undefined;
  readonly #open = new Map<string, OpenQuestion>();
  /** How to refuse each question whose answer the handler does not have yet. */
  readonly #unanswered = new Map<string, (reason: Error) => void>();
  #busy = 0;
  /** The step whose function is being called. What the function does after its first `await` cannot be told from the rest. */
  #runningStep: string | undefined;
  #idleListeners: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reason: Error | undefined;
  #refused = false;
  #refusals = 0;
  #closed = false;

  constructor(journal: Journal = newJournal(), options: ReplayOptions = {}) {
    const { answers: given = {}, maxBytes = Number.POSITIVE_INFINITY, suspender: waiting } = options;
    this.#state = new ReplayState(journal, { answers: given, maxBytes });
    this.#suspender = waiting;
  }

  /** From now on open questions are dealt with in this way. */
  suspendWith(waiting: Suspender): void {
    this.#suspender = waiting;
  }

  /** Whether somebody keeps the open questions, so that they do not end the run. */
  get hasSuspender(): boolean {
    return this.#suspender !== undefined;
  }

  /** Whether the run was ended because of its questions: what the handler did after that does not count. */
  get suspended(): boolean {
    return isSuspension(this.#reason);
  }

  /** Whether the run has ended, for whatever reason: no question is asked and no step begins any more. */
  get over(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): Error | undefined {
    return this.#reason;
  }

  /** The reason that a question or step of the handler has met with: what the handler returned after that is not its result. */
  get refusal(): Error | undefined {
    return this.#refused && !this.#closed ? this.#reason : undefined;
  }

  get open(): ReadonlyMap<string, OpenQuestion> {
    return this.#open;
  }

  /**
   * Ends the run: every open question throws `reason`, and so does every later question and step, before its work begins. A
   * step that is running ends, and is recorded, and throws it then. The first reason counts.
   */
  end(reason?: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason ?? suspension();
    clearTimeout(this.#timer);
    for (const refuse of this.#unanswered.values()) refuse(this.#reason);
    this.#unanswered.clear();
  }

  close(): void {
    if (this.#reason !== undefined) return;
    this.#closed = true;
    this.end(handlerEnded());
  }

  /** Settles when no step is running: each has ended and was recorded, or failed. */
  idle(): Promise<void> {
    return this.#busy === 0 ? Promise.resolve() : new Promise((resolve) => this.#idleListeners.push(resolve));
  }

  ask<T>(key: string, question: Question<T>): Promise<T> {
    if (this.#reason !== undefined) return this.#refuse(this.#reason);
    this.#claim(key, question.request);
    const earlier = this.#state.answerTo(key, question);
    if (earlier !== undefined) return Promise.resolve(earlier.value);
    const problem = this.#state.changeProblem(key);
    if (problem !== undefined) {
      this.end(problem);
      return this.#refuse(problem);
    }
    const answered = new Promise<T>((resolve, reject) => {
      this.#unanswered.set(key, (reason) => {
        this.#refused = true;
        reject(reason);
      });
      const open: OpenQuestion = {
        request: question.request,
        answer: (response) => {
          const result = question.read(response);
          if (!result.ok || this.#reason !== undefined) return undefined;
          this.#state.keepAnswer(key, response);
          this.#open.delete(key);
          return {
            proceed: () => {
              this.#unanswered.delete(key);
              resolve(result.value);
            },
            reopen: () => {
              this.#state.dropAnswer(key);
              this.#open.set(key, open);
              this.#scheduleIdleCheck();
            },
          };
        },
      };
      this.#open.set(key, open);
      this.#scheduleIdleCheck();
    });
    return markHandled(answered);
  }

  withdraw(prefix: string, reason: Error): void {
    for (const [key, refuse] of [...this.#unanswered]) {
      if (!key.startsWith(prefix)) continue;
      this.#unanswered.delete(key);
      this.#open.delete(key);
      refuse(reason);
    }
  }

  /** Takes an answer to a question of an earlier run that this one has not come to yet; undefined if it has. */
  expect(key: string, response: unknown): AcceptedAnswer | undefined {
    if (this.#state.hasUsed(key) || this.#reason !== undefined) return undefined;
    this.#state.holdAnswer(key, response);
    return {
      proceed: () => {
        const isAnswer = this.#state.releaseAnswer(key);
        // The handler may have come to the question meanwhile, and may ask it in other words.
        const open = this.#open.get(key);
        if (open === undefined) this.#state.keepAnswer(key, response);
        else if (isAnswer) open.answer(response)?.proceed();
      },
      reopen: () => void this.#state.releaseAnswer(key),
    };
  }

  step<T>(key: string, work: (step: Step) => T | Promise<T>): Promise<T> {
    if (this.#reason !== undefined) return this.#refuse(this.#reason);
    return markHandled(this.#runStep(key, work));
  }

  async #runStep<T>(key: string, work: (step: Step) => T | Promise<T>): Promise<T> {
    this.#claim(key);
    if (typeof work !== 'function')
      throw new TypeError('A step needs a function after its key: ctx.step("create", () => create())');
    const earlier = this.#state.resultOf(key);
    if (earlier !== undefined) return earlier.value as T;
    this.#busy++;
    try {
      const result = await this.#callWork(key, work);
      // What later rounds will get, this round gets too.
      const stored = this.#state.keepResult(key, result);
      await this.#saveStep();
      if (this.#reason === undefined) return (result === undefined ? result : stored) as T;
    } catch (error) {
      if (this.#reason === undefined) throw error;
    } finally {
      this.#busy--;
      if (this.#busy === 0) for (const tell of this.#idleListeners.splice(0)) tell();
      this.#scheduleIdleCheck();
    }
    return this.#refuse(this.#reason);
  }

  #callWork<T>(key: string, work: (step: Step) => T | Promise<T>): T | Promise<T> {
    const outer = this.#runningStep;
    this.#runningStep = key;
    try {
      return work({ idempotencyKey: this.#state.idempotencyKey(key) });
    } finally {
      this.#runningStep = outer;
    }
  }

  #claim(key: string, request?: InputRequest): void {
    if (this.#runningStep !== undefined) throw begunInsideStep(key, this.#runningStep);
    // What begins now could not be kept. Whatever the handler makes of that, nothing more may begin.
    const problem = this.#state.sizeProblem(key);
    if (problem !== undefined) {
      this.end(problem);
      this.#refused = true;
      throw problem;
    }
    this.#state.claim(key, { request, beside: this.#busy > 0 || this.#open.size > 0 });
  }

  async #saveStep(): Promise<void> {
    try {
      await this.#suspender?.onStep?.();
    } catch (error) {
      // Whatever the handler makes of it: a step that begins now could happen again, and nobody would know.
      this.end(error instanceof Error ? error : new Error('The journal could not be kept', { cause: error }));
    }
  }

  #refuse(reason: Error): Promise<never> {
    this.#refused = true;
    return refuse(reason, ++this.#refusals);
  }

  // A turn of the event loop without a new question or a running step: the handler has come to rest.
  #scheduleIdleCheck(): void {
    clearTimeout(this.#timer);
    if (this.#open.size === 0 || this.#busy > 0 || this.#reason !== undefined) return;
    this.#timer = setTimeout(() => this.#checkIdle(), 0);
  }

  #checkIdle({ hasWaited = false } = {}): void {
    if (this.#busy > 0 || this.#open.size === 0) return;
    const skipped = this.#state.skippedKey(this.#open);
    if (skipped !== undefined && hasWaited) this.end(keyNotReached(skipped));
    else if (skipped !== undefined)
      this.#timer = setTimeout(() => this.#checkIdle({ hasWaited: true }), SLOW_BRANCH_MS);
    else if (this.#suspender === undefined) this.end();
    else this.#suspender.onIdle(this.#open);
  }

  /** Throws why what the handler returned cannot be its result: a step was refused, or an earlier run came to more than this. */
  checkResult(): void {
    if (this.refusal !== undefined) throw this.refusal;
    const { missedKey: forgotten } = this.#state;
    if (forgotten !== undefined) throw keyNotReached(forgotten);
  }

  /** The questions that were answered, and are asked again because they are not the same any more. */
  get changedQuestions(): readonly string[] {
    return this.#state.changedQuestions;
  }

  /** The journal as it stands, for the next round. */
  journal(sentSoFar: { readonly logged: number; readonly reached: number | undefined }): Journal {
    return this.#state.journal(sentSoFar);
  }
}
