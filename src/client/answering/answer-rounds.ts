import { delay } from '../../async/delay.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Outcome } from '../../protocol/call.js';
import { McpError, throwCancelled } from '../../protocol/errors.js';
import type { InputRequest } from '../../protocol/model/input.js';
import type { AnswerQuestion } from '../model/handlers.js';

// Loaded with the first call that asks.

export interface Rounds extends AnsweringParts {
  /** What the call asked first. */
  readonly outcome: Outcome;
}

/** Answers what a call asks and makes the call again with the answers, until it ends. */
export async function answerRounds(
  call: Call,
  next: Dispatch,
  { outcome: first, answer, maxRounds }: Rounds,
): Promise<Outcome> {
  let outcome = first;
  // Whether each round asked for the same as the one before, though it was answered.
  let same = true;
  const answerAndNote: AnswerQuestion = async (request, asked) => {
    const response = await answer(request, asked);
    if (isRefusal(response)) same = false;
    return response;
  };
  for (let round = 1; outcome.resultType === 'input_required'; round++) {
    const { inputRequests } = outcome;
    if (round > maxRounds)
      throw same && isObject(inputRequests)
        ? answersNeverFit(Object.keys(inputRequests), maxRounds)
        : tooManyRounds(maxRounds);
    outcome = await nextRound(call, next, { outcome, round, answer: answerAndNote });
    if (JSON.stringify(inputRequests) !== JSON.stringify(outcome.inputRequests)) same = false;
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
    throw new McpError('bad_response', 'The server wants input but does not say which');
  const answers = await answerAll(inputRequests, answer, call.signal);
  // A state alone asks for another try. The first may come at once; a server that keeps saying so is given time.
  if (answers === undefined && round > 1)
    await delay(Math.min(100 * 2 ** round, 5000), { signal: call.signal }).catch(throwCancelled);
  // Spec: the state of the round before last is not sent, and no state where none was given.
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

/** Answers everything that is asked at one time; undefined where nothing is. */
export async function answerAll(
  requests: unknown,
  answer: AnswerQuestion,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  if (!isObject(requests)) return undefined;
  const entries = Object.entries(requests).map(async ([key, request]) => {
    if (!isObject(request))
      throw new McpError('bad_response', `The question "${key.slice(0, 100)}" is not a request`);
    return [key, await answer(request as unknown as InputRequest, { key, signal })] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Whether an answer refuses, which fits every question. */
export function isRefusal({ action }: JsonObject): boolean {
  return action === 'decline' || action === 'cancel';
}

export function tooManyRounds(maxRounds: number): McpError {
  return new McpError(
    'bad_response',
    `The server asked for input ${maxRounds + 1} times. At most ${maxRounds} are allowed (maxRounds).`,
  );
}

/** A server that asks the same again and again does so because of the answers. */
export function answersNeverFit(keys: readonly string[], maxRounds: number): McpError {
  const questions = keys.map((key) => `"${key.slice(0, 100)}"`).slice(0, 10);
  return new McpError(
    'invalid_params',
    `The server asked ${questions.join(', ')} again after each of ${maxRounds} answers (maxRounds): what the handlers answer does not fit. It fits the form's schema, so the server expects more than the schema says.`,
  );
}

export interface AnsweringParts {
  readonly answer: AnswerQuestion;
  readonly maxRounds: number;
}
