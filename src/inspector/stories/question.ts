// A question of the server that waits for the page.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { QuestionView } from '../contract/story.js';

/** A question without what happens to it later. */
export type QuestionInit = Pick<
  QuestionView,
  'id' | 'key' | 'round' | 'kind' | 'message' | 'schema' | 'url' | 'sampling'
>;

/** The part of a story that its questions need. */
export interface QuestionOwner {
  readonly id: number;
  readonly connection: string;
  readonly title: string;
  readonly clock: { readonly begin: () => void; readonly answered: () => void };
  readonly removeQuestion: (question: QuestionRecord) => void;
  readonly changed: () => void;
  /** The answer that a saved request has for a question. */
  readonly answerFor?: ((question: QuestionInit) => JsonObject | undefined) | undefined;
}

/** A question of an earlier visit: it is over, whatever became of it. */
export type PastQuestion = Pick<QuestionView, 'at' | 'answeredAt' | 'answer' | 'gone'>;

export class QuestionRecord {
  readonly asked: QuestionInit;
  /** The calls that show it: the one that asks, or those that may. */
  owners: readonly QuestionOwner[];
  #at = Date.now();
  #answeredAt: number | undefined;
  #answer: JsonObject | undefined;
  #rejection: string | undefined;
  #gone: string | undefined;
  #isRemembered = false;
  #resolve: ((answer: JsonObject) => void) | undefined;
  #reject: ((reason: Error) => void) | undefined;

  constructor(asked: QuestionInit, owners: readonly QuestionOwner[], past?: PastQuestion) {
    this.asked = asked;
    this.owners = owners;
    if (past === undefined) return;
    this.#at = past.at;
    this.#answeredAt = past.answeredAt;
    this.#answer = past.answer;
    this.#gone = past.gone ?? (past.answeredAt === undefined ? 'the call is over' : undefined);
  }

  /** Takes it out of a call that has not asked it. */
  disown(story: QuestionOwner): void {
    this.owners = this.owners.filter((owner) => owner !== story);
    story.removeQuestion(this);
    for (const owner of this.owners) owner.changed();
  }

  get isOpen(): boolean {
    return this.#answeredAt === undefined && this.#gone === undefined;
  }

  /** The answer so far. */
  get answer(): JsonObject | undefined {
    return this.#answer;
  }

  /** Waits for the page. A rejected question is asked again. */
  wait(rejection?: string): Promise<JsonObject> {
    if (rejection !== undefined) {
      this.#answeredAt = undefined;
      this.#isRemembered = false;
      this.#rejection = rejection.slice(0, 5000);
    }
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  settle(answer: JsonObject, isRemembered = false): void {
    this.#answer = answer;
    this.#answeredAt = Date.now();
    this.#isRemembered = isRemembered;
    this.#rejection = undefined;
    this.#resolve?.(answer);
  }

  /** Nobody needs the answer any more. */
  leave(why: string, reason: Error): void {
    if (!this.isOpen) return;
    this.#gone = why.slice(0, 2000);
    this.#reject?.(reason);
  }

  get view(): QuestionView {
    return {
      ...this.asked,
      at: this.#at,
      ...(this.owners.length > 1 && {
        mayBeOf: this.owners.map(({ id, title }) => ({ story: id, title })),
      }),
      ...(this.#answeredAt !== undefined && { answeredAt: this.#answeredAt }),
      ...(this.#rejection !== undefined && { rejection: this.#rejection }),
      ...(this.#answer && { answer: this.#answer }),
      ...(this.#isRemembered && { isRemembered: true }),
      ...(this.#gone !== undefined && { gone: this.#gone }),
    };
  }
}
