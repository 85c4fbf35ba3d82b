import { hasEnded, onEnd } from '../../async/lifetime.js';
import type { Call } from '../../protocol/call.js';
import { cancelledBy } from '../../protocol/errors.js';
import { progressToken } from '../../protocol/meta.js';
import { type Fact, factOf, ObservedCall } from './observed-call.js';
import type { ToldProgress } from './progress.js';

// The calls that run at the moment. Others with the same key wait for their results.

/** The end of a run, for the calls that wait for it. */
export type RunEnd =
  | {
      /** There is nothing for others: the caller has left, so that another one has to run the call. */
      readonly kind: 'left';
    }
  | {
      /** The outcome is for its own caller alone: each of the others makes its call. */
      readonly kind: 'alone';
    }
  | {
      /** The call has failed. Others of the same caller fail, too. */
      readonly kind: 'error';
      readonly error: unknown;
    }
  | {
      /** The call has a result: for all callers, or for others of the same caller. */
      readonly kind: 'result';
      readonly json: string;
      readonly isPublic: boolean;
    };

/** The call that a run makes. */
export interface RunParts {
  readonly call: Call;
  /** The key that other calls find the run with; undefined if none may. */
  readonly key: string | undefined;
  /** The name of the caller; undefined if it cannot be told from others. */
  readonly owner: string | undefined;
  /** The name with everything that is known about the caller. */
  readonly context: string | undefined;
}

/** A call that runs. */
export class SharedRun {
  readonly parts: RunParts;
  readonly observed: ObservedCall;
  /** Whether something has changed since the run began, so that its result must not be kept. */
  isStale = false;
  readonly ended: Promise<RunEnd>;
  #end!: (end: RunEnd) => void;
  /** The calls that wait, each with whether it is one of the same caller. */
  readonly #waiting = new Map<ToldProgress, boolean>();

  constructor(parts: RunParts) {
    this.parts = parts;
    this.observed = new ObservedCall(parts.call, (progress) => {
      for (const [told, isSameCaller] of this.#waiting) told.tell(progress, isSameCaller);
    });
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Tells the calls that wait. */
  end(end: RunEnd): void {
    this.#end(end);
  }

  /** Waits for the end of the run, until the call itself ends. Meanwhile, the call is told about the progress of the run. */
  async wait(call: Call, told: ToldProgress, isSameCaller: boolean): Promise<RunEnd> {
    this.#waiting.set(told, isSameCaller);
    try {
      return await untilEnd(this.ended, call);
    } finally {
      this.#waiting.delete(told);
    }
  }

  /** Whether the run has read only facts that are the same for another call. */
  isLike(call: Call): boolean {
    return [...this.observed.facts].every(
      (fact: Fact) => factOf(call, fact) === factOf(this.parts.call, fact),
    );
  }
}

/** The calls that run at the moment. */
export class Runs {
  readonly #all = new Set<SharedRun>();
  readonly #joinable = new Map<string, SharedRun>();

  /** The run that a call with this key can wait for. A call that wants progress waits only for one that reports it. */
  find(key: string, call: Call): SharedRun | undefined {
    const reporting = this.#joinable.get(reportingKey(key));
    return progressToken(call.params) === undefined ? (this.#joinable.get(key) ?? reporting) : reporting;
  }

  /** Begins a run. If its caller leaves, the calls that wait for it are told at once. */
  begin(parts: RunParts): { readonly run: SharedRun; readonly finish: () => void } {
    const run = new SharedRun(parts);
    const { call } = parts;
    const key = joinKeyOf(parts);
    this.#all.add(run);
    if (key !== undefined && !this.#joinable.has(key)) this.#joinable.set(key, run);
    const leave = (): void => {
      this.#hide(run);
      run.end({ kind: 'left' });
    };
    const forget = hasEnded(call) ? undefined : onEnd(call, leave);
    if (forget === undefined) leave();
    const finish = (): void => {
      forget?.();
      this.#hide(run);
      this.#all.delete(run);
    };
    return { run, finish };
  }

  /** The results of these runs are not kept, and calls that come from now on do not wait for them. */
  outdate(isStale: (run: RunParts) => boolean): void {
    for (const run of this.#all) {
      if (!isStale(run.parts)) continue;
      run.isStale = true;
      this.#hide(run);
    }
  }

  #hide(run: SharedRun): void {
    const key = joinKeyOf(run.parts);
    if (key !== undefined && this.#joinable.get(key) === run) this.#joinable.delete(key);
  }
}

/** The handler of a call without a progress token reports nothing, so that such runs have other keys. */
function joinKeyOf({ call, key }: RunParts): string | undefined {
  return key === undefined || progressToken(call.params) === undefined ? key : reportingKey(key);
}

function reportingKey(key: string): string {
  return `progress\n${key}`;
}

function untilEnd(ended: Promise<RunEnd>, call: Call): Promise<RunEnd> {
  if (hasEnded(call)) throw cancelledBy(call.signal.reason);
  return new Promise((resolve, reject) => {
    const forget = onEnd(call, () => reject(cancelledBy(call.signal.reason)));
    void ended.then((end) => {
      forget();
      resolve(end);
    });
  });
}
