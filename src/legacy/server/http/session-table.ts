import type { Lifetime } from '../../../async/lifetime.js';
import { unref } from '../../../async/unref.js';
import type { RequestId } from '../../../jsonrpc/message.js';
import type { Dispatch } from '../../../protocol/call.js';
import { type Caller, principalOf } from '../../../protocol/caller.js';
import { McpError } from '../../../protocol/errors.js';
import { type Handshake, Session } from '../session.js';
import { EndedSessions } from './ended-sessions.js';
import type { ResumableStream } from './resumable-stream.js';
import type { IssuedSession, SessionIds } from './session-id.js';

// The sessions of one process.

/** The state of a session in this process, beyond its id. */
export interface LiveSession {
  readonly id: string;
  readonly session: Session;
  /** The caller that opened the session. */
  readonly principal: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** The first part of the names of the session's streams, so that no session can request another's events. */
  readonly tag: string;
  readonly calls: Map<RequestId, Lifetime>;
  readonly streams: Map<string, ResumableStream>;
  /** The stream for messages that do not belong to a call. */
  getStream: { readonly end: () => void } | undefined;
  usedAt: number;
  /** Whether the operator was warned that answers of this session go to the wrong process. */
  hasWarned: boolean;
}

export interface SessionTableOptions {
  readonly ids: SessionIds;
  readonly dispatch: Dispatch;
  readonly maxSessions: number;
  readonly idleMs: number;
}

/** The sessions that were used in this process recently. A session that is forgotten loses its log level and subscriptions. */
export class SessionTable {
  readonly #live = new Map<string, LiveSession>();
  readonly #ended = new EndedSessions();
  readonly #options: SessionTableOptions;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(options: SessionTableOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#live.size;
  }

  /** Opens a session and returns its id. The session is not stored until the client uses it. */
  async open(
    handshake: Handshake,
    caller: Caller,
  ): Promise<{ readonly id: string; readonly session: Session }> {
    return {
      id: await this.#options.ids.issue(handshake, principalOf(caller)),
      session: new Session(handshake, this.#options.dispatch),
    };
  }

  /** The session, if it belongs to this caller. Another caller's session is treated like one that does not exist. */
  async find(id: string, principal: string): Promise<LiveSession | undefined> {
    const live = this.#live.get(id);
    if (live !== undefined) {
      if (live.principal !== principal) return undefined;
      if (live.expiresAt <= Date.now()) {
        this.#stop(live);
        return undefined;
      }
      live.usedAt = Date.now();
      // Moved to the end, so that the least recently used session is the first.
      this.#live.delete(id);
      this.#live.set(id, live);
      return live;
    }
    const issued = await this.#options.ids.read(id, principal);
    if (issued === undefined || this.#ended.has(id, issued)) return undefined;
    return this.#live.get(id) ?? this.#remember(id, principal, issued);
  }

  #remember(id: string, principal: string, issued: IssuedSession): LiveSession {
    if (this.#live.size >= this.#options.maxSessions) this.#evict();
    const live: LiveSession = {
      id,
      principal,
      session: new Session(issued.handshake, this.#options.dispatch),
      issuedAt: issued.issuedAt,
      expiresAt: issued.expiresAt,
      tag: id.slice(-12),
      calls: new Map(),
      streams: new Map(),
      getStream: undefined,
      usedAt: Date.now(),
      hasWarned: false,
    };
    this.#live.set(id, live);
    this.#timer ??= this.#startTimer();
    return live;
  }

  #evict(): void {
    for (const live of this.#live.values()) {
      if (isIdle(live)) return this.forget(live);
    }
    throw new McpError('overloaded', 'The server has too many sessions. Retry later.', { status: 503 });
  }

  /** Removes a session from memory; its client can continue it. */
  forget(live: LiveSession): void {
    live.session.detach();
    this.#live.delete(live.id);
    if (this.#live.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Ends the session permanently in this process. */
  end(live: LiveSession): void {
    this.#stop(live);
    this.#ended.add(live.id, live);
  }

  #stop(live: LiveSession): void {
    this.forget(live);
    const reason = new McpError('connection_closed', 'The session was ended.');
    for (const lifetime of live.calls.values()) lifetime.end(reason);
    for (const stream of live.streams.values()) stream.end();
    live.getStream?.end();
  }

  close(): void {
    for (const live of [...this.#live.values()]) {
      live.getStream?.end();
      this.forget(live);
    }
  }

  #startTimer(): ReturnType<typeof setInterval> {
    const { idleMs } = this.#options;
    const timer = setInterval(
      () => {
        const now = Date.now();
        for (const live of [...this.#live.values()]) {
          if (live.expiresAt <= now) this.#stop(live);
          else if (live.usedAt <= now - idleMs && isIdle(live)) this.forget(live);
        }
      },
      Math.max(10, Math.min(30_000, idleMs / 2)),
    );
    unref(timer);
    return timer;
  }
}

function isIdle({ calls, getStream, streams }: LiveSession): boolean {
  return calls.size === 0 && streams.size === 0 && getStream === undefined;
}
