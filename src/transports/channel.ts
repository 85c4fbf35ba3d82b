import { hasInfinity, isDeeperThan } from '../jsonrpc/depth.js';
import {
  INVALID_REQUEST,
  type InvalidMessage,
  type Message,
  type NotificationMessage,
  PARSE_ERROR,
  printError,
  printNotification,
  printResult,
  type RequestId,
  type RequestMessage,
  readableId,
  readMessage,
} from '../jsonrpc/message.js';
import { type Call, type Dispatch, type Outcome, type Peer, printOutcome } from '../protocol/call.js';
import type { Caller } from '../protocol/caller.js';
import { isModern } from '../protocol/era.js';
import { McpError, toMcpError } from '../protocol/errors.js';
import { Lifetime, withSignal } from '../protocol/lifetime.js';
import { readPeer } from '../protocol/meta.js';
import { newestRevision, type Revision } from '../protocol/revisions.js';

/** Both directions of one connection that many calls share: a pipe, a WebSocket. */
export interface Channel {
  /** Takes one message as text. */
  readonly receive: (text: string) => void;
  /** Says that a message was refused before it could be read. */
  readonly refuse: (reason: string) => void;
  /** Resolves when no call is open: everything that was received so far has been answered. */
  readonly settled: () => Promise<void>;
  /** Ends subscriptions, waits for calls until the deadline, then ends those too. Nothing is sent after it. */
  readonly close: (options: { readonly deadlineMs: number }) => Promise<void>;
}

/** Serves what is no modern message: the session of this connection, where the session era is wanted. */
export interface ChannelSession {
  receive(message: Message): void;
  receiveBatch(values: readonly unknown[]): void;
  close(): void;
}

export interface ChannelOptions {
  readonly dispatch: Dispatch;
  readonly send: (text: string) => void;
  readonly session?: ((calls: OpenCalls) => ChannelSession) | undefined;
  readonly maxDepth?: number;
  /** Who opened the connection, where it began as an HTTP request. */
  readonly caller?: Caller | undefined;
}

export function openChannel(options: ChannelOptions): Channel {
  const { dispatch, send, session, maxDepth = 128 } = options;
  const calls = new OpenCalls(dispatch, send, options.caller);
  const sessionEra = session?.(calls);

  function receive(text: string): void {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return send(printError(undefined, { code: PARSE_ERROR, message: 'This is not valid JSON' }));
    }
    if (text.length > 2 * maxDepth && isDeeperThan(value, maxDepth)) {
      return refuse(`Nested deeper than ${maxDepth} levels`, readableId(value));
    }
    if (hasInfinity(text, value)) {
      return refuse('A number in the message is too large for a double', readableId(value));
    }
    if (Array.isArray(value)) {
      if (sessionEra !== undefined) return sessionEra.receiveBatch(value);
      return refuse('Batches are not part of this protocol revision');
    }
    const message = readMessage(value);
    if (message.kind === 'invalid') return refuseMessage(message);
    if (isModern(message)) return receiveModern(message);
    // A cancellation says nothing of its era, and ids are unique on a connection.
    if (message.kind === 'notification' && calls.cancelled(message)) return;
    if (sessionEra !== undefined) return sessionEra.receive(message);
    if (message.kind === 'request') receiveModern(message);
  }

  function receiveModern(message: Message): void {
    if (message.kind === 'notification') calls.cancelled(message);
    else if (message.kind === 'request') {
      calls.answer(message, async (open) => printOutcome(await open.call(readPeer(message.params))));
    }
  }

  function refuse(reason: string, id?: RequestId): void {
    send(printError(id, { code: INVALID_REQUEST, message: reason }));
  }

  function refuseMessage({ id, reason }: InvalidMessage): void {
    send(printError(id, { code: INVALID_REQUEST, message: `Invalid message: ${reason}` }));
  }

  return {
    receive,
    refuse,
    settled: () => calls.settled(),
    async close({ deadlineMs }) {
      const drained = calls.drain(deadlineMs);
      sessionEra?.close();
      await drained;
    },
  };
}

interface OpenCall {
  readonly lifetime: Lifetime;
  readonly long: boolean;
  cancelled: boolean;
}

/** A call that is made beside the open one: what differs from it. */
export interface Beside {
  readonly method: string;
  readonly notify?: Call['notify'];
  readonly lifetime?: Lifetime;
}

/** An open request, for who answers it. */
export interface Open {
  /** Calls the dispatch as this peer, with the request's parameters or others, or makes another call beside it. */
  readonly call: (peer: Peer, params?: Call['params'], beside?: Beside) => Promise<Outcome>;
  /** Where something can be sent that belongs to the request, while it is open. */
  readonly line: () => { readonly send: (text: string) => void; readonly signal: AbortSignal };
}

export interface AnswerOptions {
  /** The revision that errors are written for. */
  readonly revision?: Revision | undefined;
  /** Takes the answer instead of the connection; undefined where a cancelled call gets none. */
  readonly reply?: ((text: string | undefined) => void) | undefined;
}

/** The calls that are open on a connection, by the ids that their client gave them. */
export class OpenCalls {
  /** In whose name all of them are made. */
  readonly caller: Caller;
  readonly #open = new Map<RequestId, OpenCall>();
  readonly #dispatch: Dispatch;
  readonly #send: (text: string) => void;
  #closed = false;
  readonly #whenEmpty = new Set<() => void>();

  constructor(dispatch: Dispatch, send: (text: string) => void, caller: Caller = nobody) {
    this.caller = caller;
    this.#dispatch = dispatch;
    this.#send = send;
  }

  /** Answers a request with what `work` makes of it: the JSON of a result. A call that was cancelled gets no answer. */
  answer(message: RequestMessage, work: (open: Open) => Promise<string>, options: AnswerOptions = {}): void {
    const { revision = newestRevision, reply = this.#send } = options;
    const { id, method } = message;
    if (this.#open.has(id)) {
      return reply(
        printError(id, { code: INVALID_REQUEST, message: 'A request with this id is already open' }),
      );
    }
    const call: OpenCall = {
      lifetime: new Lifetime(),
      long: method === 'subscriptions/listen',
      cancelled: false,
    };
    this.#open.set(id, call);
    let notifiedAt = Number.NEGATIVE_INFINITY;
    const sendBeside = (text: string): void => {
      if (call.cancelled || this.#closed || this.#open.get(id) !== call) return;
      notifiedAt = performance.now();
      this.#send(text);
    };
    const { auth, http } = this.caller;
    const notify: Call['notify'] = (name, params) => sendBeside(printNotification(name, params));
    const open: Open = {
      call: (peer, params = message.params ?? {}, beside) =>
        this.#dispatch(
          withSignal(
            {
              id,
              method: beside?.method ?? method,
              params,
              peer,
              auth,
              http,
              notify: beside?.notify ?? notify,
            },
            beside?.lifetime ?? call.lifetime,
          ),
        ),
      line: () => ({ send: sendBeside, signal: call.lifetime.signal }),
    };
    const finish = (text: string): void => {
      this.#open.delete(id);
      if (!this.#closed) {
        if (!call.cancelled) reply(text);
        else options.reply?.(undefined);
      }
      if (this.#open.size === 0) this.#emptied();
    };
    work(open).then(
      (result) => paced(notifiedAt, () => finish(printResult(id, result))),
      (error) => paced(notifiedAt, () => finish(printError(id, toMcpError(error).toWire(revision)))),
    );
  }

  /** Whether this was a cancellation of a call that is open here. */
  cancelled({ method, params }: NotificationMessage): boolean {
    if (method !== 'notifications/cancelled') return false;
    const call = this.#open.get(params?.['requestId'] as RequestId);
    if (call === undefined) return false;
    call.cancelled = true;
    call.lifetime.end(new McpError('cancelled', 'The client cancelled the call'));
    return true;
  }

  async drain(deadlineMs: number): Promise<void> {
    const shutdown = new McpError('connection_closed', 'The server is shutting down');
    for (const { lifetime, long } of this.#open.values()) if (long) lifetime.end(shutdown);
    if (this.#open.size > 0) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, deadlineMs);
      });
      await Promise.race([this.settled(), late]);
      clearTimeout(timer);
    }
    this.#closed = true;
    for (const { lifetime } of this.#open.values()) lifetime.end(shutdown);
    this.#open.clear();
    this.#emptied();
  }

  /** Resolves when no call is open. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#open.size === 0) resolve();
      else this.#whenEmpty.add(resolve);
    });
  }

  #emptied(): void {
    for (const resolve of this.#whenEmpty) resolve();
    this.#whenEmpty.clear();
  }
}

const nobody: Caller = { auth: undefined, http: undefined };

const PACE_MS = 2;

// Some clients handle a notification later than an answer that arrives in the same read, and then drop it. On a shared
// channel an answer therefore keeps a little distance from its call's last notification.
function paced(notifiedAt: number, finish: () => void): void {
  if (performance.now() - notifiedAt < PACE_MS) setTimeout(finish, PACE_MS);
  else finish();
}
