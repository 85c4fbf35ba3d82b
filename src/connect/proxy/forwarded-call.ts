import { onAbort } from '../../async/abort.js';
import { Lifetime, onEnd, withSignal } from '../../async/lifetime.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { progressToken } from '../../protocol/meta.js';
import type { InputRequest } from '../../protocol/model/input.js';

// A call to a server of the session era. Such a server asks while the call is open, and newer callers answer with another call. So the
// call stays open here, from round to round.

interface Question {
  readonly request: InputRequest;
  readonly resolve: (answer: JsonObject) => void;
}

/** The notifications that wait for the next round. The oldest are dropped. */
const MAX_WAITING = 100;

/** One call to the server, and the rounds in which the caller asks for its outcome. */
export class ForwardedCall {
  readonly #lifetime = new Lifetime();
  readonly #questions = new Map<string, Question>();
  readonly #waiting: (readonly [method: string, params: JsonObject | undefined])[] = [];
  #round: Call | undefined;
  #asked = 0;
  #wake: (() => void) | undefined;
  #settled: Promise<Outcome> | undefined;

  /** Makes the call. `first` is its first round. */
  start(first: Call, dispatch: (call: Call) => Promise<Outcome>): void {
    const notify: Call['notify'] = (method, params) => this.notify(method, params);
    // A server that releases the connection of the call lets the caller poll, and so does the proxy.
    const release = (): void => this.#round?.release?.();
    this.#settled = dispatch(withSignal({ ...first, release, notify }, this.#lifetime));
    // Each round reports it, and after the last one nobody is left to know.
    this.#settled.catch(() => undefined);
  }

  /** Calls `listener` when the call has ended at the server. */
  whenSettled(listener: () => void): void {
    this.#settled?.then(listener, listener);
  }

  /** Whether it was cancelled before it ended. */
  get wasLeft(): boolean {
    return this.#lifetime.ended;
  }

  /** Waits, on behalf of one round, for the outcome of the call or for questions. Returns undefined if there are questions. */
  async next(round: Call): Promise<Outcome | undefined> {
    this.#round = round;
    const forget = onEnd(round, () => this.end(round.signal.reason));
    try {
      for (const notification of this.#waiting.splice(0)) this.notify(...notification);
      if (this.#questions.size > 0) return undefined;
      const asked = new Promise<undefined>((resolve) => {
        this.#wake = () => resolve(undefined);
      });
      return await Promise.race([this.#settled as Promise<Outcome>, asked]);
    } finally {
      forget();
      this.#round = undefined;
    }
  }

  /** Asks the caller. The answer comes with a later round. */
  ask(request: InputRequest, key: string | undefined, signal: AbortSignal): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const name = key !== undefined && !this.#questions.has(key) ? key : `question ${++this.#asked}`;
      const stopWaiting = onAbort(signal, () => {
        forget();
        reject(signal.reason);
      });
      const forget = (): void => {
        stopWaiting();
        this.#questions.delete(name);
      };
      this.#questions.set(name, {
        request,
        resolve: (answer) => {
          forget();
          resolve(answer);
        },
      });
      // Questions that the server asks together are sent together.
      setTimeout(() => this.#wake?.(), 0);
    });
  }

  /** The open questions, in the form of the newest revision. */
  get requests(): Readonly<Record<string, InputRequest>> {
    return Object.fromEntries([...this.#questions].map(([key, { request }]) => [key, request]));
  }

  /** Takes the answers of the caller. A question without an answer stays open. */
  answer(answers: Readonly<Record<string, unknown>>): void {
    for (const [key, { resolve }] of [...this.#questions])
      if (Object.hasOwn(answers, key)) resolve(answers[key] as JsonObject);
  }

  /** Passes a notification on to the caller, with the token of the present round. */
  notify(method: string, params: JsonObject | undefined): void {
    const round = this.#round;
    if (round === undefined) {
      this.#waiting.push([method, params]);
      if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
      return;
    }
    if (method !== 'notifications/progress') return round.notify(method, params);
    const token = progressToken(round.params);
    if (token !== undefined) round.notify(method, { ...params, progressToken: token });
  }

  /** Cancels the call. */
  end(reason: unknown = new McpError('cancelled', 'The caller did not answer in time.')): void {
    this.#lifetime.end(reason);
    this.#questions.clear();
  }
}
