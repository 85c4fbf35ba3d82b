import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import type { InputRequest } from '../../protocol/model/input.js';
import { isInputRequired } from '../asking/input-required.js';
import { type Journal, newJournal, readJournal, writeJournal } from '../asking/journal.js';
import { checkCapabilities, requiredCapabilities } from '../asking/question.js';
import { Replay } from '../asking/replay.js';
import type { Binding, Seal } from '../asking/sealed-state.js';
import { checkAnswersFit } from '../asking/size.js';
import type { CallContext, Said } from '../context/call-context.js';
import type { Complete } from '../results/results.js';
import type { Log } from '../state/log.js';

export interface Conductor {
  /** What an earlier round left. */
  readonly resume: (call: Call, what: What) => Promise<Resumed>;
  /** The outcome of a run: what it returned, or what it asks. */
  readonly conclude: (call: Call, ctx: CallContext<never, never>, run: Concluded) => Promise<Outcome>;
}

/** What a call acts on: a tool and its arguments, a prompt, a resource. */
export interface What {
  readonly name: string;
  readonly args: unknown;
  /** Names the run, where a later one should have the same keys for its steps. */
  readonly runId?: string | undefined;
}

interface Resumed {
  readonly asking: Replay;
  readonly said: Said;
  /** What the raw form carried, and what the client answered. */
  readonly resumed: { readonly state: unknown; readonly answers: JsonObject };
}

interface Concluded extends What {
  readonly value?: unknown;
  readonly error?: unknown;
  /** Makes the outcome of a run that asks nothing. */
  readonly finish: () => Outcome;
}

export function conductor(parts: {
  readonly seal: Seal;
  readonly complete: Complete;
  readonly log: Log;
  /** Called when something of a call is kept for later. */
  readonly keeping: (call: Call) => void;
}): Conductor {
  const { seal, complete, log } = parts;

  async function resume(call: Call, what: What): Promise<Resumed> {
    const { inputResponses: answers = {}, requestState } = call.params;
    if (!isObject(answers)) throw new McpError('invalid_params', 'params.inputResponses must be an object');
    if (requestState === undefined) {
      checkAnswersFit(answers, { maxBytes: seal.maxBytes });
      return resumed(newJournal(what.runId), { state: undefined, answers });
    }
    if (typeof requestState !== 'string')
      throw new McpError('invalid_params', 'params.requestState must be a string');
    const { j, c } = await seal.open(requestState, bindingOf(call, what), answers);
    return resumed(readJournal(j as JsonObject), { state: c, answers });
  }

  function resumed(journal: Journal, carried: Resumed['resumed']): Resumed {
    const { maxBytes } = seal;
    const asking = new Replay(journal, { answers: carried.answers, maxBytes });
    return { asking, said: journal, resumed: carried };
  }

  async function conclude(call: Call, ctx: CallContext<never, never>, run: Concluded): Promise<Outcome> {
    const { asking } = ctx;
    if (asking !== undefined && mustAsk(asking, run)) {
      if (run.error === undefined) warnOfCatch(run.name, asking, log);
      if (asking.changedQuestions.length > 0) warnOfChange(run.name, asking, log);
      const requests = Object.fromEntries([...asking.open].map(([key, { request }]) => [key, request]));
      return ask(call, run, { requests, asking, ctx, carried: undefined });
    }
    if (run.error !== undefined) throw run.error;
    if (!hasFailed(run)) asking?.checkResult();
    if (isInputRequired(run.value)) {
      const { requests, state } = run.value;
      for (const request of Object.values(requests))
        checkCapabilities(requiredCapabilities(request), call.peer.capabilities);
      return ask(call, run, { requests, asking: asking ?? new Replay(), ctx, carried: state });
    }
    return run.finish();
  }

  interface Asked {
    readonly requests: Readonly<Record<string, InputRequest>>;
    readonly asking: Replay;
    readonly ctx: CallContext<never, never>;
    readonly carried: unknown;
  }

  async function ask(call: Call, what: What, { requests, asking, ctx, carried }: Asked): Promise<Outcome> {
    // What a step does after the journal is sealed would be done again in the next round.
    await asking.idle();
    parts.keeping(call);
    const content = {
      j: writeJournal(asking.journal(ctx.said)),
      ...(carried !== undefined && { c: carried }),
    };
    return complete({
      resultType: 'input_required',
      ...(Object.keys(requests).length > 0 && { inputRequests: requests }),
      requestState: await seal.close(content, bindingOf(call, what)),
    });
  }

  return { resume, conclude };
}

// A handler that failed by itself before it was made to end need not ask what it began to. In the background, somebody else
// keeps its questions.
function mustAsk(asking: Replay, run: Concluded): boolean {
  if (asking.hasSuspender || asking.open.size === 0) return false;
  return asking.suspended || (asking.refusal === undefined && !hasFailed(run));
}

function hasFailed({ value, error }: Concluded): boolean {
  return error !== undefined || (isObject(value) && value['isError'] === true);
}

/** Whether a call continues an earlier round, or brings answers along. */
export function isContinued({ params }: Call): boolean {
  return params['inputResponses'] !== undefined || params['requestState'] !== undefined;
}

function bindingOf(call: Call, { name, args }: What): Binding {
  return { principal: call.auth?.subject ?? '', method: call.method, name, args: args ?? {} };
}

function warnOfCatch(name: string, asking: Replay, log: Log): void {
  log(
    'warning',
    `${name} returned a value although it had asked ${quoted(asking.open.keys())} and had no answer yet. The value is lost, and the client is asked. Await the answer, and rethrow what the question throws.`,
  );
}

function warnOfChange(name: string, asking: Replay, log: Log): void {
  log(
    'warning',
    `${name} asks ${quoted(asking.changedQuestions)} in other words than in the round before, so the answer is not used and the client is asked again. If that is not meant, take what the question says from the input, from answers and from steps.`,
  );
}

function quoted(keys: Iterable<string>): string {
  return [...keys].map((key) => `"${key}"`).join(', ');
}
