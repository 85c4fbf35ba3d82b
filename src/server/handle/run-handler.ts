// Runs handlers: prepares the state and the user, makes the context, and examines how the run ended.

import type { Call, Outcome } from '../../protocol/call.js';
import { isInputRequired } from '../asking/input-required.js';
import { type Journal, newJournal } from '../asking/journal.js';
import { Replay } from '../asking/replay.js';
import { cannotAsk, type Run } from '../asking/run.js';
import type { Seal } from '../asking/sealed-state.js';
import type { Registry } from '../catalog/registry.js';
import {
  CallContext,
  type ContextParts,
  clientFacts,
  type PreparedInputs,
  type RunInputs,
} from '../context/call-context.js';
import type { HandlerHome, HandlerRun, Mounted } from '../context/handler-run.js';
import type { CallerFacts } from '../define/options.js';
import type { Complete } from '../results/results.js';
import type { LifespanRun } from '../state/lifespan.js';
import type { Logger } from '../state/log.js';
import { unknownCallerWarning } from '../state/unknown-callers.js';
import type { Entrance } from './entrance.js';
import { askingRounds, isContinued } from './rounds.js';
import type { Background } from './task-host.js';

/** The parts of the server that run its handlers. */
export interface HandlerRunnerParts {
  readonly lifespan: LifespanRun<never>;
  readonly user: ((facts: CallerFacts<never>) => unknown) | undefined;
  readonly seal: Seal;
  readonly complete: Complete;
  readonly log: Logger;
}

/** The options of a run that most calls do not have. */
interface PreparedRunOptions {
  /** The id of the run, if its steps must have the same idempotency keys in a later run. */
  readonly runId?: string | undefined;
  /** Turns the run into a task when the handler calls `ctx.background()`. */
  readonly background?: Background | undefined;
}

/** Runs handlers with their state, their user and their questions. */
export interface HandlerRunner {
  /** Runs a handler that may ask questions. Returns the outcome itself, not a promise, if nothing has to be awaited. */
  readonly runHandler: <Input, T>(
    call: Call,
    handler: HandlerRun<Input, T>,
    input: Input,
  ) => Outcome | Promise<Outcome>;
  /** Does the same for a run that something has to be prepared for: a state, a user, an earlier round, or these options. */
  readonly runPrepared: <Input, T>(
    call: Call,
    handler: HandlerRun<Input, T>,
    input: Input,
    options: PreparedRunOptions,
  ) => Promise<Outcome>;
  /** Makes the state and the user of a call whose handler runs later. */
  readonly prepare: (call: Call, home?: HandlerHome) => Promise<PreparedInputs>;
  /** The journal of a call, from the state that one of its rounds has sealed. The state counts as used. */
  readonly journalOf: (
    call: Call,
    handler: Pick<HandlerRun<never, unknown>, 'target'>,
    state: string,
  ) => Promise<Journal>;
  /** Warns the operator once if a call that leaves a task or answers behind has no identified caller. */
  readonly warnOfUnknownCaller: (call: Call) => void;
  /** Runs a handler whose questions and steps belong to another run, or to a task. */
  readonly runNested: <T>(
    call: Call,
    run: Run,
    work: (ctx: CallContext<never, never>) => Promise<T>,
    options?: NestedRunOptions,
  ) => Promise<T>;
  /** Runs a handler that may belong to a mounted server: with its context, inside its middleware. */
  readonly runMounted: <Input, T>(
    call: Call,
    mounted: Mounted | undefined,
    handler: HandlerRun<Input, T>,
    input: Input,
  ) => Outcome | Promise<Outcome>;
  /** Runs a function that needs a context and cannot ask questions. */
  readonly withContext: <T>(
    call: Call,
    work: (ctx: CallContext<never, never>) => Promise<T>,
    home?: HandlerHome,
  ) => Promise<T>;
  /** This server, as the home of its own handlers. */
  readonly home: HandlerHome;
}

/** The parts of the server with which its methods find definitions and run them. */
export interface MethodParts {
  readonly registry: Registry;
  readonly entrance: Entrance;
  readonly runner: HandlerRunner;
}

interface NestedRunOptions {
  /** The state and the user, if they are known already. */
  readonly inputs?: PreparedInputs | undefined;
  /** The server that the handler belongs to. Default: this one. */
  readonly home?: HandlerHome | undefined;
}

/** The end of a handler's run: a value, or an error. */
interface RunEnd<T> {
  readonly value?: T;
  readonly error?: unknown;
}

const noInputs: RunInputs<never, never> = { state: undefined as never, user: undefined as never };

/** Makes the functions that run the handlers of a server. `contextParts` is called when a context is made. */
export function createHandlerRunner(
  parts: HandlerRunnerParts,
  contextParts: () => ContextParts,
): HandlerRunner {
  const { lifespan, log, complete, seal } = parts;
  const warnOfUnknownCaller = unknownCallerWarning(parts.user !== undefined, log);
  const rounds = askingRounds({ warnOfUnknownCaller, seal, complete, log });
  // Most servers have neither a lifespan nor the option `user`, and then nothing has to be awaited before a handler runs.
  const hasUser = parts.user !== undefined;
  const isPrepared = !lifespan.hasLifespan && !hasUser;
  const own: HandlerHome = { isPrepared, hasUser, prepare: prepareOwn, contextParts };

  async function prepareOwn(call: Call): Promise<PreparedInputs> {
    if (isPrepared) return noInputs;
    const state = await lifespan.start();
    if (parts.user === undefined) return { state, user: undefined as never };
    const user = await parts.user({
      auth: call.auth,
      state,
      client: clientFacts(call.peer),
      request: call.http,
      signal: call.signal,
    });
    return { state, user: user as never };
  }

  // If nothing has to be prepared and the handler asks nothing, its own promise is the only one.
  function runHandler<Input, T>(
    call: Call,
    handler: HandlerRun<Input, T>,
    input: Input,
    prepared?: CallContext<never, never>,
  ): Outcome | Promise<Outcome> {
    const home = handler.home ?? own;
    if (prepared === undefined && (!home.isPrepared || isContinued(call)))
      return runPrepared(call, handler, input, {});
    const ctx = prepared ?? new CallContext(call, home.contextParts(), noInputs);
    let value: T | Promise<T>;
    try {
      value = handler.run(input, ctx, call);
    } catch (thrown) {
      if (ctx.hasAnnounced) return finishLater(call, ctx, handler, Promise.reject(thrown));
      ctx.close();
      return finishRound(call, ctx, handler, { error: thrown ?? noError() });
    }
    if (value instanceof Promise) return finishLater(call, ctx, handler, value);
    if (ctx.hasAnnounced) return finishLater(call, ctx, handler, Promise.resolve(value));
    ctx.close();
    if (isResult(ctx, value)) return handler.finish(value);
    return finishRound(call, ctx, handler, { value });
  }

  async function runPrepared<Input, T>(
    call: Call,
    handler: HandlerRun<Input, T>,
    input: Input,
    { runId, background }: PreparedRunOptions,
  ): Promise<Outcome> {
    const home = handler.home ?? own;
    const inputs = await home.prepare(call);
    const round = isContinued(call)
      ? await rounds.resume(call, { ...handler.target(call), runId })
      : runWithId(runId, seal.maxBytes);
    const ctx = new CallContext(
      call,
      home.contextParts(),
      round === undefined ? inputs : { ...inputs, ...round },
    );
    if (background === undefined) return runHandler(call, handler, input, ctx);
    // The call ends when the handler ends, or when the handler continues as a task.
    return new Promise((resolve, reject) => {
      let end!: (outcome: Outcome | Promise<Outcome>) => void;
      // Made before the handler runs: `ctx.background()` may be its first line.
      const outcome = new Promise<Outcome>((settle) => {
        end = settle;
      });
      let moving: Promise<void> | undefined;
      ctx.onBackground((replay) => {
        moving = background({ ctx, replay, outcome }).then(resolve);
        return moving;
      });
      end(runHandler(call, handler, input, ctx));
      // The handler may end while its task is being saved. The client must learn of the task even then.
      const settle = (): void => void outcome.then(resolve, reject);
      outcome
        .catch(() => undefined)
        .then(() => (moving === undefined ? settle() : moving.then(settle, settle)));
    });
  }

  async function finishLater<T>(
    call: Call,
    ctx: CallContext<never, never>,
    handler: HandlerRun<never, T>,
    running: Promise<T>,
  ): Promise<Outcome> {
    let value: T;
    try {
      value = await running;
      if (ctx.hasAnnounced) await ctx.told();
    } catch (thrown) {
      if (ctx.hasAnnounced) await ctx.told();
      ctx.close();
      return finishRound(call, ctx, handler, { error: thrown ?? noError() });
    }
    ctx.close();
    return isResult(ctx, value) ? handler.finish(value) : finishRound(call, ctx, handler, { value });
  }

  function finishRound<T>(
    call: Call,
    ctx: CallContext<never, never>,
    handler: HandlerRun<never, T>,
    { value, error }: RunEnd<T>,
  ): Promise<Outcome> {
    const finish = (): Outcome => handler.finish(value as T);
    return rounds.finishRound(call, ctx, { ...handler.target(call), value, error, finish });
  }

  async function runNested<T>(
    call: Call,
    run: Run,
    work: (ctx: CallContext<never, never>) => Promise<T>,
    { inputs, home = own }: NestedRunOptions = {},
  ): Promise<T> {
    const { state, user, logs } = inputs ?? (await home.prepare(call));
    const ctx = new CallContext(call, home.contextParts(), { state, user, logs, run });
    try {
      return await work(ctx);
    } finally {
      await ctx.told();
      ctx.close();
    }
  }

  function runMounted<Input, T>(
    call: Call,
    mounted: Mounted | undefined,
    handler: HandlerRun<Input, T>,
    input: Input,
  ): Outcome | Promise<Outcome> {
    if (mounted === undefined) return runHandler(call, handler, input);
    const { home, through } = mounted;
    const run = async (next: Call): Promise<Outcome> => runHandler(next, { ...handler, home }, input);
    return through === undefined ? run(call) : through(call, run);
  }

  return {
    runHandler,
    runPrepared,
    prepare: (call, home = own) => home.prepare(call),
    journalOf: (call, handler, state) => rounds.journalOf(call, handler.target(call), state),
    warnOfUnknownCaller,
    runNested,
    runMounted,
    withContext: (call, work, home) => runNested(call, cannotAsk, work, { home }),
    home: own,
  };
}

// A run with an id of its own has its replay from the start.
function runWithId(
  runId: string | undefined,
  maxBytes: number,
): Pick<RunInputs<never, never>, 'run'> | undefined {
  return runId === undefined ? undefined : { run: new Replay(newJournal(runId), { maxBytes }) };
}

/** Whether the value of a run is a result, because the handler asked nothing. */
function isResult(ctx: CallContext<never, never>, value: unknown): boolean {
  return ctx.replay === undefined && !isInputRequired(value);
}

function noError(): Error {
  return new Error('The handler threw undefined or null instead of an error');
}
