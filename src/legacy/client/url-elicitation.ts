import { BoundedMap } from '../../async/bounded-map.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { boundedKey } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';

// URL elicitation by error: a call that needs the user to visit a page fails, and is retried after the visit. The modern client
// sees a call that asks for input. Spec 2025-11-25, Elicitation, URL Elicitation Required Error.

const URL_ELICITATION_REQUIRED = -32042;
/** The time that the server has to report that the user is done. After it, the call is retried anyway. */
const DONE_MS = 30_000;
const MAX_REMEMBERED = 1000;

interface PendingElicitations {
  readonly ids: readonly string[];
  readonly error: McpError;
}

/** The visits that calls of one session wait for. */
export class UrlElicitations {
  readonly #pending = new BoundedMap<string, PendingElicitations>(MAX_REMEMBERED);
  readonly #done = new BoundedMap<string, true>(MAX_REMEMBERED);
  readonly #waiting = new Map<string, () => void>();
  #last = 0;

  /** Makes the call, and turns the pages that it needs into questions. */
  async handle(call: Call, next: (call: Call) => Promise<Outcome>): Promise<Outcome> {
    const { inputResponses, requestState, ...params } = call.params;
    if (requestState === undefined) return this.#try(call, next);
    const pending = this.#take(requestState);
    const answers = isObject(inputResponses) ? inputResponses : {};
    const isAccepted = pending.ids.every((id) => isObject(answers[id]) && answers[id]['action'] === 'accept');
    if (!isAccepted) throw pending.error;
    await Promise.all(pending.ids.map((id) => this.#completion(boundedKey(id), call.signal)));
    if (call.signal.aborted) throw call.signal.reason;
    return this.#try({ ...call, params }, next);
  }

  onNotification(method: string, params: JsonObject | undefined): void {
    const id = params?.['elicitationId'];
    if (method !== 'notifications/elicitation/complete' || typeof id !== 'string') return;
    const key = boundedKey(id);
    this.#done.set(key, true);
    this.#waiting.get(key)?.();
  }

  async #try(call: Call, next: (call: Call) => Promise<Outcome>): Promise<Outcome> {
    try {
      return await next(call);
    } catch (error) {
      const inputRequests = questionsOf(error);
      if (inputRequests === undefined || !call.peer.capabilities.elicitation?.url) throw error;
      const requestState = `visits-${++this.#last}`;
      this.#pending.set(requestState, { ids: Object.keys(inputRequests), error: error as McpError });
      return { resultType: 'input_required', inputRequests, requestState };
    }
  }

  #take(state: unknown): PendingElicitations {
    const pending = this.#pending.get(state as string);
    this.#pending.delete(state as string);
    if (pending !== undefined) return pending;
    throw new McpError(
      'invalid_params',
      'The answers belong to a call that is no longer known. Make the call again without them.',
    );
  }

  #completion(id: string, signal: AbortSignal): Promise<void> {
    if (this.#done.has(id)) return Promise.resolve();
    return new Promise<void>((resolve) => {
      const proceed = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', proceed);
        this.#waiting.delete(id);
        resolve();
      };
      const timer = setTimeout(proceed, DONE_MS);
      signal.addEventListener('abort', proceed);
      this.#waiting.set(id, proceed);
    });
  }
}

function questionsOf(error: unknown): JsonObject | undefined {
  if (!McpError.is(error) || error.number !== URL_ELICITATION_REQUIRED || !isObject(error.data))
    return undefined;
  const { elicitations } = error.data;
  if (!Array.isArray(elicitations) || elicitations.length === 0) return undefined;
  const questions = elicitations
    .filter(isUrlElicitation)
    .map((params) => [params['elicitationId'], { method: 'elicitation/create', params }]);
  return questions.length === elicitations.length ? Object.fromEntries(questions) : undefined;
}

function isUrlElicitation(params: unknown): params is JsonObject {
  return isObject(params) && params['mode'] === 'url' && typeof params['elicitationId'] === 'string';
}
