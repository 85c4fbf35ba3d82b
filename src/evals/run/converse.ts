// One conversation: the request of the user, the calls of the model, their results, until the model has answered.

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
const MAX_CALLS_OF_REPLY = 64;

const ENDS: Readonly<Record<ModelStop, EvalEnd>> = {
  end: 'answer',
  calls: 'answer',
  paused: 'rounds',
  length: 'length',
  refused: 'refused',
  other: 'other',
};

/** Has a conversation. The calls of a reply are made one after another, in their order, so that a run can be repeated. */
export async function converse(
  { ask: words }: Pick<ReadCase, 'ask'>,
  { ask, server, system, maxRounds, signal }: ConversationParts,
): Promise<EvalTranscript> {
  const messages: ModelMessage[] = [{ role: 'user', text: words }];
  const rounds: EvalRound[] = [];
  const equal = new EqualCalls();
  let ended: EvalEnd = 'rounds';

  while (rounds.length < maxRounds) {
    const started = performance.now();
    const reply = await ask({ system, tools: server.tools, messages }, { signal });
    const ms = Math.round(performance.now() - started);
    const calls: MadeCall[] = [];
    const results: object[] = [];
    for (const call of reply.calls.slice(0, MAX_CALLS_OF_REPLY)) {
      if (equal.isTooMany(call)) {
        calls.push({
          tool: call.name,
          ...(call.args && { args: call.args }),
          refused: 'repeated',
          result: '',
        });
        continue;
      }
      const { made, result }: PerformedCall = await server.perform(call, signal);
      calls.push(made);
      results.push(result);
    }
    rounds.push(toRound(reply, calls, ms));
    if (results.length < reply.calls.length) {
      ended = 'loop';
      break;
    }
    if (reply.calls.length === 0 && reply.stop !== 'paused') {
      ended = ENDS[reply.stop];
      break;
    }
    messages.push({ role: 'model', items: reply.items });
    if (results.length > 0) messages.push({ role: 'tools', results });
  }
  return { rounds, ended, asked: [...new Set(server.asked)], unanswered: server.unanswered };
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
