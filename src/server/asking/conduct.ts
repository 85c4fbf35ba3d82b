import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import type { InputRequest } from '../../protocol/input.js';
import type { CallContext, Said } from '../call-context.js';
import type { Log } from '../log.js';
import type { Complete } from '../results.js';
import { Asking } from './asking.js';
import { isInputRequired } from './input-required.js';
import { newJournal, readJournal, writeJournal } from './journal.js';
import type { Binding, Seal } from './sealed-state.js';

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
  readonly asking: Asking;
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
}): Conductor {
  const { seal, complete, log } = parts;

  async function resume(call: Call, what: What): Promise<Resumed> {
    const { inputResponses: answers = {}, requestState } = call.params;
    if (!isObject(answers)) throw new McpError('invalid_params', 'params.inputResponses must be an object');
    if (requestState === undefined) {
      const journal = newJournal(what.runId);
      return { asking: new Asking(journal, answers), said: journal, resumed: { state: undefined, answers } };
    }
    if (typeof requestState !== 'string')
      throw new McpError('invalid_params', 'params.requestState must be a string');
    const { j, c } = await seal.open(requestState, bindingOf(call, what));
    const journal = readJournal(j as JsonObject);
    return { asking: new Asking(journal, answers), said: journal, resumed: { state: c, answers } };
  }

  async function conclude(call: Call, ctx: CallContext<never, never>, run: Concluded): Promise<Outcome> {
    const { asking } = ctx;
    // A handler that failed by itself before it was made to end need not ask what it began to.
    if (
      asking !== undefined &&
      !asking.kept &&
      asking.open.size > 0 &&
      (asking.suspended || !hasFailed(run))
    ) {
      if (run.error === undefined) warnOfCatch(run.name, asking, log);
      const requests = Object.fromEntries([...asking.open].map(([key, { request }]) => [key, request]));
      return ask(call, run, { requests, asking, ctx, carried: undefined });
    }
    if (run.error !== undefined) throw run.error;
    // A handler that was refused a step and returned all the same has not done what it says.
    if (asking?.refusal !== undefined && !hasFailed(run)) throw asking.refusal;
    const forgotten = asking?.forgotten;
    if (forgotten !== undefined) {
      throw new McpError(
        'internal_error',
        `${run.name} did not come to "${forgotten}" again. A handler must ask the same in every round; put what changes into a step.`,
      );
    }
    if (isInputRequired(run.value)) {
      const { requests, state } = run.value;
      return ask(call, run, { requests, asking: asking ?? new Asking(), ctx, carried: state });
    }
    return run.finish();
  }

  interface Asked {
    readonly requests: Readonly<Record<string, InputRequest>>;
    readonly asking: Asking;
    readonly ctx: CallContext<never, never>;
    readonly carried: unknown;
  }

  async function ask(call: Call, what: What, { requests, asking, ctx, carried }: Asked): Promise<Outcome> {
    // What a step does after the journal is sealed would be done again in the next round.
    await asking.idle();
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

function warnOfCatch(name: string, asking: Asking, log: Log): void {
  const keys = [...asking.open.keys()].map((key) => `"${key}"`).join(', ');
  log(
    'warning',
    `${name} went on after it asked ${keys}. What it did then is lost: await the answer, and let its end pass.`,
  );
}
