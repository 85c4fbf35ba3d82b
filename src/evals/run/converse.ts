// Conversations: the request of the user, the calls of the model, their results, until the model has answered.

import type { ReadCase } from '../cases/case.js';
import type { EvalEnd, EvalRound, EvalTranscript, MadeCall } from '../cases/transcript.js';
import type { AskModel, ModelMessage, ModelReply, ModelStop, RequestedCall } from '../model/model.js';
import { digestOf } from '../tape/digest.js';
import type { EvalServer, PerformedCall } from './server.js';

export interface ConversationParts {
  readonly ask: AskModel;
  readonly server: EvalServer;
  readonly system: string;
  readonly maxRounds: number;
  readonly signal: AbortSignal;
}

/** More of the same call is a loop. */
const MAX_EQUAL_CALLS = 3;
/** Later calls of a reply are not made, and end the conversation. */
export const MAX_CALLS_OF_REPLY = 64;

const ENDS: Readonly<Record<ModelStop, EvalEnd>> = {
  end: 'answer',
  calls: 'answer',
  paused: 'rounds',
  length: 'length',
  refused: 'refused',
  other: 'other',
};

/** Has the conversation of a case. */
export async function converse(
  { ask: words }: Pick<ReadCase, 'ask'>,
  { ask, server, system, maxRounds, signal }: ConversationParts,
): Promise<EvalTranscript> {
  const rounds: EvalRound[] = [];
  let calls: MadeCall[] = [];
  const ended = await talk([{ role: 'user', text: words }], {
    ...{ ask, system, tools: server.tools, maxRounds, signal },
    onReply(reply, ms) {
      calls = [];
      rounds.push(toRound(reply, calls, ms));
    },
    async perform(call) {
      const { made, result }: PerformedCall = await server.perform(call, signal);
      calls.push(made);
      return result;
    },
    onRepeated: ({ name, args }) =>
      calls.push({ tool: name, ...(args && { args }), refused: 'repeated', result: '' }),
  });
  return { rounds, ended, asked: [...new Set(server.asked)], unanswered: server.unanswered };
}

/** The parts of a conversation, whoever has it. */
export interface TalkParts {
  readonly ask: AskModel;
  readonly system: string;
  /** The tools in the shape of the API. */
  readonly tools: readonly object[];
  /** Makes a call, and returns its result in the shape of the API. */
  readonly perform: (call: RequestedCall) => Promise<object>;
  /** Gets each reply before its calls are made. */
  readonly onReply: (reply: ModelReply, ms: number) => void;
  /** Gets a call that is not made, because it is one of too many that are equal. */
  readonly onRepeated: (call: RequestedCall) => void;
  readonly maxRounds: number;
  readonly signal: AbortSignal;
}

/**
 * Talks with a model until it answers. The calls of a reply are made one after another, in their order, so that a run can be repeated. Adds each
 * reply with all of its results to the messages, so that they can be continued also after a failure.
 */
export async function talk(
  messages: ModelMessage[],
  { ask, system, tools, perform, onReply, onRepeated, maxRounds, signal }: TalkParts,
): Promise<EvalEnd> {
  const equal = new EqualCalls();
  for (let round = 0; round < maxRounds; round++) {
    const started = performance.now();
    const reply = await ask({ system, tools, messages }, { signal });
    onReply(reply, Math.round(performance.now() - started));
    const results: object[] = [];
    for (const call of reply.calls.slice(0, MAX_CALLS_OF_REPLY)) {
      if (equal.isTooMany(call)) onRepeated(call);
      else results.push(await perform(call));
    }
    if (results.length < reply.calls.length) return 'loop';
    if (reply.items.length > 0) messages.push({ role: 'model', items: reply.items });
    if (reply.calls.length === 0 && reply.stop !== 'paused') return ENDS[reply.stop];
    if (results.length > 0) messages.push({ role: 'tools', results });
  }
  return 'rounds';
}

function toRound({ text, stop, tokens }: ModelReply, calls: readonly MadeCall[], ms: number): EvalRound {
  return { say: text, calls, stop, ...(tokens && { usage: tokens }), ms };
}

class EqualCalls {
  readonly #counts = new Map<string, number>();

  isTooMany({ name, written }: RequestedCall): boolean {
    const key = digestOf([name, written]);
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count > MAX_EQUAL_CALLS;
  }
}
