import type { Call, Outcome } from '../../protocol/call.js';
import { isInputRequired } from '../asking/input-required.js';
import { newJournal } from '../asking/journal.js';
import { Replay } from '../asking/replay.js';
import type { Run } from '../asking/run.js';
import type { Seal } from '../asking/sealed-state.js';
import { CallContext, type Services } from '../context/call-context.js';
import type { ClientFacts } from '../context/context.js';
import type { HandlerRun } from '../context/handler-run.js';
import type { PreparedInputs, RunInputs } from '../context/run-inputs.js';
import type { CallerFacts } from '../define/options.js';
import type { Complete } from '../results/results.js';
import type { LifespanRun } from '../state/lifespan.js';
import type { Logger } from '../state/log.js';
import { unknownCallerWarning } from '../state/unknown-callers.js';
import { askingRounds, isContinued } from './rounds.js';
import type { Background } from './task-host.js';

export interface HandlerRunnerParts {
  readonly running: LifespanRun<never>;
  readonly user: ((facts: CallerFacts<never>) => unknown) | undefined;
  readonly seal: Seal;
  readonly complete: Complete;
  readonly log: Logger;
}

/** Circumstances of a run that most calls do not have. */
interface PreparedRunOptions {
  /** Names the run, where a later one should have the same keys for its steps. */
  readonly runId?: string | undefined;
  /** Turns the run into a task when the handler calls `ctx.background()`. */
  readonly background?: Background | undefined;
}

/** Runs handlers: with their state, their user, and their questions. */
export interface HandlerRunner {
  /** Runs a handler that may ask. Returns the outcome itself, not a promise, if nothing had to be awaited. */
  readonly runHandler: <Input, T>(
    call: Call,
    handler: HandlerRun<Input, T>,
    input: Input,
  ) => Outcome | Promise<Outcome>;
  /** Runs a handler that may ask, in circumstances that have to be prepared. */
  readonly runPrepared: <Input, T>(
    call: Call,
    handler: HandlerRun<Input, T>,
    input: Input,
    options: PreparedRunOptions,
  ) => Promise<Outcome>;
  /** Makes the state and the user of a call, for a handler that runs later. */
  readonly prepare: (call: Call) => Promise<PreparedInputs>;
  /** Called when something that belongs to a call is kept for later. */
  readonly onKept: (call: Call) => void;
  /** Runs a handler whose questions and steps belong to another run, or to a task. */
  readonly runNested: <T>(
    call: Call,
    asking: Run,
    work: (ctx: CallContext<never, never>) => Promise<T>,
    inputs?: PreparedInputs,
  ) => Promise<T>;
}

/** The end of a handler's run: a value, or an error. */
interface RunEnd<T> {
  readonly value?: T;
  readonly error?: unknown;
}

const noInputs: RunInputs<never, never> = { state: undefined as never, user: undefined as never };

export function createHandlerRunner(parts: HandlerRunnerParts, services: () => Services): HandlerRunner {
  const { running, log, complete, seal } = parts;
  const onKept = unknownCallerWarning(parts.user !== undefined, log);
  const rounds = askingRounds({ onKept, seal, complete, log });
  // Most servers have neither a lifespan nor the option `user`, and then nothing has to be awaited before a handler runs.
  const isPrepared = !running.hasLifespan && parts.user === undefined;

  async function prepare(call: Call): Promise<PreparedInputs> {
    if (isPrepared) return noInputs;
    const state = await running.start();
    if (parts.user === undefined) return { state, user: undefined as never };
    const client: ClientFacts = new CallContext(call, services(), noInputs).client;
    const user = await parts.user({
      auth: call.auth,
      state,
      client,
      request: call.http,
      signal: call.signal,
    });
    return { state, user: user as never };
  }

  // A handler that asks nothing, on a server that prepares nothing, runs with no other promise than its own.
  function runHandler<Input, T>(
    call: Call,
    handler: HandlerRun<Input, T>,
    input: Input,
    prepared?: CallContext<never, never>,
  ): Outcome | Promise<Outcome> {
    if (prepared === undefined && (!isPrepared || isContinued(call)))
      return runPrepared(call, handler, input, {});
    const ctx = prepared ?? new CallContext(call, services(), noInputs);
    let value: T | Promise<T>;
    try {
      value = handler.run(input, ctx, call);
    } catch (thrown) {
      ctx.leave();
      return finishRound(call, ctx, handler, { error: thrown ?? threwNothing() });
    }
    if (value instanceof Promise) return finishLater(call, ctx, handler, value);
    ctx.leave();
    if (isResult(ctx, value)) return handler.finish(value);
    return finishRound(call, ctx, handler, { value });
  }

  async function runPrepared<Input, T>(
    call: Call,
    handler: HandlerRun<Input, T>,
    input: Input,
    { runId, background }: PreparedRunOptions,
  ): Promise<Outcome> {
    const inputs = await prepare(call);
    const round = isContinued(call)
      ? await rounds.resume(call, { ...handler.target(call), runId })
      : namedRun(runId, seal.maxBytes);
    const ctx = new CallContext(call, services(), round === undefined ? inputs : { ...inputs, ...round });
    if (background === undefined) return runHandler(call, handler, input, ctx);
    // The call ends when the handler does, or when the handler continues without the call.
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
      end(runHandler(call, handler, input, ctx));
      // A handler may end while its task is being saved. Then the client must know of the task.
      const settle = (): void => void ended.then(resolve, reject);
      ended
        .catch(() => undefined)
        .then(() => (leaving === undefined ? settle() : leaving.then(settle, settle)));
    });
  }

  async function finishLater<T>(
    call: Call,
    ctx: CallContext<never, never>,
    handler: HandlerRun<never, T>,
    working: Promise<T>,
  ): Promise<Outcome> {
    let value: T;
    try {
      value = await working;
    } catch (thrown) {
      ctx.leave();
      return finishRound(call, ctx, handler, { error: thrown ?? threwNothing() });
    }
    ctx.leave();
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
    asking: Run,
    work: (ctx: CallContext<never, never>) => Promise<T>,
    inputs?: PreparedInputs,
  ): Promise<T> {
    const { state, user, logs } = inputs ?? (await prepare(call));
    const ctx = new CallContext(call, services(), { state, user, logs, asking });
    try {
      return await work(ctx);
    } finally {
      ctx.leave();
    }
  }

  return { runHandler, runPrepared, prepare, onKept, runNested };
}

// A run that has a name already has its questions and steps from the start.
function namedRun(
  runId: string | undefined,
  maxBytes: number,
): Pick<RunInputs<never, never>, 'asking'> | undefined {
  return runId === undefined ? undefined : { asking: new Replay(newJournal(runId), { maxBytes }) };
}

/** Whether a run that has ended asks nothing. */
function isResult(ctx: CallContext<never, never>, value: unknown): boolean {
  return ctx.asking === undefined && !isInputRequired(value);
}

function threwNothing(): Error {
  return new Error('The handler threw nothing');
}
