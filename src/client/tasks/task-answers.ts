import type { JsonObject } from '../../jsonrpc/message.js';
import { answerAll, asksTooOften, neverFits, saysNo } from '../answering/answer-rounds.js';
import type { Answer } from '../model/handlers.js';

/** An answer that was accepted takes effect at once, or after a few polls where a server is slow. Then it was not one. */
const POLLS_UNTIL_REFUSED = 5;

export interface TaskAnswersParts {
  readonly answer: Answer;
  readonly maxRounds: number;
  readonly send: (answers: JsonObject) => Promise<void>;
}

interface Given {
  /** The question as it was shown. */
  readonly question: string;
  readonly response: JsonObject;
  /** How many times this question was put to the handler. */
  readonly round: number;
  /** How often the question was seen open since the server acknowledged the answer; undefined before that. */
  polls: number | undefined;
}

/**
 * The answers to a task's questions. The user is asked once for each question, also where the server was away when the answer
 * was to be sent: it is kept until the server has it.
 */
export class TaskAnswers {
  readonly #parts: TaskAnswersParts;
  readonly #given = new Map<string, Given>();

  constructor(parts: TaskAnswersParts) {
    this.#parts = parts;
  }

  /** Puts what is open and was not answered yet to the handlers. */
  async ask(questions: Readonly<Record<string, JsonObject>>, signal: AbortSignal): Promise<void> {
    for (const [key, { question }] of this.#given) {
      // An answer is to the question that was shown, not to its key.
      if (!Object.hasOwn(questions, key) || JSON.stringify(questions[key]) !== question)
        this.#given.delete(key);
    }
    const open = Object.entries(questions).filter(([key]) => this.#isUnanswered(key));
    if (open.length > 0) await this.#ask(open, signal);
  }

  /** Sends the answers that the server does not have yet. */
  async send(): Promise<void> {
    const unsent = [...this.#given].filter(([, { polls }]) => polls === undefined);
    if (unsent.length === 0) return;
    await this.#parts.send(Object.fromEntries(unsent.map(([key, { response }]) => [key, response])));
    for (const [, given] of unsent) given.polls = 0;
  }

  #isUnanswered(key: string): boolean {
    const given = this.#given.get(key);
    if (given === undefined) return true;
    if (given.polls === undefined) return false;
    return ++given.polls >= POLLS_UNTIL_REFUSED;
  }

  async #ask(open: [string, JsonObject][], signal: AbortSignal): Promise<void> {
    const { answer, maxRounds } = this.#parts;
    const rounds = new Map(open.map(([key]) => [key, (this.#given.get(key)?.round ?? 0) + 1]));
    for (const [key, round] of rounds) {
      if (round <= maxRounds) continue;
      throw saysNo((this.#given.get(key) as Given).response)
        ? asksTooOften(maxRounds)
        : neverFits([key], maxRounds);
    }
    const answers = (await answerAll(Object.fromEntries(open), answer, signal)) ?? {};
    for (const [key, question] of open) {
      this.#given.set(key, {
        question: JSON.stringify(question),
        response: answers[key] as JsonObject,
        round: rounds.get(key) as number,
        polls: undefined,
      });
    }
  }
}
