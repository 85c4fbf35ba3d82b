// Refusals of questions that came sooner than a person can read: they are the host's, and not the user's.

import { isObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';

// The time at which a question was sent is in front of its state. A client that changes it fools only itself.
const MARK = 'at';
const DIGITS = 13;

/** An outcome that asks, with the time in its state. */
export function withTime(outcome: Outcome): Outcome {
  const { requestState } = outcome;
  if (outcome.resultType !== 'input_required' || typeof requestState !== 'string') return outcome;
  const now = String(Date.now()).padStart(DIGITS, '0');
  return { ...outcome, requestState: `${MARK}${now}.${requestState}` };
}

/** The call without the time in its state, and without the refusals that came within `ms` of the question. */
export function withoutSoon(call: Call, ms: number): { readonly call: Call; readonly wasSoon: boolean } {
  const { requestState, inputResponses } = call.params;
  const end = MARK.length + DIGITS;
  if (typeof requestState !== 'string' || !requestState.startsWith(MARK) || requestState[end] !== '.')
    return { call, wasSoon: false };
  const asked = Number(requestState.slice(MARK.length, end));
  const params = { ...call.params, requestState: requestState.slice(end + 1) };
  const responses = Object.entries(isObject(inputResponses) ? inputResponses : {});
  const kept = responses.filter(([, response]) => !isRefusal(response));
  const wasSoon = kept.length < responses.length && Date.now() - asked < ms;
  return {
    call: copyCall(call, {
      params: wasSoon ? { ...params, inputResponses: Object.fromEntries(kept) } : params,
    }),
    wasSoon,
  };
}

/** Whether a response refuses to answer. Some hosts cancel questions by themselves, and some decline them. */
export function isRefusal(response: unknown): boolean {
  return isObject(response) && (response['action'] === 'cancel' || response['action'] === 'decline');
}
