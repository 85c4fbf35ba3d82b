// Answers the questions of a server with the answers that a saved request has.

import type { ElicitForm, ElicitFormResult, Handlers, QuestionContext } from '../../client/model/handlers.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { fieldsOf } from '../../schema/read/across-branches.js';
import { cleanLine } from '../clean.js';
import type { SavedRequest } from './saved-request.js';

/** A server in a session may ask as often as it likes. */
const MAX_FORMS = 50;

/** Thrown if a question has no answer: the call ends with a sentence about it. */
export class UnansweredError extends Error {
  override readonly name = 'UnansweredError';
}

/** Answers questions while requests run, one after another. */
export class GivenAnswers {
  readonly handlers: Handlers = {
    elicit: {
      form: (form, context) => this.#stopping(() => this.#form(form, context)),
      url: ({ message }) => this.#stopping(() => this.#page(message)),
    },
  };
  #answers: SavedRequest['answers'];
  #stop = new AbortController();
  #forms = 0;
  #failure: UnansweredError | undefined;

  /** Runs a request whose questions get these answers. If one cannot be answered, the request is cancelled, and this fails. */
  async during<T>(
    { answers, signal }: { readonly answers: SavedRequest['answers']; readonly signal: AbortSignal },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    this.#answers = answers;
    this.#stop = new AbortController();
    this.#forms = 0;
    this.#failure = undefined;
    try {
      const result = await work(AbortSignal.any([signal, this.#stop.signal]));
      if (this.#failure) throw this.#failure;
      return result;
    } catch (error) {
      throw this.#failure ?? error;
    }
  }

  #stopping<T>(answer: () => T): T {
    try {
      return answer();
    } catch (error) {
      // A server of an earlier revision gets the error and continues without an answer; the request must end.
      if (error instanceof UnansweredError) {
        this.#failure ??= error;
        this.#stop.abort(error);
      }
      throw error;
    }
  }

  #form({ message, schema }: ElicitForm, { key, rejection }: QuestionContext): ElicitFormResult {
    const answers = this.#answers;
    const question = JSON.stringify(cleanLine(message, 120));
    if (typeof answers === 'string') return { action: answers };
    if (rejection !== undefined)
      throw new UnansweredError(
        `The server asked ${question} and rejected the answer: ${cleanLine(rejection, 300)}`,
      );
    if (++this.#forms > MAX_FORMS)
      throw new UnansweredError(`The server asked more than ${MAX_FORMS} questions.`);
    if (answers === undefined)
      throw new UnansweredError(`The server asked ${question}, and the request has no "answers".`);
    const { content, missing } = formContent(answers, schema, key);
    if (missing.length === 0) return { action: 'accept', content };
    const names = missing.slice(0, 10).map((name) => JSON.stringify(cleanLine(name, 60)));
    throw new UnansweredError(`The server asked ${question}, and "answers" has no ${names.join(', ')}.`);
  }

  #page(message: string): { action: 'decline' | 'cancel' } {
    if (typeof this.#answers === 'string') return { action: this.#answers };
    const question = JSON.stringify(cleanLine(message, 120));
    throw new UnansweredError(
      `The server asked ${question} and wants a page to be visited, which only a person can do. "answers": "decline" declines it.`,
    );
  }
}

/** The fields of a form that answers have, and the names of those that are required and missing. */
export function formContent(
  answers: JsonObject,
  form: JsonObject,
  key: string | undefined,
): { readonly content: JsonObject; readonly missing: readonly string[] } {
  const content: JsonObject = {};
  const missing: string[] = [];
  for (const { name, isRequired, schema } of fieldsOf(form, form)) {
    const names = key === undefined ? [name] : [`${key}.${name}`, name];
    const found = names.find((one) => Object.hasOwn(answers, one));
    if (found !== undefined) define(content, name, answers[found]);
    else if (isRequired && !(isObject(schema) && 'default' in schema)) missing.push(name);
  }
  return { content, missing };
}

// A field may be called __proto__.
function define(object: JsonObject, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
