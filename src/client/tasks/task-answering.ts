import type { JsonObject } from '../../jsonrpc/message.js';
import { answerAll, answersNeverFit, isRefusal, tooManyRounds } from '../answering/answer-rounds.js';
import type { AnswerQuestion } from '../model/handlers.js';

// Answers the questions of a task.

/** A question that is still open after this many polls counts as asked again: a server accepts an answer within a few polls. */
const POLLS_UNTIL_REFUSED = 5;

export interface TaskAnsweringParts {
  readonly answer: AnswerQuestion;
  readonly maxRounds: number;
  readonly send: (answers: JsonObject) => Promise<void>;
}

interface TaskAnswer {
  /** The question that was answered, as JSON. */
  readonly question: string;
  readonly response: JsonObject;
  /** The number of times that the handler was asked this question. */
  readonly round: number;
  /** The number of polls that still had the question open after the server acknowledged the answer; undefined before that. */
  polls: number | undefined;
}

/**
 * Answers the questions of a task. The user is asked once for each question: an answer is kept until the server has received
 * it, even if the server is unavailable in the meantime.
 */
export class TaskAnswering {
  readonly #parts: TaskAnsweringParts;
  readonly #answers = new Map<string, TaskAnswer>();

  constructor(parts: TaskAnsweringParts) {
    this.#parts = parts;
  }

  /** Asks the handlers the open questions that have no answer yet. */
  async ask(questions: Readonly<Record<string, JsonObject>>, signal: AbortSignal): Promise<void> {
    for (const [key, { question }] of this.#answers) {
      // An answer belongs to the question itself, not to its key.
      if (!Object.hasOwn(questions, key) || JSON.stringify(questions[key]) !== question)
        this.#answers.delete(key);
    }
    const open = Object.entries(questions).filter(([key]) => this.#isUnanswered(key));
    if (open.length > 0) await this.#ask(open, signal);
  }

  /** Sends the answers that the server does not have yet. */
  async send(): Promise<void> {
    const unsent = [...this.#answers].filter(([, { polls }]) => polls === undefined);
    if (unsent.length === 0) return;
    await this.#parts.send(Object.fromEntries(unsent.map(([key, { response }]) => [key, response])));
    for (const [, answer] of unsent) answer.polls = 0;
  }

  #isUnanswered(key: string): boolean {
    const answer = this.#answers.get(key);
    if (answer === undefined) return true;
    if (answer.polls === undefined) return false;
    return ++answer.polls >= POLLS_UNTIL_REFUSED;
  }

  async #ask(open: [string, JsonObject][], signal: AbortSignal): Promise<void> {
    const { answer, maxRounds } = this.#parts;
    const rounds = new Map(open.map(([key]) => [key, (this.#answers.get(key)?.round ?? 0) + 1]));
    for (const [key, round] of rounds) {
      if (round <= maxRounds) continue;
      throw isRefusal((this.#answers.get(key) as TaskAnswer).response)
        ? tooManyRounds(maxRounds)
        : answersNeverFit([key], maxRounds);
    }
    const answers = (await answerAll(Object.fromEntries(open), answer, signal)) ?? {};
    for (const [key, question] of open) {
      this.#answers.set(key, {
        question: JSON.stringify(question),
        response: answers[key] as JsonObject,
        round: rounds.get(key) as number,
        polls: undefined,
      });
    }
  }
}
