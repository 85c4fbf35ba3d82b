// A run of a handler, and the nested run of a handler that another handler called.

import { unref } from '../../async/unref.js';
import { McpError } from '../../protocol/errors.js';
import type { EmitAny } from '../state/emitting.js';
import type { Question } from './question.js';
import type { StepTransaction } from './step-transaction.js';

/** A step, as its run has it. */
interface RunStep {
  /** A key that is the same in every run of this step. Send it to services that accept an idempotency key. */
  readonly idempotencyKey: string;
  /**
   * A transaction of the database in which the server keeps its tasks (`fullmcp/postgres`). Its statements are committed together
   * with the record of the step: exactly once. Every statement is rejected if the call is not a task, or the store has no transactions.
   */
  readonly transaction: StepTransaction;
}

/** The argument of a step's function. */
export interface Step extends RunStep {
  /**
   * Emits an event, as `ctx.emit` does. Without `eventId`, the id follows from the step, so that a step that runs again tells nothing twice,
   * if it emits the same events in the same order. In a step that uses its `transaction`, the event is committed with it.
   */
  readonly emit: EmitAny;
}

/** A step, as the context of its handler has it. */
export interface OpenStep extends RunStep {
  /** The transaction, if the function of the step has asked for it and it exists: the events of the step belong to it. */
  readonly joined: StepTransaction | undefined;
}

/** The function of a step. */
export type StepWork<T> = (step: OpenStep) => T | Promise<T>;

/** One run of a handler, as its context sees it. When the run is over, `ask` and `step` throw the reason. */
export interface Run {
  ask<T>(key: string, question: Question<T>): Promise<T>;
  step<T>(key: string, work: StepWork<T>): Promise<T>;
  /** The result of a step that an earlier run has kept; undefined if there is none. */
  known(key: string): { readonly value: unknown } | undefined;
  /** The reason why the run is over; undefined while it is running. */
  readonly reason: Error | undefined;
  /** Ends the run. Only the first reason counts. */
  end(reason?: Error): void;
  /** Called when the handler has returned or thrown. */
  close(): void;
  /** Withdraws the open questions whose keys begin with `prefix`, because the nested run that asked them is over. */
  withdraw(prefix: string, reason: Error): void;
}

/** Throws if the key of a question or step is missing. */
export function checkKey(key: unknown): void {
  if (typeof key === 'string' && key !== '') return;
  throw new McpError(
    'internal_error',
    'A question or step needs a key, a non-empty string, as its first argument: ctx.ask("size", { message, schema }), ctx.step("create", work).',
  );
}

/** Thrown at the open questions of a run that ends to ask them. Only this file makes it. */
class Suspension extends Error {
  constructor() {
    super(
      'Handler suspended: the client was asked, and the handler runs again with the answer. Rethrow this error.',
    );
    this.name = 'Suspension';
  }
}

/** Makes the error that ends a run to ask its questions. */
export function suspension(): Error {
  return new Suspension();
}

/** Whether an error ended a run to ask its questions. */
export function isSuspension(error: unknown): boolean {
  return error instanceof Suspension;
}

/** The reason of a run whose handler has returned or thrown. */
export function handlerEnded(): McpError {
  return new McpError(
    'internal_error',
    'The handler has already ended, so this question or step was not started. Await every question and step before you return.',
  );
}

/** Keeps a rejection from ending the process before it is awaited: a handler may start a question and await it later. */
export function markHandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** The number of rejections without a delay. */
const UNDELAYED = 10;
const LONGEST_DELAY_MS = 1000;

/**
 * Rejects a question or step of a run that is over. A handler that catches the error and retries forever is slowed down: without
 * a turn of the event loop in between, the handler would block everything else.
 */
export function refuse(reason: Error, refusals: number): Promise<never> {
  if (refusals <= UNDELAYED) return markHandled(Promise.reject(reason));
  const delayMs = Math.min(refusals, LONGEST_DELAY_MS);
  return markHandled(new Promise((_, reject) => unref(setTimeout(reject, delayMs, reason))));
}

/** The run of the outer handler. It is made when it is first needed: most handlers neither ask questions nor run steps. */
export interface OuterRun {
  readonly find: () => Run | undefined;
  readonly make: () => Run;
}

/** The run of a handler that another handler called. Its keys have a prefix, and it may end before the outer run does. */
export class NestedRun implements Run {
  readonly #outer: OuterRun;
  readonly #prefix: string;
  #reason: Error | undefined;
  #refusals = 0;

  constructor(outer: OuterRun, prefix: string) {
    this.#outer = outer;
    this.#prefix = prefix;
  }

  get reason(): Error | undefined {
    return this.#reason ?? this.#outer.find()?.reason;
  }

  ask<T>(key: string, question: Question<T>): Promise<T> {
    return this.#start(() => this.#outer.make().ask(this.#prefix + key, question));
  }

  step<T>(key: string, work: StepWork<T>): Promise<T> {
    return this.#start(() => this.#outer.make().step(this.#prefix + key, work));
  }

  known(key: string): { readonly value: unknown } | undefined {
    return this.#outer.find()?.known(this.#prefix + key);
  }

  #start<T>(begin: () => Promise<T>): Promise<T> {
    if (this.#reason !== undefined) return refuse(this.#reason, ++this.#refusals);
    const result = begin().then((value) => {
      if (this.#reason === undefined) return value;
      throw this.#reason;
    });
    return markHandled(result);
  }

  end(reason: Error = suspension()): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#outer.find()?.withdraw(this.#prefix, reason);
  }

  // Questions that are still open stay open: the outer run asks them.
  close(): void {
    this.#reason ??= handlerEnded();
  }

  withdraw(prefix: string, reason: Error): void {
    this.#outer.find()?.withdraw(this.#prefix + prefix, reason);
  }
}

function cannotAskHere(): never {
  throw new TypeError(
    'Only tools, prompts and resources can ask questions and run steps; completers, the "list" of a template and custom methods cannot',
  );
}

const nothing = (): undefined => undefined;

/** The run of a function that cannot ask. Spec, Multi Round-Trip Requests: only tools, prompts and resources may ask questions. */
export const cannotAsk: Run = {
  ask: cannotAskHere,
  step: cannotAskHere,
  known: nothing,
  reason: undefined,
  end: nothing,
  close: nothing,
  withdraw: nothing,
};
