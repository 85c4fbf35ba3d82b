import type { JsonObject } from '../../jsonrpc/message.js';
import { assertJson } from '../../protocol/encoding/json-value.js';
import { McpError } from '../../protocol/errors.js';
import type { InputRequest } from '../../protocol/model/input.js';
import { type Journal, writeJournal } from './journal.js';
import type { Question } from './question.js';
import { questionDigest } from './question-digest.js';
import { checkKey } from './run.js';
import { sizeOf } from './size.js';

export interface ReplayStateOptions {
  /** The answers that came with this round. */
  readonly answers: JsonObject;
  /** What the journal may grow to. */
  readonly maxBytes: number;
}

interface Use {
  /** What is asked; a step asks nothing. */
  readonly request: InputRequest | undefined;
  /** Whether another question or step has begun and not ended. */
  readonly beside: boolean;
}

// What a key takes in the journal besides itself: quotes, brackets and a digest.
const KEY_OVERHEAD = 32;

// What a question says may have changed while the user thought. A question that says something else in every run is a mistake.
const MAX_CHANGES = 3;

/** What a run knows: the journal of the earlier rounds, the answers of this one, and which keys it has come to. */
export class ReplayState {
  readonly #journal: Journal;
  readonly #newAnswers: JsonObject;
  readonly #maxBytes: number;
  #bytes: number;
  readonly #answers: Map<string, unknown>;
  readonly #steps: Map<string, unknown>;
  /** Answers that are in the journal, and that the handler must not find yet. */
  readonly #heldAnswers = new Map<string, unknown>();
  /** The keys of all rounds, and those of this one. */
  readonly #keys: Map<string, string>;
  readonly #usedKeys = new Set<string>();
  readonly #changes: Map<string, number>;
  readonly #changedQuestions = new Set<string>();
  #parallel: boolean;

  constructor(journal: Journal, { answers: given, maxBytes }: ReplayStateOptions) {
    this.#journal = journal;
    this.#newAnswers = given;
    this.#maxBytes = maxBytes;
    this.#bytes =
      maxBytes === Number.POSITIVE_INFINITY ? 0 : sizeOf(JSON.stringify([writeJournal(journal), given]));
    this.#answers = new Map(journal.answers);
    this.#steps = new Map(journal.steps);
    this.#keys = new Map(journal.keys);
    this.#changes = new Map(journal.changes);
    this.#parallel = journal.parallel;
    // This round may end before it comes to a question that is answered now.
    for (const key of journal.keys.keys()) {
      if (Object.hasOwn(given, key) && !this.#answers.has(key)) this.#answers.set(key, given[key]);
    }
  }

  /** Takes a key for a question or a step. It is the name of one: a second use would get the first one's answer. */
  claim(key: string, { request, beside }: Use): void {
    checkKey(key);
    if (this.#usedKeys.has(key)) {
      throw new McpError(
        'internal_error',
        `The key "${key}" is used twice in one run. Give each question and step its own.`,
      );
    }
    this.#parallel ||= beside;
    if (!this.#keys.has(key)) this.#bytes += 2 * key.length + KEY_OVERHEAD;
    this.#usedKeys.add(key);
    this.#keys.set(key, request === undefined ? '' : questionDigest(this.#journal.run, request));
  }

  /** Why nothing more can be kept, if that is so. */
  sizeProblem(key: string): McpError | undefined {
    if (this.#bytes <= this.#maxBytes) return undefined;
    return new McpError(
      'internal_error',
      `The answers and step results of this run have ${this.#bytes} bytes, and asking.maxBytes is ${this.#maxBytes}, so "${key}" was not begun. Return less from steps: an id instead of a document.`,
    );
  }

  /**
   * The answer to a question that was taken, if it is known. What was answered before stays so; an answer that no longer fits
   * gives way to the one that was just given.
   */
  answerTo<T>(key: string, question: Question<T>): { readonly value: T } | undefined {
    const previousDigest = this.#journal.keys.get(key);
    const newAnswer = Object.hasOwn(this.#newAnswers, key) ? this.#newAnswers[key] : undefined;
    const candidates = [this.#answers.get(key), newAnswer].filter((answer) => answer !== undefined);
    // A client that answers in the first round was shown nothing, and answers whatever is asked.
    const isAnswered = this.#isSameQuestion(key) || this.#journal.keys.size === 0;
    if (!isAnswered && previousDigest !== undefined && candidates.length > 0) {
      this.#changedQuestions.add(key);
      this.#changes.set(key, (this.#changes.get(key) ?? 0) + 1);
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

  /** Why a question is not asked once more, if it was changed too often. */
  changeProblem(key: string): McpError | undefined {
    const changes = this.#changes.get(key) ?? 0;
    if (changes <= MAX_CHANGES) return undefined;
    return new McpError(
      'internal_error',
      `The question "${key}" was answered ${changes} times, and each time the handler then asked it in other words. Take what it says from the input, from answers and from the results of steps.`,
    );
  }

  keepAnswer(key: string, response: unknown): void {
    this.#answers.set(key, response);
  }

  /** Keeps an answer to a question that the handler has not come to: in the journal, but not for the handler. */
  holdAnswer(key: string, response: unknown): void {
    this.#heldAnswers.set(key, response);
  }

  /** Ends that. False if the handler has come to the question since, and asks something else than the client was shown. */
  releaseAnswer(key: string): boolean {
    this.#heldAnswers.delete(key);
    return this.#isSameQuestion(key);
  }

  #isSameQuestion(key: string): boolean {
    return this.#journal.keys.get(key) === this.#keys.get(key);
  }

  dropAnswer(key: string): void {
    this.#answers.delete(key);
  }

  hasUsed(key: string): boolean {
    return this.#usedKeys.has(key);
  }

  resultOf(key: string): { readonly value: unknown } | undefined {
    return this.#steps.has(key) ? { value: this.#steps.get(key) } : undefined;
  }

  /** Keeps what a step gave, as JSON, and gives what later rounds will get. */
  keepResult(key: string, result: unknown): unknown {
    assertJson(result, `The result of the step "${key}" cannot be kept`);
    const json = JSON.stringify(result) ?? 'null';
    const stored: unknown = JSON.parse(json);
    this.#steps.set(key, stored);
    this.#bytes += sizeOf(json);
    return stored;
  }

  idempotencyKey(key: string): string {
    return `${this.#journal.run}:${key}`;
  }

  /**
   * The key that a run which waits at these questions has passed by, if that is certain. In a handler that does one thing after
   * the other, whatever was before the open question has been, or will never be. Where things go on side by side, a slow branch
   * may still come to its key.
   */
  skippedKey(open: ReadonlyMap<string, unknown>): string | undefined {
    if (this.#parallel) return undefined;
    for (const key of this.#journal.keys.keys()) {
      if (open.has(key)) return undefined;
      if (!this.#usedKeys.has(key)) return key;
    }
    return undefined;
  }

  /** The key of an earlier round that this round did not come to, if there is one. */
  get missedKey(): string | undefined {
    for (const key of this.#journal.keys.keys()) if (!this.#usedKeys.has(key)) return key;
    return undefined;
  }

  /** The questions that were answered, and are asked again because they are not the same any more. */
  get changedQuestions(): readonly string[] {
    return [...this.#changedQuestions];
  }

  journal(sentSoFar: { readonly logged: number; readonly reached: number | undefined }): Journal {
    const { run } = this.#journal;
    const held = [...this.#heldAnswers].filter(([key]) => this.#isSameQuestion(key));
    return {
      run,
      answers: held.length === 0 ? this.#answers : new Map([...this.#answers, ...held]),
      steps: this.#steps,
      keys: this.#keys,
      changes: this.#changes,
      parallel: this.#parallel,
      ...sentSoFar,
    };
  }
}

/** A run that did not come to a key again. */
export function keyNotReached(key: string): McpError {
  return new McpError(
    'internal_error',
    `The handler did not come to "${key}" again, which an earlier run of the same call did. It must ask the same in every run: decide by the input, by answers and by the results of steps, and begin nothing inside a step, which runs only once.`,
  );
}

/** A question or step that was begun by the function of a step. */
export function begunInsideStep(key: string, outer: string): McpError {
  return new McpError(
    'internal_error',
    `"${key}" was begun inside the step "${outer}", which runs only once, so that later runs would not come to it. Begin it before or after that step.`,
  );
}
