import { inSlices } from '../../async/in-slices.js';
import { Lifetime, withSignal } from '../../async/lifetime.js';
import {
  INVALID_REQUEST,
  type NotificationMessage,
  printError,
  printNotification,
  printResult,
  type RequestId,
  type RequestMessage,
} from '../../jsonrpc/message.js';
import type { Call, Dispatch, Outcome, Peer, Via } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import { cancelledByClient, McpError, toMcpError } from '../../protocol/errors.js';
import { newestRevision, type Revision } from '../../protocol/tables/revisions.js';
import type { DrainableCalls } from './drain.js';

interface OpenCall {
  readonly length: number;
  readonly lifetime: Lifetime;
  readonly isSubscription: boolean;
  isCancelled: boolean;
}

/** A further call while a request is open: the members that differ from the request's own call. */
export interface ExtraCall {
  readonly method: string;
  readonly notify?: Call['notify'];
  readonly lifetime?: Lifetime;
}

/** An open request, for the code that responds to it. */
export interface OpenRequest {
  /** Calls the dispatch as this peer, with the request's parameters or others, or makes a further call. */
  readonly call: (peer: Peer, params?: Call['params'], extra?: ExtraCall) => Promise<Outcome>;
  /** Sends messages that belong to the request, while the request is open. */
  readonly channel: () => { readonly send: (text: string) => void; readonly signal: AbortSignal };
}

export interface RespondOptions {
  /** The revision whose error codes are used. */
  readonly revision?: Revision | undefined;
  /** Takes the response in place of the connection. Called with undefined for a cancelled call, which has no response. */
  readonly sendResponse?: ((text: string | undefined) => void) | undefined;
}

export interface OpenCallsOptions {
  /** The caller that opened the connection. */
  readonly caller?: Caller | undefined;
  readonly via: Via;
  readonly maxOpenCalls?: number | undefined;
  readonly send: (text: string) => void;
  readonly sendResponse: (text: string) => void;
  /** Called when a call has ended. */
  readonly onCallEnded: () => void;
}

/** The open calls of a connection, by the ids that the client gave them. */
export class OpenCalls implements DrainableCalls {
  /** The caller that opened the connection. */
  readonly caller: Caller;
  /** The way of the calls. */
  get via(): Via {
    return this.#options.via;
  }

  /** The caller of the message that is being handled. Default: the one that opened the connection. */
  messageCaller: Caller | undefined;
  readonly #open = new Map<RequestId, OpenCall>();
  readonly #dispatch: Dispatch;
  readonly #options: OpenCallsOptions;
  readonly #maxOpenCalls: number;
  /** The length of the message that is being handled. */
  messageLength = 0;
  /** The length of the messages of all open calls. */
  #heldLength = 0;
  #isClosed = false;
  readonly #whenEmpty = new Set<() => void>();

  constructor(dispatch: Dispatch, options: OpenCallsOptions) {
    this.caller = options.caller ?? anonymous;
    this.#dispatch = dispatch;
    this.#options = options;
    this.#maxOpenCalls = options.maxOpenCalls ?? 1000;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Whether no further call may be opened, because of their number or of the memory that they hold. */
  get isFull(): boolean {
    return this.#open.size >= this.#maxOpenCalls || this.#heldLength > MAX_HELD_LENGTH;
  }

  /** Responds to a request with the JSON of a result, which `work` makes. A cancelled call gets no response. */
  respond(
    message: RequestMessage,
    work: (open: OpenRequest) => Promise<string>,
    options: RespondOptions = {},
  ): void {
    const { revision = newestRevision, sendResponse = this.#options.sendResponse } = options;
    const { id, method } = message;
    if (this.#open.has(id)) {
      return sendResponse(
        printError(id, { code: INVALID_REQUEST, message: 'A request with this id is already open' }),
      );
    }
    if (this.isFull) {
      const overload = new McpError(
        'overloaded',
        `${this.#open.size} calls are open on this connection. Wait for some of them to end.`,
      );
      return sendResponse(printError(id, overload.toWire(revision)));
    }
    const call: OpenCall = {
      length: this.messageLength,
      lifetime: new Lifetime(),
      isSubscription: method === 'subscriptions/listen',
      isCancelled: false,
    };
    this.#open.set(id, call);
    this.#heldLength += call.length;
    let notifiedAt = Number.NEGATIVE_INFINITY;
    const sendDuringCall = (text: string): void => {
      if (call.isCancelled || this.#isClosed || this.#open.get(id) !== call) return;
      notifiedAt = performance.now();
      this.#options.send(text);
    };
    const { auth, http, isLocal } = this.messageCaller ?? this.caller;
    const notify: Call['notify'] = (name, params) => sendDuringCall(printNotification(name, params));
    const open: OpenRequest = {
      call: (peer, params = message.params ?? {}, extra) =>
        this.#dispatch(
          withSignal(
            {
              id,
              method: extra?.method ?? method,
              params,
              peer,
              auth,
              http,
              isLocal,
              via: this.#options.via,
              notify: extra?.notify ?? notify,
            },
            extra?.lifetime ?? call.lifetime,
          ),
        ),
      channel: () => ({ send: sendDuringCall, signal: call.lifetime.signal }),
    };
    const finish = (text: string): void => {
      if (!this.#isClosed) {
        this.#open.delete(id);
        this.#heldLength -= call.length;
        if (!call.isCancelled) sendResponse(text);
        else options.sendResponse?.(undefined);
        this.#options.onCallEnded();
      }
      if (this.#open.size === 0) this.#resolveSettled();
    };
    work(open).then(
      (result) => finishAfterNotification(notifiedAt, () => finish(printResult(id, result))),
      (error) =>
        finishAfterNotification(notifiedAt, () => finish(printError(id, toMcpError(error).toWire(revision)))),
    );
  }

  /** Cancels a call. Returns whether the notification was a cancellation of an open call. */
  cancel({ method, params }: NotificationMessage): boolean {
    if (method !== 'notifications/cancelled') return false;
    const call = this.#open.get(params?.['requestId'] as RequestId);
    if (call === undefined) return false;
    call.isCancelled = true;
    call.lifetime.end(cancelledByClient(params?.['reason']));
    return true;
  }

  endSubscriptions(reason: McpError): void {
    for (const { lifetime, isSubscription } of this.#open.values()) if (isSubscription) lifetime.end(reason);
  }

  /** Ends every call at once, without a response. */
  async endAll(reason: McpError): Promise<void> {
    this.#isClosed = true;
    const rest = [...this.#open.values()];
    this.#open.clear();
    this.#resolveSettled();
    await inSlices(rest, ({ lifetime }) => lifetime.end(reason));
  }

  /** Resolves when no call is open. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#open.size === 0) resolve();
      else this.#whenEmpty.add(resolve);
    });
  }

  #resolveSettled(): void {
    for (const resolve of this.#whenEmpty) resolve();
    this.#whenEmpty.clear();
  }
}

/** The limit for the messages of all open calls together, in characters. A single call may exceed it. */
const MAX_HELD_LENGTH = 64 * 1024 * 1024;

const anonymous: Caller = { auth: undefined, http: undefined };

const PACE_MS = 2;

// Some clients handle a notification after a response that arrives in the same read, and then drop the notification. So on a
// shared channel a response is sent a little later than its call's last notification.
function finishAfterNotification(notifiedAt: number, finish: () => void): void {
  if (performance.now() - notifiedAt < PACE_MS) setTimeout(finish, PACE_MS);
  else finish();
}
