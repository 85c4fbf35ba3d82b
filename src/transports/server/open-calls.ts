import { inSlices } from '../../async/in-slices.js';
import { Lifetime, type WithLifetime, withSignal } from '../../async/lifetime.js';
import {
  INVALID_REQUEST,
  type JsonObject,
  type NotificationMessage,
  printError,
  printNotification,
  printResult,
  type RequestId,
  type RequestMessage,
} from '../../jsonrpc/message.js';
import {
  type Call,
  type Dispatch,
  type Outcome,
  type Peer,
  printOutcome,
  type Via,
} from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import { type DirectDispatch, toDirect } from '../../protocol/direct.js';
import { cancelledByClient, McpError, toMcpError } from '../../protocol/errors.js';
import { readPeer } from '../../protocol/meta.js';
import { staysOpen } from '../../protocol/standing-calls.js';
import { newestRevision, type Revision } from '../../protocol/tables/revisions.js';
import type { DrainableCalls } from './drain.js';

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
  /** The dispatch without a promise, if the server has no middleware. */
  readonly #direct: DirectDispatch | undefined;
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
    this.#direct = toDirect(dispatch);
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

  /** Responds to a request of a modern revision. Without middleware, a synchronous handler is answered synchronously. */
  respondModern(message: RequestMessage): void {
    const direct = this.#direct;
    if (direct === undefined)
      return this.respond(message, async (open) => printOutcome(await open.call(readPeer(message.params))));
    const open = this.#begin(message, {});
    if (open === undefined) return;
    let result: string;
    try {
      const outcome = direct(new ModernCall(open, readPeer(message.params)));
      if (outcome instanceof Promise) return open.finishWith(outcome.then(printOutcome));
      result = printOutcome(outcome);
    } catch (error) {
      return open.fail(error);
    }
    open.finish(result);
  }

  /** Responds to a request with the JSON of a result, which `work` makes. A cancelled call gets no response. */
  respond(
    message: RequestMessage,
    work: (open: OpenRequest) => Promise<string>,
    options: RespondOptions = {},
  ): void {
    const open = this.#begin(message, options);
    open?.finishWith(work(open));
  }

  /** Opens a call; undefined if the request was rejected instead. */
  #begin(message: RequestMessage, options: RespondOptions): OpenCall | undefined {
    const { revision = newestRevision, sendResponse = this.#options.sendResponse } = options;
    const { id } = message;
    if (this.#open.has(id)) {
      sendResponse(
        printError(id, { code: INVALID_REQUEST, message: 'A request with this id is already open' }),
      );
      return undefined;
    }
    if (this.isFull) {
      const overload = new McpError(
        'overloaded',
        `${this.#open.size} calls are open on this connection. Wait for some of them to end.`,
      );
      sendResponse(printError(id, overload.toWire(revision)));
      return undefined;
    }
    const call = new OpenCall(message, {
      calls: this,
      dispatch: this.#dispatch,
      caller: this.messageCaller ?? this.caller,
      length: this.messageLength,
      options,
    });
    this.#open.set(id, call);
    this.#heldLength += call.length;
    return call;
  }

  /** Sends a message that belongs to a call. Returns whether the call is still open. */
  sendDuring(call: OpenCall, text: string): boolean {
    if (call.isCancelled || this.#isClosed || this.#open.get(call.id) !== call) return false;
    this.#options.send(text);
    return true;
  }

  /** Ends a call with its response. */
  finish(call: OpenCall, response: string): void {
    if (!this.#isClosed) {
      this.#open.delete(call.id);
      this.#heldLength -= call.length;
      const { sendResponse } = call;
      if (!call.isCancelled) (sendResponse ?? this.#options.sendResponse)(response);
      else sendResponse?.(undefined);
      this.#options.onCallEnded();
    }
    if (this.#open.size === 0) this.#resolveSettled();
  }

  /** Cancels a call. Returns whether the notification was a cancellation of an open call. */
  cancel({ method, params }: NotificationMessage): boolean {
    if (method !== 'notifications/cancelled') return false;
    const call = this.#open.get(params?.['requestId'] as RequestId);
    if (call === undefined) return false;
    call.isCancelled = true;
    call.end(cancelledByClient(params?.['reason']));
    return true;
  }

  endSubscriptions(reason: McpError): void {
    for (const call of this.#open.values()) if (staysOpen(call.method)) call.end(reason);
  }

  /** Ends every call at once, without a response. */
  async endAll(reason: McpError): Promise<void> {
    this.#isClosed = true;
    const rest = [...this.#open.values()];
    this.#open.clear();
    this.#resolveSettled();
    await inSlices(rest, (call) => call.end(reason));
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

interface OpenCallParts {
  readonly calls: OpenCalls;
  readonly dispatch: Dispatch;
  readonly caller: Caller;
  /** The length of the message. */
  readonly length: number;
  readonly options: RespondOptions;
}

/** A request that has no response yet. Its lifetime and its functions are made when they are first read: most calls read none. */
class OpenCall implements OpenRequest {
  readonly message: RequestMessage;
  readonly caller: Caller;
  readonly length: number;
  isCancelled = false;
  readonly #calls: OpenCalls;
  readonly #dispatch: Dispatch;
  readonly #options: RespondOptions;
  #lifetime: Lifetime | undefined;
  #notify: Call['notify'] | undefined;
  /** When the call has sent its last notification. */
  #notifiedAt: number | undefined;

  constructor(message: RequestMessage, { calls, dispatch, caller, length, options }: OpenCallParts) {
    this.message = message;
    this.caller = caller;
    this.length = length;
    this.#calls = calls;
    this.#dispatch = dispatch;
    this.#options = options;
  }

  get id(): RequestId {
    return this.message.id;
  }

  get method(): string {
    return this.message.method;
  }

  get params(): JsonObject {
    return this.message.params ?? {};
  }

  get via(): Via {
    return this.#calls.via;
  }

  get sendResponse(): RespondOptions['sendResponse'] {
    return this.#options.sendResponse;
  }

  get lifetime(): Lifetime {
    this.#lifetime ??= new Lifetime();
    return this.#lifetime;
  }

  get notify(): Call['notify'] {
    this.#notify ??= (name, params) => this.#send(printNotification(name, params));
    return this.#notify;
  }

  call(peer: Peer, params: JsonObject = this.params, extra?: ExtraCall): Promise<Outcome> {
    const { id, method, via } = this;
    const { auth, http, isLocal } = this.caller;
    const notify = extra?.notify ?? this.notify;
    const call = { id, method: extra?.method ?? method, params, peer, auth, http, isLocal, via, notify };
    return this.#dispatch(withSignal(call, extra?.lifetime ?? this.lifetime));
  }

  channel(): ReturnType<OpenRequest['channel']> {
    return { send: (text) => this.#send(text), signal: this.lifetime.signal };
  }

  #send(text: string): void {
    if (this.#calls.sendDuring(this, text)) this.#notifiedAt = performance.now();
  }

  end(reason: McpError): void {
    this.lifetime.end(reason);
  }

  /** Responds with the JSON of a result, or with the error that it failed with. */
  finishWith(result: Promise<string>): void {
    result.then(
      (json) => this.finish(json),
      (error) => this.fail(error),
    );
  }

  finish(result: string): void {
    this.#respond(printResult(this.id, result));
  }

  fail(error: unknown): void {
    this.#respond(printError(this.id, toMcpError(error).toWire(this.#options.revision ?? newestRevision)));
  }

  // Some clients handle a notification after a response that arrives in the same read, and then drop the notification. So on a
  // shared channel a response is sent a little later than its call's last notification.
  #respond(response: string): void {
    if (this.#notifiedAt !== undefined && performance.now() - this.#notifiedAt < PACE_MS)
      setTimeout(() => this.#calls.finish(this, response), PACE_MS);
    else this.#calls.finish(this, response);
  }
}

/** A call of a modern revision that is not spread. */
class ModernCall implements Call, WithLifetime {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  readonly peer: Peer;
  readonly auth: Call['auth'];
  readonly http: Call['http'];
  readonly isLocal: Call['isLocal'];
  readonly #open: OpenCall;

  constructor(open: OpenCall, peer: Peer) {
    const { auth, http, isLocal } = open.caller;
    this.id = open.id;
    this.method = open.method;
    this.params = open.params;
    this.peer = peer;
    this.auth = auth;
    this.http = http;
    this.isLocal = isLocal;
    this.#open = open;
  }

  get lifetime(): Lifetime {
    return this.#open.lifetime;
  }

  get signal(): AbortSignal {
    return this.#open.lifetime.signal;
  }

  get via(): Via {
    return this.#open.via;
  }

  get notify(): Call['notify'] {
    return this.#open.notify;
  }
}
