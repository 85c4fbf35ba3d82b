// The calls that an instance works on, by the inboxes that their clients read.

import { inSlices } from '../../../async/in-slices.js';
import { Lifetime, withSignal } from '../../../async/lifetime.js';
import { printError, printNotification, printResult, type RequestMessage } from '../../../jsonrpc/message.js';
import { type Auth, type Call, type Dispatch, printOutcome } from '../../../protocol/call.js';
import { McpError, toMcpError } from '../../../protocol/errors.js';
import { readPeer } from '../../../protocol/meta.js';
import { staysOpen } from '../../../protocol/standing-calls.js';
import { newestRevision } from '../../../protocol/tables/revisions.js';
import type { DrainableCalls } from '../../../transports/server/drain.js';
import { splitSubject } from '../link/subjects.js';
import type { SendReply } from './send-reply.js';

/** A call that is being worked on. */
export interface ServedCall {
  /** The subject of its responses. */
  readonly reply: string;
  readonly id: RequestMessage['id'];
  readonly beganAt: number;
  readonly lifetime: Lifetime;
  readonly isSubscription: boolean;
  /** Whether nothing is sent any more. */
  isMuted: boolean;
}

export interface CallsParts {
  readonly dispatch: Dispatch;
  readonly send: SendReply;
  /** Called when a call has ended. */
  readonly onEnd: (call: ServedCall, error: McpError | undefined) => void;
}

/** The open calls of an instance. */
export class NatsCalls implements DrainableCalls {
  readonly #parts: CallsParts;
  readonly #open = new Map<string, ServedCall>();
  readonly #whenEmpty = new Set<() => void>();

  constructor(parts: CallsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#open.size;
  }

  has(reply: string): boolean {
    return this.#open.has(reply);
  }

  all(): Iterable<ServedCall> {
    return this.#open.values();
  }

  /** The ids that a client gave its open calls, as the last parts of their subjects. */
  idsOf(inbox: string): readonly string[] {
    const ids: string[] = [];
    for (const { reply } of this.#open.values()) {
      const { rest, last } = splitSubject(reply);
      if (rest === inbox) ids.push(last);
    }
    return ids;
  }

  /** Works on a request, and sends its response. */
  begin(
    { id, method, params = {} }: RequestMessage,
    { reply, auth }: { reply: string; auth: Auth | undefined },
  ): void {
    const { dispatch, send } = this.#parts;
    const call: ServedCall = {
      reply,
      id,
      beganAt: performance.now(),
      lifetime: new Lifetime(),
      isSubscription: staysOpen(method),
      isMuted: false,
    };
    this.#open.set(reply, call);
    const notify: Call['notify'] = (name, values) => {
      if (!call.isMuted && this.#open.get(reply) === call) send(reply, printNotification(name, values));
    };
    const work = async (): Promise<string> =>
      printOutcome(
        await dispatch(
          withSignal(
            { id, method, params, peer: readPeer(params), auth, via: { transport: 'nats' }, notify },
            call.lifetime,
          ),
        ),
      );
    work().then(
      (result) => this.#finish(call, printResult(id, result)),
      (thrown: unknown) => {
        const error = toMcpError(thrown);
        this.#finish(call, printError(id, error.toWire(newestRevision)), error);
      },
    );
  }

  /** Cancels a call, which then has no response. */
  cancel(reply: string, reason: McpError): void {
    const call = this.#open.get(reply);
    if (call === undefined) return;
    call.isMuted = true;
    call.lifetime.end(reason);
  }

  endSubscriptions(reason: McpError): void {
    for (const { lifetime, isSubscription } of this.#open.values()) if (isSubscription) lifetime.end(reason);
  }

  /** Ends every call. Each gets this error as its response, at once. */
  async endAll(reason: McpError): Promise<void> {
    const rest = [...this.#open.values()];
    for (const call of rest) {
      this.#finish(call, printError(call.id, reason.toWire(newestRevision)), reason);
      call.isMuted = true;
    }
    await inSlices(rest, ({ lifetime }) => lifetime.end(reason));
  }

  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#open.size === 0) resolve();
      else this.#whenEmpty.add(resolve);
    });
  }

  #finish(call: ServedCall, text: string, error?: McpError): void {
    if (this.#open.get(call.reply) !== call) return;
    this.#open.delete(call.reply);
    if (!call.isMuted) this.#parts.send(call.reply, text, error);
    this.#parts.onEnd(call, error);
    if (this.#open.size > 0) return;
    for (const resolve of this.#whenEmpty) resolve();
    this.#whenEmpty.clear();
  }
}

/** The error of calls whose client or instance has lost its connection. */
export function connectionLost(message: string): McpError {
  return new McpError('connection_closed', message);
}
