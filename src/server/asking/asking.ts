import type { JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { InputRequest } from '../../protocol/input.js';
import { type Journal, newJournal } from './journal.js';
import type { Question } from './question.js';

/** Thrown at the open questions to end a run. Nobody outside can make or recognise it. */
class Suspension extends Error {
  constructor() {
    super('The run ends here: the client was asked and will call again. Let this pass.');
    this.name = 'Suspension';
  }
}

/** What each step's function is given: a key that is the same however often the step has to run. */
export interface Step {
  readonly idempotencyKey: string;
}

/** What becomes of questions that nobody has answered yet. */
export interface Waiting {
  /** Called when the handler can do nothing but wait. `reject` ends the run; not calling it leaves the handler waiting. */
  readonly settle: (open: ReadonlyMap<string, OpenQuestion>) => void;
  /** A step has ended and is in the journal, which is to be kept. */
  readonly record?: () => Promise<unknown>;
}

export interface OpenQuestion {
  readonly request: InputRequest;
  /** Takes an answer and gives what lets the handler go on with it; undefined if it is not one. */
  readonly answer: (response: unknown) => (() => void) | undefined;
  readonly suspend: () => void;
}

/** Ends the run: every open question throws. */
const endRun: Waiting = {
  settle(open) {
    for (const { suspend } of open.values()) suspend();
  },
};

/**
 * The questions and steps of one run of a handler. Known keys return at once; the first unknown one leaves the run waiting
 * until everything else that goes on beside it has come to rest, so that questions asked together go out together.
 */
export class Asking {
  readonly #journal: Journal;
  readonly #given: JsonObject;
  #waiting: Waiting;
  readonly #answers: Map<string, unknown>;
  readonly #steps: Map<string, unknown>;
  readonly #asked = new Set<string>();
  readonly #open = new Map<string, OpenQuestion>();
  #busy = 0;
  #suspended = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(journal: Journal = newJournal(), given: JsonObject = {}, waiting: Waiting = endRun) {
    this.#journal = journal;
    this.#given = given;
    this.#waiting = waiting;
    this.#answers = new Map(journal.answers);
    this.#steps = new Map(journal.steps);
  }

  /** From now on open questions are dealt with in this way. */
  waitWith(waiting: Waiting): void {
    this.#waiting = waiting;
  }

  /** Whether the run was ended because of its questions: what the handler did after that does not count. */
  get suspended(): boolean {
    return this.#suspended;
  }

  get open(): ReadonlyMap<string, OpenQuestion> {
    return this.#open;
  }

  ask<T>(key: string, question: Question<T>): Promise<T> {
    this.#take(key);
    const known = this.#answers.get(key) ?? (Object.hasOwn(this.#given, key) ? this.#given[key] : undefined);
    const read = known === undefined ? undefined : question.read(known);
    if (read?.ok) {
      this.#answers.set(key, known);
      return Promise.resolve(read.value);
    }
    const answered = new Promise<T>((resolve, reject) => {
      this.#open.set(key, {
        request: question.request,
        answer: (response) => {
          const late = question.read(response);
          if (!late.ok) return undefined;
          this.#answers.set(key, response);
          this.#open.delete(key);
          return () => resolve(late.value);
        },
        suspend: () => {
          this.#suspended = true;
          reject(new Suspension());
        },
      });
      this.#rest();
    });
    return unattended(answered);
  }

  /** Keeps an answer to a question of an earlier run that this one has not come to yet; false if it has. */
  expect(key: string, response: unknown): boolean {
    if (this.#asked.has(key)) return false;
    this.#answers.set(key, response);
    return true;
  }

  async step<T>(key: string, work: (step: Step) => T | Promise<T>): Promise<T> {
    this.#take(key);
    if (this.#steps.has(key)) return this.#steps.get(key) as T;
    this.#busy++;
    try {
      const result = await work({ idempotencyKey: `${this.#journal.run}:${key}` });
      // What later rounds will get, this round gets too.
      const kept = result === undefined ? null : (JSON.parse(JSON.stringify(result)) as unknown);
      this.#steps.set(key, kept);
      await this.#waiting.record?.();
      return (result === undefined ? result : kept) as T;
    } finally {
      this.#busy--;
      this.#rest();
    }
  }

  // A key is the name of one question or step; a second use would get the first one's answer.
  #take(key: string): void {
    if (typeof key !== 'string' || key === '')
      throw new McpError('internal_error', 'A question or step needs a key');
    if (this.#asked.has(key)) {
      throw new McpError(
        'internal_error',
        `The key "${key}" is used twice in one run. Give each question and step its own.`,
      );
    }
    this.#asked.add(key);
  }

  // A turn of the event loop without a new question or a running step: the handler has come to rest.
  #rest(): void {
    clearTimeout(this.#timer);
    if (this.#open.size === 0 || this.#busy > 0) return;
    this.#timer = setTimeout(() => {
      if (this.#busy === 0 && this.#open.size > 0) this.#waiting.settle(this.#open);
    }, 0);
  }

  /** The key of an earlier round that this round did not come to, if there is one. */
  get forgotten(): string | undefined {
    for (const key of this.#journal.asked) if (!this.#asked.has(key)) return key;
    for (const key of this.#journal.steps.keys()) if (!this.#asked.has(key)) return key;
    return undefined;
  }

  /** The journal as it stands, for the next round. */
  journal(said: { readonly logged: number; readonly reached: number | undefined }): Journal {
    const asked = new Set([...this.#asked].filter((key) => !this.#steps.has(key)));
    return { run: this.#journal.run, answers: this.#answers, steps: this.#steps, asked, ...said };
  }
}

/** The end of a run is no failure, also where the handler has not come to awaiting this promise. */
export function unattended<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

export function isSuspension(error: unknown): boolean {
  return error instanceof Suspension;
}
