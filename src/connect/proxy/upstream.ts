import { keyOf } from '../../client/answering/answering.js';
import { Connection } from '../../client/connection/connection.js';
import { fullmcp } from '../../client/model/options.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { modernQuestion } from '../../legacy/shapes/to-modern.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import type { OpenLink } from '../../protocol/link.js';
import type { InputRequest } from '../../protocol/model/input.js';
import { has } from '../../protocol/tables/features.js';
import { atLeast, isLogLevel } from '../../protocol/tables/log-level.js';
import type { ForwardedCall } from './forwarded-call.js';

export interface UpstreamParts {
  readonly open: OpenLink;
  /** The caller, as the handshake of an older server tells. */
  readonly peer: Pick<Call['peer'], 'client' | 'capabilities'>;
  readonly connectTimeoutMs: number;
  readonly problem: (message: string, cause?: unknown) => void;
  /** Called when the connection is lost. */
  readonly onLost: (upstream: Upstream) => void;
}

/** One connection to the server of a proxy. It is not opened again: the next call opens another one. */
export class Upstream {
  readonly #connection: Connection;
  /** The calls that an older server may ask about, the latest last. */
  readonly #forwarded = new Set<ForwardedCall>();
  readonly ready: Promise<void>;
  /** The number of calls that use the connection. */
  users = 0;
  /** When it was last used, by the clock that nobody can set. */
  usedAt: number = performance.now();

  constructor({ open, peer, connectTimeoutMs, problem, onLost }: UpstreamParts) {
    this.#connection = new Connection({
      open,
      client: { client: peer.client ?? fullmcp, capabilities: peer.capabilities },
      reconnect: undefined,
      connectTimeoutMs,
      events: {
        notification: (method, params) => this.#onNotification(method, params),
        ask: (request, signal) => this.#ask(request, signal),
        problem,
      },
      onStatus: (status) => {
        if (status === 'closed') onLost(this);
      },
      onFailure: () => undefined,
    });
    this.ready = this.#connection.start(undefined);
    this.ready.catch(() => undefined);
  }

  /** Whether each call describes its caller. Otherwise the connection belongs to one caller. */
  get isModern(): boolean {
    return !has(this.#connection.link.revision, 'handshake');
  }

  dispatch(call: Call): Promise<Outcome> {
    return this.#connection.dispatch(call);
  }

  /** Makes a call whose questions and log messages are passed on. */
  begin(forwarded: ForwardedCall, call: Call): void {
    this.#forwarded.add(forwarded);
    forwarded.start(call, (sent) =>
      this.dispatch(sent).finally(() => {
        this.#forwarded.delete(forwarded);
      }),
    );
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  // A session does not tell which call a question belongs to. All calls on this connection are of one caller.
  #ask(request: InputRequest, signal: AbortSignal): Promise<JsonObject> {
    const latest = [...this.#forwarded].at(-1);
    if (latest === undefined)
      return Promise.reject(new McpError('invalid_request', 'No call is open that could be asked about.'));
    return latest.ask(modernQuestion(request), keyOf(request), signal);
  }

  #onNotification(method: string, params: JsonObject | undefined): void {
    if (method !== 'notifications/message') return;
    const level = isObject(params) ? params['level'] : undefined;
    for (const forwarded of this.#forwarded)
      if (isLogLevel(level) && forwarded.logLevel !== undefined && atLeast(level, forwarded.logLevel))
        forwarded.notify(method, params);
  }
}
