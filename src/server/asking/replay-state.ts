// The state of one run: the keys that it has used, and the answers and results that it has.

import type { JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import { type Journal, type JournalNews, type StepResult, writeJournal } from './journal.js';
import { type Question, questionDigest } from './question.js';
import { checkKey } from './run.js';
import { sizeOf } from './size.js';

/** The options of `ReplayState`. */
export interface ReplayStateOptions {
  /** The answers that came with this round. */
  readonly answers: JsonObject;
  /** The largest size of the journal. */
  readonly maxBytes: number;
}

interface Use {
  /** The question; undefined for a step. */
  readonly question: Question<unknown> | undefined;
  /** Whether another question or step is still running. */
  readonly isParallel: boolean;
}

// The bytes that a key adds to the journal besides its own: quotes, brackets and a digest.
const KEY_OVERHEAD = 32;

/** The digest of a step: it asks nothing. */
const STEP = '';

// A question may change while the user thinks. A question that is different in every run is a mistake in the handler.
const MAX_CHANGES = 3;

/** The journal of the earlier rounds, the answers that came with this round, and the keys that this run has reached. */
export class ReplayState {
  readonly #journal: Journal;
  readonly #newAnswers: JsonObject;
  #maxBytes: number;
  #bytes: number;
  readonly #answers: Map<string, unknown>;
  readonly #steps: Map<string, unknown>;
  /** The keys of all rounds, each with the digest of its question. */
  readonly #keys: Map<string, string>;
  /** The keys that this round has used, and for what. */
  readonly #usedKeys = new Map<string, 'question' | 'step'>();
  /** The keys of earlier rounds from the first one on that this round has not reached. */
  readonly #laterKeys: Iterator<[string, string], undefined>;
  #nextKey: [string, string] | undefined;
  readonly #changes: Map<string, number>;
  readonly #changedQuestions = new Set<string>();
  /** Whether this run has asked a question whose answer may be used only once. */
  isOnce = false;
  #parallel: boolean;
  #news = noNews();

  constructor(journal: Journal, { answers, maxBytes }: ReplayStateOptions) {
    this.#journal = journal;
    this.#newAnswers = answers;
    this.#maxBytes = maxBytes;
    this.#bytes =
      maxBytes === Number.POSITIVE_INFINITY ? 0 : sizeOf(JSON.stringify([writeJournal(journal), answers]));
    this.#answers = new Map(journal.answers);
    this.#steps = new Map(journal.steps);
    this.#keys = new Map(journal.keys);
    this.#changes = new Map(journal.changes);
    this.#parallel = journal.parallel;
    this.#laterKeys = journal.keys.entries();
    this.#nextKey = this.#laterKeys.next().value;
    // This round may end before it reaches a question that was answered with it.
    for (const key of journal.keys.keys()) {
      if (Object.hasOwn(answers, key) && !this.#answers.has(key)) this.#answers.set(key, answers[key]);
    }
  }

  /** Reserves a key for a question or a step. A second use of the key throws: it would get the answer of the first. */
  claim(key: string, { question, isParallel }: Use): void {
    checkKey(key);
    if (this.#usedKeys.has(key)) {
      throw new McpError(
        'internal_error',
        `The key "${key}" is used twice in one run. Give each question and step a key of its own.`,
      );
    }
    if (isParallel && !this.#parallel) {
      this.#parallel = true;
      this.#news.parallel = true;
    }
    this.#usedKeys.set(key, question === undefined ? 'step' : 'question');
    if (question === undefined) return;
    if (question.subject !== undefined) this.isOnce = true;
    this.#record(key, questionDigest(this.#journal.run, question.request, question));
  }

  /** Records that a step whose key is claimed begins, so that later runs must reach it. */
  recordStep(key: string): void {
    this.#record(key, STEP);
  }

  #record(key: string, digest: string): void {
    if (this.#keys.get(key) === digest) return;
    if (!this.#keys.has(key)) this.#bytes += 2 * key.length + KEY_OVERHEAD;
    this.#keys.set(key, digest);
    this.#news.keys.push([key, digest]);
  }

  /** Lets the journal grow to this size, if that is more than before. */
  allow(maxBytes: number): void {
    this.#maxBytes = Math.max(this.#maxBytes, maxBytes);
  }

  /** The error if the journal is too large to begin anything more. */
  sizeProblem(key: string): McpError | undefined {
    if (this.#bytes <= this.#maxBytes) return undefined;
    return new McpError(
      'internal_error',
      `The answers and step results of this run have ${this.#bytes} bytes, more than asking.maxBytes (${this.#maxBytes}), so "${key}" was not started. Return less from steps: an id instead of a document.`,
    );
  }

  /**
   * Returns the answer to a question whose key is claimed, if there is one. An earlier answer is preferred; if it is no longer
   * valid, the answer that came with this round is used.
   */
  answerTo<T>(key: string, question: Question<T>): { readonly value: T } | undefined {
    const previousDigest = this.#journal.keys.get(key);
    const newAnswer = Object.hasOwn(this.#newAnswers, key) ? this.#newAnswers[key] : undefined;
    const candidates = [this.#answers.get(key), newAnswer].filter((answer) => answer !== undefined);
    // A client that answers in the first round has seen no question, so its answer counts for any question with that key.
    const isAnswered =
      this.#isSameQuestion(key) || (this.#journal.keys.size === 0 && question.subject === undefined);
    if (!isAnswered && previousDigest !== undefined && candidates.length > 0) {
      this.#changedQuestions.add(key);
      const changes = (this.#changes.get(key) ?? 0) + 1;
      this.#changes.set(key, changes);
      this.#news.changes.push([key, changes]);
    }
    for (const answer of isAnswered ? candidates : []) {
      const result = question.read(answer);
      if (!result.ok) continue;
      this.#answers.set(key, answer);
      return result;
    }
    this.#answers.delete(key);
    return undefined;
  }

  /** The error if a question has changed too often to be asked again. */
  changeProblem(key: string): McpError | undefined {
    const changes = this.#changes.get(key) ?? 0;
    if (changes <= MAX_CHANGES) return undefined;
    return new McpError(
      'internal_error',
      `The question "${key}" was answered ${changes} times, and after each answer the handler changed the question. Build the question only from the input, from answers and from the results of steps.`,
    );
  }

  keepAnswer(key: string, response: unknown): void {
    this.#answers.set(key, response);
  }

  #isSameQuestion(key: string): boolean {
    return this.#journal.keys.get(key) === this.#keys.get(key);
  }

  /** The digest of the question with this key: the one that this run asked, or else that of an earlier run. */
  digestOf(key: string): string | undefined {
    return this.#keys.get(key);
  }

  hasUsed(key: string): boolean {
    return this.#usedKeys.has(key);
  }

  resultOf(key: string): { readonly value: unknown } | undefined {
    return this.#steps.has(key) ? { value: this.#steps.get(key) } : undefined;
  }

  /** Keeps the result of a step. If it `isSaved`, the journal in the store already has it. */
  keepResult(
    key: string,
    { value, json }: StepResult,
    { isSaved = false }: { readonly isSaved?: boolean } = {},
  ): void {
    this.#steps.set(key, value);
    if (!isSaved) this.#news.steps.push([key, value]);
    this.#bytes += sizeOf(json);
  }

  idempotencyKey(key: string): string {
    return `${this.#journal.run}:${key}`;
  }

  /**
   * Returns a key that a run that waits for these questions has certainly skipped, if there is one. A sequential handler has
   * reached every key before its open question, or never will. In a handler with parallel branches, a slow branch may still
   * reach its key.
   */
  skippedKey(open: ReadonlyMap<string, unknown>): string | undefined {
    if (this.#parallel) return undefined;
    for (const [key, digest] of this.#journal.keys) {
      if (!this.#isReached(key, digest)) return key;
      if (open.has(key)) return undefined;
    }
    return undefined;
  }

  /**
   * Returns a key of an earlier round that must be reached before this step may begin, if there is one. A step that is new comes
   * after all of them. A step that an earlier round began, and that failed or was interrupted, comes after those that were
   * reached before it. None of them can depend on the step, because they were reached without it.
   */
  keyBefore(step: string): string | undefined {
    const missed = this.missedKey;
    if (missed === undefined) return undefined;
    for (const key of this.#journal.keys.keys()) {
      if (key === missed) return missed;
      if (key === step) return undefined;
    }
    return undefined;
  }

  /** Whether two questions or steps ever ran in parallel. */
  get isParallel(): boolean {
    return this.#parallel;
  }

  /** The first key of an earlier round that this round has not reached, if there is one. */
  get missedKey(): string | undefined {
    while (this.#nextKey !== undefined && this.#isReached(...this.#nextKey))
      this.#nextKey = this.#laterKeys.next().value;
    return this.#nextKey?.[0];
  }

  /** Whether this round has used a key of an earlier round, and for the same: a question is not reached by a step with its key. */
  #isReached(key: string, digest: string): boolean {
    return this.#usedKeys.get(key) === (digest === STEP ? 'step' : 'question');
  }

  /** The keys of the questions that are asked again, because they have changed since they were answered. */
  get changedQuestions(): readonly string[] {
    return [...this.#changedQuestions];
  }

  journal(sentSoFar: { readonly logCount: number; readonly lastProgress: number | undefined }): Journal {
    const { run } = this.#journal;
    return {
      run,
      answers: this.#answers,
      steps: this.#steps,
      keys: this.#keys,
      changes: this.#changes,
      parallel: this.#parallel,
      ...sentSoFar,
    };
  }

  /** Takes what was added to the journal since the last time; undefined if nothing was. */
  takeNews(): JournalNews | undefined {
    const news = this.#news;
    if (news.steps.length + news.keys.length + news.changes.length === 0 && !news.parallel) return undefined;
    this.#news = noNews();
    return news;
  }
}

function noNews(): {
  readonly steps: [string, unknown][];
  readonly keys: [string, string][];
  readonly changes: [string, number][];
  parallel: boolean;
} {
  return { steps: [], keys: [], changes: [], parallel: false };
}

/** The error for a run that did not reach a key of an earlier run. `held` is the step that was not started because of that. */
export function keyNotReached(key: string, { held }: { readonly held?: string } = {}): McpError {
  const consequence = held === undefined ? '' : `, so "${held}" was not started`;
  return new McpError(
    'internal_error',
    `The handler did not reach "${key}" again, although an earlier run of the same call did${consequence}. A handler must ask the same questions in every run: decide only by the input, by answers and by the results of steps, and start nothing inside a step, which runs only once. A call that waited while its handler was changed in such a way cannot continue.`,
  );
}

/** The error for a question or step that was started inside a step. */
export function begunInsideStep(key: string, outer: string): McpError {
  return new McpError(
    'internal_error',
    `"${key}" was started inside the step "${outer}", which runs only once, so later runs would not reach it. Start it before or after that step.`,
  );
}
