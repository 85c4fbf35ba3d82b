// A question of the server that waits for the page.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { QuestionView } from '../contract/story.js';

/** A question without what happens to it later. */
export type QuestionInit = Pick<
  QuestionView,
  'id' | 'key' | 'round' | 'kind' | 'message' | 'schema' | 'url' | 'sampling'
>;

export class QuestionRecord {
  readonly asked: QuestionInit;
  #at = Date.now();
  #answeredAt: number | undefined;
  #answer: JsonObject | undefined;
  #rejection: string | undefined;
  #gone: string | undefined;
  #isRemembered = false;
  #resolve: ((answer: JsonObject) => void) | undefined;
  #reject: ((reason: Error) => void) | undefined;

  constructor(asked: QuestionInit) {
    this.asked = asked;
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
      ...(this.#answeredAt !== undefined && { answeredAt: this.#answeredAt }),
      ...(this.#rejection !== undefined && { rejection: this.#rejection }),
      ...(this.#answer && { answer: this.#answer }),
      ...(this.#isRemembered && { isRemembered: true }),
      ...(this.#gone !== undefined && { gone: this.#gone }),
    };
  }
}
