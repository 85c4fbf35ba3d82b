import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { McpError } from '../../protocol/errors.js';
import type { InputRequest } from '../../protocol/model/input.js';
import { isInputRequired } from '../asking/input-required.js';
import { type Journal, newJournal, readJournal, writeJournal } from '../asking/journal.js';
import { checkCapabilities, requiredCapabilities } from '../asking/question.js';
import { Replay } from '../asking/replay.js';
import type { Binding, Seal } from '../asking/sealed-state.js';
import { checkAnswersFit } from '../asking/size.js';
import type { CallContext, SentSoFar } from '../context/call-context.js';
import type { CallTarget } from '../context/handler-run.js';
import type { Complete } from '../results/results.js';
import type { Logger } from '../state/log.js';

// A call that asks questions ends with them. The client's next call, the next round, has the answers and the sealed journal.

/** Resumes calls that asked questions, and ends each round with a result or with further questions. */
export interface AskingRounds {
  /** Opens the state that an earlier round sealed. */
  readonly resume: (call: Call, target: CallTarget) => Promise<ResumedRun>;
  /** Opens the journal in a state that was just sealed, to continue elsewhere. */
  readonly journalOf: (call: Call, target: CallTarget, state: string) => Promise<Journal>;
  /** Makes the outcome of a run: the result, or the open questions. */
  readonly finishRound: (call: Call, ctx: CallContext<never, never>, run: FinishedRun) => Promise<Outcome>;
}

interface ResumedRun {
  readonly run: Replay;
  readonly sent: SentSoFar;
  /** The state that the handler returned with `inputRequired`, and the client's answers. */
  readonly resumed: { readonly state: unknown; readonly answers: JsonObject };
}

interface FinishedRun extends CallTarget {
  readonly value?: unknown;
  readonly error?: unknown;
  /** Makes the outcome of a run that asks nothing. */
  readonly finish: () => Outcome;
}

/** Makes the functions that resume and finish the rounds of calls. */
export function askingRounds(parts: {
  readonly seal: Seal;
  readonly complete: Complete;
  readonly log: Logger;
  readonly warnOfUnknownCaller: (call: Call) => void;
}): AskingRounds {
  const { seal, complete, log } = parts;

  async function resume(call: Call, target: CallTarget): Promise<ResumedRun> {
    const { inputResponses: answers = {}, requestState } = call.params;
    if (!isObject(answers)) throw new McpError('invalid_params', 'params.inputResponses must be an object');
    if (requestState === undefined) {
      checkAnswersFit(answers, { maxBytes: seal.maxBytes });
      return resumedRun(newJournal(target.runId), { state: undefined, answers });
    }
    if (typeof requestState !== 'string')
      throw new McpError('invalid_params', 'params.requestState must be a string');
    const { j, c } = await seal.open(requestState, bindingOf(call, target), answers);
    return resumedRun(readJournal(j as JsonObject), { state: c, answers });
  }

  async function journalOf(call: Call, target: CallTarget, state: string): Promise<Journal> {
    const { j } = await seal.open(state, bindingOf(call, target));
    return readJournal(j as JsonObject);
  }

  function resumedRun(journal: Journal, resumed: ResumedRun['resumed']): ResumedRun {
    const { maxBytes } = seal;
    const replay = new Replay(journal, { answers: resumed.answers, maxBytes });
    return { run: replay, sent: journal, resumed };
  }

  async function finishRound(call: Call, ctx: CallContext<never, never>, run: FinishedRun): Promise<Outcome> {
    const { replay } = ctx;
    if (replay !== undefined && mustAsk(replay, run)) {
      if (run.error === undefined) warnOfCatch(run.name, replay, log);
      if (replay.changedQuestions.length > 0) warnOfChange(run.name, replay, log);
      const requests = Object.fromEntries([...replay.open].map(([key, { request }]) => [key, request]));
      return ask(call, run, { requests, replay, ctx, state: undefined });
    }
    if (run.error !== undefined) {
      replay?.reportEnd('threw', run.error);
      throw run.error;
    }
    if (!hasFailed(run)) replay?.checkResult();
    if (isInputRequired(run.value)) {
      const { requests, state } = run.value;
      for (const request of Object.values(requests))
        checkCapabilities(requiredCapabilities(request), call.peer.capabilities);
      return ask(call, run, { requests, replay: replay ?? new Replay(), ctx, state });
    }
    replay?.reportEnd(hasFailed(run) ? 'threw' : 'returned', run.value);
    return run.finish();
  }

  interface OpenRound {
    readonly requests: Readonly<Record<string, InputRequest>>;
    readonly replay: Replay;
    readonly ctx: CallContext<never, never>;
    /** The state that the handler passed to `inputRequired`. */
    readonly state: unknown;
  }

  async function ask(
    call: Call,
    target: CallTarget,
    { requests, replay, ctx, state }: OpenRound,
  ): Promise<Outcome> {
    // A step that ended after the journal is sealed would run again in the next round.
    await replay.idle();
    parts.warnOfUnknownCaller(call);
    const content = {
      j: writeJournal(replay.journal(ctx.sent)),
      ...(state !== undefined && { c: state }),
      ...(replay.isOnce && { o: 1 }),
    };
    return complete({
      resultType: 'input_required',
      ...(Object.keys(requests).length > 0 && { inputRequests: requests }),
      requestState: await seal.close(content, bindingOf(call, target)),
    });
  }

  return { resume, journalOf, finishRound };
}

// The open questions of a handler that failed before it was suspended are not asked. In the background, the task has the
// questions.
function mustAsk(replay: Replay, run: FinishedRun): boolean {
  if (replay.hasSuspender || replay.open.size === 0) return false;
  return replay.isSuspended || (replay.refusal === undefined && !hasFailed(run));
}

function hasFailed({ value, error }: FinishedRun): boolean {
  return error !== undefined || (isObject(value) && value['isError'] === true);
}

/** Whether a call continues an earlier round, or has answers. */
export function isContinued({ params }: Call): boolean {
  return params['inputResponses'] !== undefined || params['requestState'] !== undefined;
}

function bindingOf(call: Call, { name, args }: CallTarget): Binding {
  return { principal: principalOf(call), method: call.method, name, args: args ?? {} };
}

function warnOfCatch(name: string, replay: Replay, log: Logger): void {
  log(
    'warning',
    `${name} returned a value although it had asked ${quoteAll(replay.open.keys())} and had no answer yet. The value is discarded, and the client is asked. Await the answer, and rethrow the error that the question throws.`,
  );
}

function warnOfChange(name: string, replay: Replay, log: Logger): void {
  log(
    'warning',
    `${name} has changed ${quoteAll(replay.changedQuestions)} since the client answered, so the answer is discarded and the client is asked again. If that is not intended, build the question only from the input, from answers and from the results of steps.`,
  );
}

function quoteAll(keys: Iterable<string>): string {
  return [...keys].map((key) => `"${key}"`).join(', ');
}
