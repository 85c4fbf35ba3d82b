// The questions of a run whose answers the handler does not have yet.

import type { InputRequest } from '../../protocol/model/input.js';
import type { Question } from './question.js';
import type { ReplayState } from './replay-state.js';
import { markHandled } from './run.js';

/** A question that has no answer yet. */
export interface OpenQuestion {
  readonly request: InputRequest;
  /** Passes an answer to the handler, which continues. Returns false if the answer is not valid for the question. */
  readonly answer: (response: unknown) => boolean;
}

/** The run that asks the questions. */
interface AskingRun {
  readonly isOver: () => boolean;
  /** Called when a question is opened. */
  readonly onOpen: () => void;
  /** Called before the reason is thrown at a question of the handler. */
  readonly onReject: () => void;
}

/** The questions of a run whose answers the handler does not have yet. */
export class OpenQuestions {
  readonly #state: ReplayState;
  readonly #run: AskingRun;
  readonly #open = new Map<string, OpenQuestion>();
  /** Rejects the promise of each question. */
  readonly #rejects = new Map<string, (reason: Error) => void>();

  constructor(state: ReplayState, run: AskingRun) {
    this.#state = state;
    this.#run = run;
  }

  /** The questions that have no answer yet, by key. */
  get open(): ReadonlyMap<string, OpenQuestion> {
    return this.#open;
  }

  /** Opens a question. Resolves with its answer. */
  ask<T>(key: string, question: Question<T>): Promise<T> {
    const answered = new Promise<T>((resolve, reject) => {
      this.#rejects.set(key, (reason) => {
        this.#run.onReject();
        reject(reason);
      });
      const open: OpenQuestion = {
        request: question.request,
        answer: (response) => {
          const result = question.read(response);
          if (!result.ok || this.#run.isOver()) return false;
          this.#state.keepAnswer(key, response);
          this.#open.delete(key);
          this.#rejects.delete(key);
          resolve(result.value);
          return true;
        },
      };
      this.#open.set(key, open);
      this.#run.onOpen();
    });
    return markHandled(answered);
  }

  /** Throws `reason` at all questions. Those that are open stay open, for the client to answer. */
  rejectAll(reason: Error): void {
    for (const reject of this.#rejects.values()) reject(reason);
    this.#rejects.clear();
  }

  /** Closes the questions whose keys begin with `prefix`, and throws `reason` at them. */
  withdraw(prefix: string, reason: Error): void {
    for (const [key, reject] of [...this.#rejects]) {
      if (!key.startsWith(prefix)) continue;
      this.#rejects.delete(key);
      this.#open.delete(key);
      reject(reason);
    }
  }
}
