import type { InProcess } from 'fullmcp';

type Question = { readonly method: string; readonly params?: Readonly<Record<string, unknown>> };
type Answer = (key: string, question: Question) => unknown;

/** Repeats the call with answers until it has a result, as a client does. */
export async function drive(call: InProcess, method: string, params: object, answer: Answer) {
  let outcome = await call(method, { ...params });
  while (outcome.resultType === 'input_required') {
    const entries = Object.entries(outcome['inputRequests'] as Record<string, Question>);
    const inputResponses = Object.fromEntries(entries.map(([key, question]) => [key, answer(key, question)]));
    outcome = await call(method, { ...params, inputResponses, requestState: outcome['requestState'] });
  }
  return outcome;
}
