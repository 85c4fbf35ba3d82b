import { settlesWithin } from '../../async/deadline.js';
import { Lifetime, withSignal } from '../../async/lifetime.js';
import { keyOf } from '../../client/answering/answering.js';
import { Connection } from '../../client/connection/connection.js';
import { fullmcp } from '../../client/model/options.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import { modernQuestion } from '../../legacy/shapes/to-modern.js';
import type { Call, Outcome, TransportName } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import type { OpenLink } from '../../protocol/link.js';
import type { InputRequest } from '../../protocol/model/input.js';
import type { Discovered } from '../../protocol/model/model.js';
import { has } from '../../protocol/tables/features.js';
import { atLeast, isLogLevel, type LogLevel } from '../../protocol/tables/log-level.js';
import { newestRevision, type Revision } from '../../protocol/tables/revisions.js';
import type { ForwardedCall } from './forwarded-call.js';

export interface ProxyLinkParts {
  readonly open: OpenLink;
  /** The caller, as the handshake of an older server tells. */
  readonly peer: Pick<Call['peer'], 'client' | 'capabilities'>;
  readonly connectTimeoutMs: number;
  readonly problem: (message: string, cause?: unknown) => void;
  /** Called with notifications that do not belong to a call. */
  readonly onNotification?: ((method: string, link: ProxyLink) => void) | undefined;
  /** Called when the connection is lost. */
  readonly onLost: (link: ProxyLink, reason: McpError | undefined) => void;
}

interface OpenCall {
  /** The level of the log messages that it gets; undefined if it gets none. */
  readonly logLevel: LogLevel | undefined;
  readonly notify: Call['notify'];
  readonly owner: string | undefined;
}

let made = 0;

/** One connection to the server of a proxy. It is not opened again: the next call opens another one. */
export class ProxyLink {
  readonly #parts: ProxyLinkParts;
  readonly #connection: Connection;
  /** The calls that log messages may belong to, the latest last. */
  readonly #calls = new Set<OpenCall>();
  /** The calls that an older server may ask about, the latest last. */
  readonly #forwarded = new Set<ForwardedCall>();
  readonly ready: Promise<void>;
  /** Tells the connection from the others of this process. */
  readonly number: number = ++made;
  /** The number of calls that use the connection. */
  users = 0;
  /** When it was last used, by the clock that nobody can set. */
  usedAt: number = performance.now();

  constructor(parts: ProxyLinkParts) {
    this.#parts = parts;
    const { open, peer, connectTimeoutMs, problem, onLost } = parts;
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
      onStatus: (status, reason) => {
        if (status === 'closed') onLost(this, reason);
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

  get discovered(): Discovered {
    return this.#connection.link.discovered;
  }

  get transport(): TransportName {
    return this.#connection.link.transport;
  }

  get revision(): Revision {
    return this.#connection.link.revision;
  }

  /** Asks the server for its description, or pings an older one. */
  async answersWithin(ms: number): Promise<boolean> {
    const lifetime = new Lifetime();
    const { peer } = this.#parts;
    const call = {
      ...{ id: 'check', method: 'server/discover', params: {}, notify: () => undefined },
      peer: { ...peer, client: peer.client ?? fullmcp, revision: newestRevision, logLevel: undefined },
    };
    const asked = this.#connection.dispatch(withSignal(call, lifetime)).then(
      () => true,
      // An error is an answer, too, unless it is about the connection.
      (error) =>
        !McpError.is(error) || !['connection_closed', 'connect_failed', 'timeout'].includes(error.code),
    );
    const isInTime = await settlesWithin(asked, ms, { unref: true });
    if (isInTime) return asked;
    lifetime.end(new McpError('timeout', `The server did not answer within ${ms} ms.`));
    return false;
  }

  /** Makes a call. `owner` names its caller; undefined if nobody else is known to be the same. */
  dispatch(call: Call, owner?: string): Promise<Outcome> {
    // Over HTTP, log messages arrive on the stream of their call.
    if (this.#connection.link.transport === 'http' || call.method === 'subscriptions/listen')
      return this.#connection.dispatch(call);
    const open: OpenCall = { logLevel: call.peer.logLevel, notify: call.notify, owner };
    this.#calls.add(open);
    return this.#connection.dispatch(call).finally(() => {
      this.#calls.delete(open);
    });
  }

  /** Makes a call whose questions and log messages are passed on. `owner` is as in `dispatch`. */
  begin(forwarded: ForwardedCall, call: Call, owner?: string): void {
    this.#forwarded.add(forwarded);
    forwarded.start(call, (sent) =>
      this.dispatch(sent, owner).finally(() => {
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

  // On a connection that calls share, log messages do not say whose they are. They are given to nobody if that could be another caller.
  #onNotification(method: string, params: JsonObject | undefined): void {
    this.#parts.onNotification?.(method, this);
    if (method !== 'notifications/message') return;
    const level = params?.['level'];
    const open = [...this.#calls];
    const [first] = open;
    const isOfOne =
      open.length === 1 || (first?.owner !== undefined && open.every(({ owner }) => owner === first.owner));
    const latest = open.findLast(
      ({ logLevel }) => logLevel !== undefined && isLogLevel(level) && atLeast(level, logLevel),
    );
    if (isOfOne) latest?.notify(method, params);
  }
}
