import type { Call, Outcome } from '../../protocol/call.js';
import { isInputRequired } from '../asking/input-required.js';
import { newJournal } from '../asking/journal.js';
import { Replay } from '../asking/replay.js';
import type { Run } from '../asking/run.js';
import type { Seal } from '../asking/sealed-state.js';
import { CallContext, type Given, type Services } from '../context/call-context.js';
import type { ClientFacts } from '../context/context.js';
import type { CallerFacts } from '../define/options.js';
import type { Complete } from '../results/results.js';
import type { LifespanRun } from '../state/lifespan.js';
import type { Log } from '../state/log.js';
import { unknownCallerWarning } from '../state/unknown-callers.js';
import { conductor, isContinued, type What } from './rounds.js';
import type { Background } from './task-host.js';

export interface StageParts {
  readonly running: LifespanRun<never>;
  readonly user: ((facts: CallerFacts<never>) => unknown) | undefined;
  readonly seal: Seal;
  readonly complete: Complete;
  readonly log: Log;
}

/** A handler to run for a call, and what to make of its value. */
export interface Performance<T> extends What {
  readonly run: (ctx: CallContext<never, never>) => T | Promise<T>;
  readonly finish: (value: T) => Outcome;
}

/** What a handler is given beside its call: made once, also where it calls others. */
export type Prepared = Pick<Given<never, never>, 'state' | 'user' | 'logs'>;

/** Where handlers run: with their state, their user, and their questions. */
export interface Stage {
  /** Runs a handler that may ask. The outcome is there at once where nothing had to be awaited. */
  readonly perform: <T>(
    call: Call,
    performance: Performance<T>,
    background?: Background,
  ) => Outcome | Promise<Outcome>;
  /** Makes the state and the user of a call, for a handler that runs later. */
  readonly prepare: (call: Call) => Promise<Prepared>;
  /** Called when something of a call is kept for later. */
  readonly keeping: (call: Call) => void;
  /** Runs a handler whose questions and steps belong to another run, or to a task. */
  readonly within: <T>(
    call: Call,
    asking: Run,
    run: (ctx: CallContext<never, never>) => Promise<T>,
    prepared?: Prepared,
  ) => Promise<T>;
}

/** How a handler's run ended: with a value, or with an error. */
interface Ended<T> {
  readonly performance: Performance<T>;
  readonly value?: T;
  readonly error?: unknown;
}

function threwNothing(): Error {
  return new Error('The handler threw nothing');
}

const nothingGiven: Given<never, never> = { state: undefined as never, user: undefined as never };

export function createStage(parts: StageParts, services: () => Services): Stage {
  const { running, log, complete, seal } = parts;
  const keeping = unknownCallerWarning(parts.user !== undefined, log);
  const conduct = conductor({ keeping, seal, complete, log });
  // Nothing is awaited where nothing has to be: most servers have neither a lifespan nor a user.
  const unprepared = !running.hasLifespan && parts.user === undefined;

  async function prepare(call: Call): Promise<Prepared> {
    if (unprepared) return nothingGiven;
    const state = await running.start();
    if (parts.user === undefined) return { state, user: undefined as never };
    const client: ClientFacts = new CallContext(call, services(), nothingGiven).client;
    const user = await parts.user({
      auth: call.auth,
      state,
      client,
      request: call.http,
      signal: call.signal,
    });
    return { state, user: user as never };
  }

  // A handler that asks nothing, on a server that prepares nothing, is run without a promise more than its own.
  function perform<T>(
    call: Call,
    performance: Performance<T>,
    background?: Background,
  ): Outcome | Promise<Outcome> {
    if (unprepared && background === undefined && performance.runId === undefined && !isContinued(call)) {
      return run(call, new CallContext(call, services(), nothingGiven), performance);
    }
    return performPrepared(call, performance, background);
  }

  async function performPrepared<T>(
    call: Call,
    performance: Performance<T>,
    background: Background | undefined,
  ): Promise<Outcome> {
    const given = await prepare(call);
    const continued = isContinued(call)
      ? await conduct.resume(call, performance)
      : named(performance, seal.maxBytes);
    const ctx = new CallContext(
      call,
      services(),
      continued === undefined ? given : { ...given, ...continued },
    );
    if (background === undefined) return run(call, ctx, performance);
    // The call ends when the handler does, or when it goes on without it.
    return new Promise((resolve, reject) => {
      let end!: (outcome: Outcome | Promise<Outcome>) => void;
      // Made before the handler runs: `ctx.background()` may be its first line.
      const ended = new Promise<Outcome>((settle) => {
        end = settle;
      });
      let leaving: Promise<void> | undefined;
      ctx.onBackground((asking) => {
        leaving = background({ ctx, asking, ended }).then(resolve);
        return leaving;
      });
      end(run(call, ctx, performance));
      // A handler may end while its task is saved. Then the client must know of the task.
      const settle = (): void => void ended.then(resolve, reject);
      ended
        .catch(() => undefined)
        .then(() => (leaving === undefined ? settle() : leaving.then(settle, settle)));
    });
  }

  function run<T>(
    call: Call,
    ctx: CallContext<never, never>,
    performance: Performance<T>,
  ): Outcome | Promise<Outcome> {
    let value: T | Promise<T>;
    try {
      value = performance.run(ctx);
    } catch (thrown) {
      return conclude(call, ctx, { performance, error: thrown ?? threwNothing() });
    }
    return value instanceof Promise
      ? settle(call, ctx, performance, value)
      : conclude(call, ctx, { performance, value });
  }

  async function settle<T>(
    call: Call,
    ctx: CallContext<never, never>,
    performance: Performance<T>,
    running: Promise<T>,
  ): Promise<Outcome> {
    let value: T;
    try {
      value = await running;
    } catch (thrown) {
      return conclude(call, ctx, { performance, error: thrown ?? threwNothing() });
    }
    return conclude(call, ctx, { performance, value });
  }

  function conclude<T>(
    call: Call,
    ctx: CallContext<never, never>,
    { performance, value, error }: Ended<T>,
  ): Outcome | Promise<Outcome> {
    ctx.leave();
    if (ctx.asking === undefined && error === undefined && !isInputRequired(value)) {
      return performance.finish(value as T);
    }
    const { name, args } = performance;
    return conduct.conclude(call, ctx, {
      name,
      args,
      value,
      error,
      finish: () => performance.finish(value as T),
    });
  }

  async function within<T>(
    call: Call,
    asking: Run,
    run: (ctx: CallContext<never, never>) => Promise<T>,
    prepared?: Prepared,
  ): Promise<T> {
    const { state, user, logs } = prepared ?? (await prepare(call));
    const ctx = new CallContext(call, services(), { state, user, logs, asking });
    try {
      return await run(ctx);
    } finally {
      ctx.leave();
    }
  }

  return { perform, prepare, keeping, within };
}

// A run that has a name already has its questions and steps from the start.
function named({ runId }: What, maxBytes: number): Pick<Given<never, never>, 'asking'> | undefined {
  return runId === undefined ? undefined : { asking: new Replay(newJournal(runId), { maxBytes }) };
}
