// A conversation, as it is judged and kept on tapes: the replies of a model and the results of its calls.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { ModelStop, ModelTokens } from '../model/model.js';

/** A call that a model has made, with its result. */
export interface MadeCall {
  /** The name of the tool at the server, or the name that the model has made up. */
  readonly tool: string;
  /** The arguments; undefined if they are not a JSON object. */
  readonly args?: JsonObject;
  /** The arguments as they were written, if they are not a JSON object. */
  readonly written?: string;
  /** The reason why nothing was sent to the server: the tool was not offered, or the call is one of too many. */
  readonly refused?: 'unknown' | 'malformed' | 'repeated';
  /** The result as text; cut if it is long. */
  readonly result: string;
  /** Whether the tool failed. */
  readonly isError?: true;
  /** The digest of the whole result of a search for tools, which is part of the next request. */
  readonly found?: string;
}

/** A request to a model, and what became of it. */
export interface EvalRound {
  readonly say: string;
  readonly calls: readonly MadeCall[];
  readonly stop: ModelStop;
  readonly usage?: ModelTokens;
  readonly ms: number;
}

/** The end of a conversation: an answer, or the reason why there is none. */
export type EvalEnd = 'answer' | 'length' | 'refused' | 'other' | 'rounds' | 'loop';

/** A whole conversation. */
export interface EvalTranscript {
  readonly rounds: readonly EvalRound[];
  readonly ended: EvalEnd;
  /** The keys of the questions that the server has asked. */
  readonly asked: readonly string[];
  /** The questions without an answer, in words. */
  readonly unanswered: readonly string[];
  /** The verdict of the judge, if the case wants one. */
  readonly judged?: JudgeVerdict;
}

/** The words of the judge. */
export interface JudgeVerdict {
  readonly passed: boolean;
  readonly why: string;
}

/** All calls of a conversation, in order. */
export function callsOf({ rounds }: EvalTranscript): readonly MadeCall[] {
  return rounds.flatMap(({ calls }) => calls);
}

/** The last words of the model. */
export function answerOf({ rounds }: EvalTranscript): string {
  return rounds.at(-1)?.say ?? '';
}
