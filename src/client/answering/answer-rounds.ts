import { delay } from '../../async/delay.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Outcome } from '../../protocol/call.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError, throwCancelled } from '../../protocol/errors.js';
import type { InputRequest } from '../../protocol/model/input.js';
import type { AnswerQuestion } from '../model/handlers.js';

// The rounds of a call that asks for input. Loaded with the first such call.

export interface Rounds extends AnsweringParts {
  /** The outcome that asked first. */
  readonly outcome: Outcome;
}

/** Answers the questions of a call and sends the call again with the answers, until it completes. */
export async function answerRounds(
  call: Call,
  next: Dispatch,
  { outcome: first, answer, maxRounds }: Rounds,
): Promise<Outcome> {
  let outcome = first;
  // Whether every round so far has asked the same questions, although each was answered.
  let isRepeating = true;
  const answerAndNote: AnswerQuestion = async (request, context) => {
    const response = await answer(request, context);
    if (isRefusal(response)) isRepeating = false;
    return response;
  };
  for (let round = 1; outcome.resultType === 'input_required'; round++) {
    const { inputRequests } = outcome;
    if (round > maxRounds)
      throw isRepeating && isObject(inputRequests)
        ? answersNeverFit(Object.keys(inputRequests), maxRounds)
        : tooManyRounds(maxRounds);
    outcome = await nextRound(call, next, { outcome, round, answer: answerAndNote });
    if (JSON.stringify(inputRequests) !== JSON.stringify(outcome.inputRequests)) isRepeating = false;
  }
  return outcome;
}

interface Round {
  readonly outcome: Outcome;
  readonly round: number;
  readonly answer: AnswerQuestion;
}

async function nextRound(call: Call, next: Dispatch, { outcome, round, answer }: Round): Promise<Outcome> {
  const { inputRequests, requestState } = outcome;
  if (!isObject(inputRequests) && typeof requestState !== 'string')
    throw new McpError('bad_response', 'The server asked for input, but sent no questions');
  const answers = await answerAll(inputRequests, answer, call.signal);
  // A state without questions asks for a retry. The first retry is immediate; the delays before further retries grow.
  if (answers === undefined && round > 1)
    await delay(Math.min(100 * 2 ** round, 5000), { signal: call.signal }).catch(throwCancelled);
  // Spec: only the state of the latest round is sent, and no state if that round had none.
  const { inputResponses: _, requestState: __, ...params } = call.params;
  return next({
    ...call,
    params: {
      ...params,
      ...(answers && { inputResponses: answers }),
      ...(typeof requestState === 'string' && { requestState }),
    },
  });
}

/** Answers all questions of one round; undefined if there are none. */
export async function answerAll(
  requests: unknown,
  answer: AnswerQuestion,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  if (!isObject(requests)) return undefined;
  const entries = Object.entries(requests).map(async ([key, request]) => {
    if (!isObject(request))
      throw new McpError('bad_response', `The server's question "${shorten(key, 100)}" is not an object`);
    return [key, await answer(request as unknown as InputRequest, { key, signal })] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Whether an answer is a refusal, which fits every question. */
export function isRefusal({ action }: JsonObject): boolean {
  return action === 'decline' || action === 'cancel';
}

export function tooManyRounds(maxRounds: number): McpError {
  return new McpError(
    'bad_response',
    `The server asked for input ${maxRounds + 1} times. At most ${maxRounds} are allowed (maxRounds).`,
  );
}

/** The error for a server that keeps asking the same questions, which means that it rejects the answers. */
export function answersNeverFit(keys: readonly string[], maxRounds: number): McpError {
  const questions = keys.map((key) => `"${shorten(key, 100)}"`).slice(0, 10);
  return new McpError(
    'invalid_params',
    `The server asked ${questions.join(', ')} again after each of ${maxRounds} answers (maxRounds): it rejects the handlers' answers. They fit the form's schema, so the server expects more than the schema says.`,
  );
}

export interface AnsweringParts {
  readonly answer: AnswerQuestion;
  readonly maxRounds: number;
}
