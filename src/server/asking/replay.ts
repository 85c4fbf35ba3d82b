import type { JsonObject } from '../../jsonrpc/message.js';
import type { InputRequest } from '../../protocol/model/input.js';
import { type Journal, newJournal } from './journal.js';
import { divergence, insideStep, Notes } from './notes.js';
import type { Question } from './question.js';
import { handlerEnded, isSuspension, type Run, refused, type Step, suspension, unattended } from './run.js';

/** What becomes of questions that nobody has answered yet. */
export interface Waiting {
  /** Called when the handler can do nothing but wait. `Asking.end` ends the run; otherwise the handler stays where it is. */
  readonly settle: (open: ReadonlyMap<string, OpenQuestion>) => void;
  /**
   * A step has ended and is in the journal, which is to be kept. Rejects if the journal could not be kept: the handler gets that
   * error instead of the step's result, and the run is over.
   */
  readonly record?: () => Promise<void>;
}

export interface OpenQuestion {
  readonly request: InputRequest;
  /** Takes an answer; undefined if the question cannot be answered with it. */
  readonly answer: (response: unknown) => Taken | undefined;
}

/** An answer that was taken: it is in the journal, and the handler does not have it yet. */
export interface Taken {
  /** Lets the handler go on with the answer. */
  readonly proceed: () => void;
  /** Forgets the answer, and opens the question again. */
  readonly reopen: () => void;
}

// A run that seems to have passed a key by may have a branch that nobody has seen yet. Before it is called a mistake, the branch
// is given the time that a request to another service takes.
const SLOW_BRANCH_MS = 1000;

export interface AskingOptions {
  /** The answers that came with this round. */
  readonly given?: JsonObject;
  /** How large the journal may become. No limit by default. */
  readonly maxBytes?: number;
  /** Without it, open questions end the run. */
  readonly waiting?: Waiting;
}

/**
 * The questions and steps of one run of a handler. Known keys return at once; the first unknown one leaves the run waiting
 * until everything else that goes on beside it has come to rest, so that questions asked together go out together.
 */
export class Asking implements Run {
  readonly #notes: Notes;
  #waiting: Waiting | undefined;
  readonly #open = new Map<string, OpenQuestion>();
  /** How to refuse each question whose answer the handler does not have yet. */
  readonly #unanswered = new Map<string, (reason: Error) => void>();
  #busy = 0;
  /** The step whose function is being called. What the function does after its first `await` cannot be told from the rest. */
  #inside: string | undefined;
  #idlers: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reason: Error | undefined;
  #refused = false;
  #refusals = 0;
  #closed = false;

  constructor(journal: Journal = newJournal(), options: AskingOptions = {}) {
    const { given = {}, maxBytes = Number.POSITIVE_INFINITY, waiting } = options;
    this.#notes = new Notes(journal, { given, maxBytes });
    this.#waiting = waiting;
  }

  /** From now on open questions are dealt with in this way. */
  waitWith(waiting: Waiting): void {
    this.#waiting = waiting;
  }

  /** Whether somebody keeps the open questions, so that they do not end the run. */
  get kept(): boolean {
    return this.#waiting !== undefined;
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
    return this.#busy === 0 ? Promise.resolve() : new Promise((resolve) => this.#idlers.push(resolve));
  }

  ask<T>(key: string, question: Question<T>): Promise<T> {
    if (this.#reason !== undefined) return this.#refuse(this.#reason);
    this.#take(key, question.request);
    const known = this.#notes.answerTo(key, question);
    if (known !== undefined) return Promise.resolve(known.value);
    const fickle = this.#notes.fickle(key);
    if (fickle !== undefined) {
      this.end(fickle);
      return this.#refuse(fickle);
    }
    const answered = new Promise<T>((resolve, reject) => {
      this.#unanswered.set(key, (reason) => {
        this.#refused = true;
        reject(reason);
      });
      const open: OpenQuestion = {
        request: question.request,
        answer: (response) => {
          const late = question.read(response);
          if (!late.ok || this.#reason !== undefined) return undefined;
          this.#notes.keepAnswer(key, response);
          this.#open.delete(key);
          return {
            proceed: () => {
              this.#unanswered.delete(key);
              resolve(late.value);
            },
            reopen: () => {
              this.#notes.dropAnswer(key);
              this.#open.set(key, open);
              this.#rest();
            },
          };
        },
      };
      this.#open.set(key, open);
      this.#rest();
    });
    return unattended(answered);
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
  expect(key: string, response: unknown): Taken | undefined {
    if (this.#notes.hasUsed(key) || this.#reason !== undefined) return undefined;
    this.#notes.expect(key, response);
    return {
      proceed: () => {
        const isAnswer = this.#notes.unexpect(key);
        // The handler may have come to the question meanwhile, and may ask it in other words.
        const open = this.#open.get(key);
        if (open === undefined) this.#notes.keepAnswer(key, response);
        else if (isAnswer) open.answer(response)?.proceed();
      },
      reopen: () => void this.#notes.unexpect(key),
    };
  }

  step<T>(key: string, work: (step: Step) => T | Promise<T>): Promise<T> {
    if (this.#reason !== undefined) return this.#refuse(this.#reason);
    return unattended(this.#perform(key, work));
  }

  async #perform<T>(key: string, work: (step: Step) => T | Promise<T>): Promise<T> {
    this.#take(key);
    if (typeof work !== 'function')
      throw new TypeError('A step needs a function after its key: ctx.step("create", () => create())');
    const known = this.#notes.resultOf(key);
    if (known !== undefined) return known.value as T;
    this.#busy++;
    try {
      const result = await this.#begin(key, work);
      // What later rounds will get, this round gets too.
      const kept = this.#notes.keepResult(key, result);
      await this.#record();
      if (this.#reason === undefined) return (result === undefined ? result : kept) as T;
    } catch (error) {
      if (this.#reason === undefined) throw error;
    } finally {
      this.#busy--;
      if (this.#busy === 0) for (const tell of this.#idlers.splice(0)) tell();
      this.#rest();
    }
    return this.#refuse(this.#reason);
  }

  #begin<T>(key: string, work: (step: Step) => T | Promise<T>): T | Promise<T> {
    const outer = this.#inside;
    this.#inside = key;
    try {
      return work({ idempotencyKey: this.#notes.idempotencyKey(key) });
    } finally {
      this.#inside = outer;
    }
  }

  #take(key: string, request?: InputRequest): void {
    if (this.#inside !== undefined) throw insideStep(key, this.#inside);
    // What begins now could not be kept. Whatever the handler makes of that, nothing more may begin.
    const full = this.#notes.full(key);
    if (full !== undefined) {
      this.end(full);
      this.#refused = true;
      throw full;
    }
    this.#notes.take(key, { request, beside: this.#busy > 0 || this.#open.size > 0 });
  }

  async #record(): Promise<void> {
    try {
      await this.#waiting?.record?.();
    } catch (error) {
      // Whatever the handler makes of it: a step that begins now could happen again, and nobody would know.
      this.end(error instanceof Error ? error : new Error('The journal could not be kept', { cause: error }));
    }
  }

  #refuse(reason: Error): Promise<never> {
    this.#refused = true;
    return refused(reason, ++this.#refusals);
  }

  // A turn of the event loop without a new question or a running step: the handler has come to rest.
  #rest(): void {
    clearTimeout(this.#timer);
    if (this.#open.size === 0 || this.#busy > 0 || this.#reason !== undefined) return;
    this.#timer = setTimeout(() => this.#settle(), 0);
  }

  #settle({ hasWaited = false } = {}): void {
    if (this.#busy > 0 || this.#open.size === 0) return;
    const passed = this.#notes.passed(this.#open);
    if (passed !== undefined && hasWaited) this.end(divergence(passed));
    else if (passed !== undefined)
      this.#timer = setTimeout(() => this.#settle({ hasWaited: true }), SLOW_BRANCH_MS);
    else if (this.#waiting === undefined) this.end();
    else this.#waiting.settle(this.#open);
  }

  /** Throws why what the handler returned cannot be its result: a step was refused, or an earlier run came to more than this. */
  checkResult(): void {
    if (this.refusal !== undefined) throw this.refusal;
    const { forgotten } = this.#notes;
    if (forgotten !== undefined) throw divergence(forgotten);
  }

  /** The questions that were answered, and are asked again because they are not the same any more. */
  get changed(): readonly string[] {
    return this.#notes.changed;
  }

  /** The journal as it stands, for the next round. */
  journal(said: { readonly logged: number; readonly reached: number | undefined }): Journal {
    return this.#notes.journal(said);
  }
}
