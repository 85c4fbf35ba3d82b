import { unref } from '../../async/unref.js';
import { isObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { McpError } from '../../protocol/errors.js';
import { fairShare, shareNameOf } from './fair-share.js';
import type { ForwardedCall } from './forwarded-call.js';

// The calls whose callers have been asked. They are open at the server, and belong to this process.

interface HeldCall {
  readonly forwarded: ForwardedCall;
  /** The caller, and the call as it was made first: the answers must come with the same. */
  readonly print: string;
  readonly timer: ReturnType<typeof setTimeout>;
  /** The name that the share of its caller is counted under. */
  readonly share: string | undefined;
}

const PREFIX = 'fullmcp-proxy.';
const MAX_HELD = 1000;

/** Keeps calls open from one round to the next. */
export class HeldCalls {
  readonly #held = new Map<string, HeldCall>();
  readonly #answerMs: number;
  readonly #onRelease: (() => void) | undefined;

  /** `onRelease` is called when a call is not held any more. */
  constructor(answerMs: number, onRelease?: () => void) {
    this.#answerMs = answerMs;
    this.#onRelease = onRelease;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Whether a call has the answers to questions of a call that is held here. */
  has({ params: { requestState } }: Call): boolean {
    return this.#held.has(requestState as string);
  }

  /** Whether a call has the answers to questions of a held call. */
  isAnswer({ params: { requestState } }: Call): boolean {
    return typeof requestState === 'string' && requestState.startsWith(PREFIX);
  }

  /** Waits for the outcome of a call, or asks its caller. */
  async next(forwarded: ForwardedCall, round: Call): Promise<Outcome> {
    const outcome = await forwarded.next(round);
    if (outcome !== undefined) return outcome;
    const share = shareNameOf(round);
    const error = this.#overload(share);
    if (error !== undefined) {
      forwarded.end(error);
      throw error;
    }
    const requestState = PREFIX + crypto.randomUUID();
    const timer = setTimeout(() => {
      this.#held.delete(requestState);
      forwarded.end();
      this.#onRelease?.();
    }, this.#answerMs);
    unref(timer);
    this.#held.set(requestState, { forwarded, print: printOf(round), timer, share });
    return { resultType: 'input_required', inputRequests: { ...forwarded.requests }, requestState };
  }

  #overload(share: string | undefined): McpError | undefined {
    const own = [...this.#held.values()].filter((held) => held.share === share).length;
    if (share !== undefined && own >= fairShare(MAX_HELD, this.#held.size - own))
      return new McpError(
        'overloaded',
        `${own} calls of the caller wait for answers, and no more are kept open. Answer them first.`,
      );
    return this.#held.size >= MAX_HELD
      ? new McpError('overloaded', 'Too many calls wait for answers. Retry later.')
      : undefined;
  }

  /** Continues the call that a caller has answered. */
  async continue(round: Call): Promise<Outcome> {
    const { requestState, inputResponses } = round.params;
    const held = this.#held.get(requestState as string);
    if (held === undefined || held.print !== printOf(round))
      throw new McpError(
        'invalid_params',
        'params.requestState is unknown here: the call was answered before, was cancelled because the answers took too long, or is open in another process of this proxy. Call again without it.',
      );
    this.#held.delete(requestState as string);
    clearTimeout(held.timer);
    held.forwarded.answer(isObject(inputResponses) ? inputResponses : {});
    return this.next(held.forwarded, round);
  }

  /** Cancels all held calls. */
  close(): void {
    for (const { forwarded, timer } of this.#held.values()) {
      clearTimeout(timer);
      forwarded.end(new McpError('connection_closed', 'The proxy was closed.'));
    }
    this.#held.clear();
  }
}

function printOf(call: Call): string {
  const { _meta, inputResponses, requestState, ...params } = call.params;
  return JSON.stringify([principalOf(call), call.method, params]);
}
