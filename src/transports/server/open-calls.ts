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
import type { Call, Dispatch, Outcome, Peer } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import { McpError, toMcpError } from '../../protocol/errors.js';
import { newestRevision, type Revision } from '../../protocol/tables/revisions.js';
import type { DrainableCalls } from './drain.js';

interface OpenCall {
  readonly length: number;
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

/** An open request, for the code that answers it. */
export interface OpenRequest {
  /** Calls the dispatch as this peer, with the request's parameters or others, or makes another call beside it. */
  readonly call: (peer: Peer, params?: Call['params'], beside?: Beside) => Promise<Outcome>;
  /** Where something can be sent that belongs to the request, while it is open. */
  readonly channel: () => { readonly send: (text: string) => void; readonly signal: AbortSignal };
}

export interface RespondOptions {
  /** The revision that errors are written for. */
  readonly revision?: Revision | undefined;
  /** Takes the answer instead of the connection; undefined where a cancelled call gets none. */
  readonly reply?: ((text: string | undefined) => void) | undefined;
}

export interface OpenCallsOptions {
  /** In whose name the calls are made. */
  readonly caller?: Caller | undefined;
  readonly maxOpenCalls?: number | undefined;
  readonly send: (text: string) => void;
  readonly reply: (text: string) => void;
  /** A call has ended. */
  readonly onFreed: () => void;
}

/** The calls that are open on a connection, by the ids that their client gave them. */
export class OpenCalls implements DrainableCalls {
  /** In whose name all of them are made. */
  readonly caller: Caller;
  readonly #open = new Map<RequestId, OpenCall>();
  readonly #dispatch: Dispatch;
  readonly #options: OpenCallsOptions;
  readonly #most: number;
  /** The length of the message that is being read, and of those that opened the calls. */
  arriving = 0;
  #length = 0;
  #closed = false;
  readonly #whenEmpty = new Set<() => void>();

  constructor(dispatch: Dispatch, options: OpenCallsOptions) {
    this.caller = options.caller ?? nobody;
    this.#dispatch = dispatch;
    this.#options = options;
    this.#most = options.maxOpenCalls ?? 1000;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Whether no more calls may be opened, by their number or by what they hold. */
  get full(): boolean {
    return this.#open.size >= this.#most || this.#length > MOST_HELD;
  }

  /** Answers a request with what `work` makes of it: the JSON of a result. A call that was cancelled gets no answer. */
  respond(
    message: RequestMessage,
    work: (open: OpenRequest) => Promise<string>,
    options: RespondOptions = {},
  ): void {
    const { revision = newestRevision, reply = this.#options.reply } = options;
    const { id, method } = message;
    if (this.#open.has(id)) {
      return reply(
        printError(id, { code: INVALID_REQUEST, message: 'A request with this id is already open' }),
      );
    }
    if (this.full) {
      const full = new McpError(
        'overloaded',
        `${this.#open.size} calls are open on this connection. Wait for some of them to end`,
      );
      return reply(printError(id, full.toWire(revision)));
    }
    const call: OpenCall = {
      length: this.arriving,
      lifetime: new Lifetime(),
      long: method === 'subscriptions/listen',
      cancelled: false,
    };
    this.#open.set(id, call);
    this.#length += call.length;
    let notifiedAt = Number.NEGATIVE_INFINITY;
    const sendBeside = (text: string): void => {
      if (call.cancelled || this.#closed || this.#open.get(id) !== call) return;
      notifiedAt = performance.now();
      this.#options.send(text);
    };
    const { auth, http } = this.caller;
    const notify: Call['notify'] = (name, params) => sendBeside(printNotification(name, params));
    const open: OpenRequest = {
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
      channel: () => ({ send: sendBeside, signal: call.lifetime.signal }),
    };
    const finish = (text: string): void => {
      if (!this.#closed) {
        this.#open.delete(id);
        this.#length -= call.length;
        if (!call.cancelled) reply(text);
        else options.reply?.(undefined);
        this.#options.onFreed();
      }
      if (this.#open.size === 0) this.#emptied();
    };
    work(open).then(
      (result) => paced(notifiedAt, () => finish(printResult(id, result))),
      (error) => paced(notifiedAt, () => finish(printError(id, toMcpError(error).toWire(revision)))),
    );
  }

  /** Whether this was a cancellation of a call that is open here. */
  cancel({ method, params }: NotificationMessage): boolean {
    if (method !== 'notifications/cancelled') return false;
    const call = this.#open.get(params?.['requestId'] as RequestId);
    if (call === undefined) return false;
    call.cancelled = true;
    call.lifetime.end(new McpError('cancelled', 'The client cancelled the call'));
    return true;
  }

  endSubscriptions(reason: McpError): void {
    for (const { lifetime, long } of this.#open.values()) if (long) lifetime.end(reason);
  }

  /** Ends every call at once. None of them is answered. */
  async endAll(reason: McpError): Promise<void> {
    this.#closed = true;
    const rest = [...this.#open.values()];
    this.#open.clear();
    this.#emptied();
    await inSlices(rest, ({ lifetime }) => lifetime.end(reason));
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

/** The limit of the messages of all open calls together, in characters. A single call may have more. */
const MOST_HELD = 64 * 1024 * 1024;

const nobody: Caller = { auth: undefined, http: undefined };

const PACE_MS = 2;

// Some clients handle a notification later than an answer that arrives in the same read, and then drop it. On a shared
// channel an answer therefore keeps a little distance from its call's last notification.
function paced(notifiedAt: number, finish: () => void): void {
  if (performance.now() - notifiedAt < PACE_MS) setTimeout(finish, PACE_MS);
  else finish();
}
