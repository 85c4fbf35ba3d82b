// The steps of a run.

import { type StepResult, stepResult } from './journal.js';
import type { ReplayState } from './replay-state.js';
import type { OpenStep, StepWork } from './run.js';
import {
  noTask,
  type PendingTransaction,
  refusedTransaction,
  type StepTransaction,
} from './step-transaction.js';
import type { Suspender } from './suspender.js';

/** The run that the steps belong to. */
export interface StepsRun {
  readonly suspender: () => Suspender | undefined;
  /** Whether the run is over: no step starts any more. */
  readonly isOver: () => boolean;
  /** Ends the run, because a step could not be saved. */
  readonly end: (reason: Error) => void;
  /** Called when a step has ended. */
  readonly onEnd: () => void;
}

/** The steps of a run that are running. */
export class Steps {
  readonly #state: ReplayState;
  readonly #run: StepsRun;
  #running = 0;
  #current: string | undefined;
  #idleListeners: (() => void)[] = [];

  constructor(state: ReplayState, run: StepsRun) {
    this.#state = state;
    this.#run = run;
  }

  /** Whether a step is running, or its result is being saved. */
  get areRunning(): boolean {
    return this.#running > 0;
  }

  /** The step whose function is being called. After the function's first `await` its calls look like those of the handler. */
  get current(): string | undefined {
    return this.#current;
  }

  /** Resolves when no step is running: each step has been saved or has failed. */
  idle(): Promise<void> {
    return this.#running === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.#idleListeners.push(resolve));
  }

  /** Runs a step whose key is claimed, and saves its result. Returns undefined if the run is over. */
  async run<T>(key: string, work: StepWork<T>): Promise<{ readonly value: T } | undefined> {
    const { suspender, isOver, onEnd } = this.#run;
    this.#running++;
    try {
      while (!isOver()) {
        const ready = suspender()?.beforeStep?.();
        if (ready !== undefined) await ready;
        const done = isOver() ? undefined : await this.#try(key, work);
        if (done !== undefined) return isOver() ? undefined : done;
      }
      return undefined;
    } catch (error) {
      if (isOver()) return undefined;
      throw error;
    } finally {
      this.#running--;
      if (this.#running === 0) for (const resolve of this.#idleListeners.splice(0)) resolve();
      onEnd();
    }
  }

  /** Runs a step once. Returns undefined if the database ended the step's transaction: the step must run again. */
  async #try<T>(key: string, work: StepWork<T>): Promise<{ readonly value: T } | undefined> {
    const { suspender } = this.#run;
    const step = new RunningStep(key, this.#state.idempotencyKey(key), suspender);
    let result: T;
    let kept: StepResult;
    try {
      result = await this.#call(step, work);
      kept = stepResult(key, result);
    } catch (error) {
      if ((await step.used?.rollBack(error)) === true) return undefined;
      throw error;
    }
    if (step.used === undefined) {
      this.#state.keepResult(key, kept);
      await this.#save();
    } else {
      if (!(await step.used.commit(key, kept.value))) return undefined;
      this.#state.keepResult(key, kept, { isSaved: true });
    }
    // This round gets the same value as later rounds.
    return { value: (result === undefined ? result : kept.value) as T };
  }

  #call<T>(step: RunningStep, work: StepWork<T>): T | Promise<T> {
    const outer = this.#current;
    this.#current = step.key;
    try {
      return work(step);
    } finally {
      this.#current = outer;
    }
  }

  async #save(): Promise<void> {
    const { suspender, end } = this.#run;
    try {
      await suspender()?.onStep?.();
    } catch (error) {
      // Nothing more may start, even if the handler catches the error: nothing would record a further step, which could run twice.
      end(error instanceof Error ? error : new Error('The journal could not be saved', { cause: error }));
    }
  }
}

/** The argument of a step's function. The transaction is made when it is first read: few steps use it. */
class RunningStep implements OpenStep {
  readonly key: string;
  readonly idempotencyKey: string;
  readonly #suspender: () => Suspender | undefined;
  #pending: PendingTransaction | undefined;

  constructor(key: string, idempotencyKey: string, suspender: () => Suspender | undefined) {
    this.key = key;
    this.idempotencyKey = idempotencyKey;
    this.#suspender = suspender;
  }

  get transaction(): StepTransaction {
    this.#pending ??= this.#suspender()?.transaction?.(this.key) ?? refusedTransaction(noTask(this.key));
    return this.#pending.transaction;
  }

  get joined(): StepTransaction | undefined {
    return this.#pending?.isRefused === true ? undefined : this.#pending?.transaction;
  }

  /** The transaction, if the step has used it. */
  get used(): PendingTransaction | undefined {
    return this.#pending?.isUsed === true ? this.#pending : undefined;
  }
}
