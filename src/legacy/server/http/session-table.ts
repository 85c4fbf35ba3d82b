import { every } from '../../../async/every.js';
import type { Lifetime } from '../../../async/lifetime.js';
import { unref } from '../../../async/unref.js';
import type { RequestId } from '../../../jsonrpc/message.js';
import type { Dispatch } from '../../../protocol/call.js';
import { type Caller, principalOf } from '../../../protocol/caller.js';
import { cancelledByClient, McpError } from '../../../protocol/errors.js';
import { SessionVia } from '../../../protocol/telemetry/session-via.js';
import { ClientRequests } from '../client-requests.js';
import type { Handshake } from '../handshake.js';
import { Session } from '../session.js';
import { type FactChange, initialFacts, type SessionFacts } from '../session-facts.js';
import { randomPart } from '../shared/pending-calls.js';
import type { DirectoryKey, SessionDirectory, SessionMessage } from '../shared/session-directory.js';
import { SessionReads } from '../shared/session-reads.js';
import type { ResumableStream } from './resumable-stream.js';
import type { IssuedSession, SessionIds } from './session-id.js';

// The sessions of one process.

/** The state of a session in this process, beyond its id. */
export interface LiveSession extends DirectoryKey {
  /** Empty for a request without a session, whose reply nobody can resume. */
  readonly id: string;
  readonly session: Session;
  /** The way of its calls. */
  readonly via: SessionVia;
  /** The caller that opened the session. */
  readonly principal: string;
  readonly calls: Map<RequestId, Lifetime>;
  readonly streams: Map<string, ResumableStream>;
  /** The stream for messages that do not belong to a call. */
  getStream: { readonly end: () => void } | undefined;
  /** When the session was used, and when the directory was asked about it, by the clock that nobody can set. */
  usedAt: number;
  checkedAt: number;
  /** Whether a timer runs after which the directory is asked again. */
  willCheckAgain: boolean;
  /** Whether the log level and the subscriptions are known. Without the store, only what the id says is known. */
  hasFacts: boolean;
  /** Whether this process knows that the session has ended. */
  isOver: boolean;
  /** The last change of the session that this process stores. */
  changing: Promise<unknown> | undefined;
}

export interface SessionTableOptions {
  readonly ids: SessionIds;
  readonly dispatch: Dispatch;
  readonly directory: SessionDirectory;
  readonly maxSessions: number;
  readonly idleMs: number;
}

interface FindOptions {
  readonly needsFacts?: boolean;
}

/** Another process may have ended the session, and the bus may have lost its message. */
const CHECK_MS = 1000;
const CHECK_AGAIN_MS = 2000;
/** A client that only reads a stream makes no request, so the directory is asked about its session after this time. */
const CHECK_OPEN_MS = 120_000;
// The last characters of the signature: enough for no two sessions to share them.
const TAG_LENGTH = 22;

/** The sessions that were used in this process recently. */
export class SessionTable {
  readonly #live = new Map<string, LiveSession>();
  readonly #reads: SessionReads;
  readonly #options: SessionTableOptions;
  // No session waits for answers by itself.
  readonly #clientRequests = new ClientRequests();
  #stopTimer: (() => void) | undefined;

  constructor(options: SessionTableOptions) {
    this.#options = options;
    this.#reads = new SessionReads(options.directory);
    const message = (received: SessionMessage): void => this.#receive(received);
    options.directory.topic.subscribe({ message, gap: () => void this.#checkAll() });
  }

  get size(): number {
    return this.#live.size;
  }

  /** The session with this tag, if it is in memory. */
  get(tag: string): LiveSession | undefined {
    return this.#live.get(tag);
  }

  /** The sessions in memory. */
  sessions(): readonly LiveSession[] {
    return [...this.#live.values()];
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

  /**
   * The session, if it belongs to this caller. Another caller's session is treated like one that does not exist. While the store is
   * away, the session is the one that its id describes: a caller could open a new one just as well. With `needsFacts`, the log level
   * and the subscriptions must be known.
   */
  async find(
    id: string,
    principal: string,
    { needsFacts = false }: FindOptions = {},
  ): Promise<LiveSession | undefined> {
    const tag = id.slice(-TAG_LENGTH);
    const live = this.#live.get(tag);
    if (live?.id !== id) return this.#restore(id, principal, needsFacts);
    if (live.principal !== principal) return undefined;
    if (live.expiresAt <= Date.now()) {
      this.#stop(live);
      return undefined;
    }
    await this.#refresh(live, needsFacts);
    if (this.#live.get(tag) !== live) return this.#restore(id, principal, needsFacts);
    live.usedAt = performance.now();
    // Moved to the end, so that the least recently used session is the first.
    this.#live.delete(tag);
    this.#live.set(tag, live);
    return live;
  }

  /** Asks the directory about a session, if that is due. A request waits for the reply only if the store is not known to be away. */
  async #refresh(live: LiveSession, needsFacts: boolean): Promise<void> {
    const mustKnow = needsFacts && !live.hasFacts;
    const isDue = !live.hasFacts || this.#options.directory.mayHaveChanged(live.checkedAt, CHECK_MS);
    if (mustKnow || (isDue && !this.#reads.isAway)) await this.#check(live);
    else if (isDue && needsFacts) this.#checkLater(live);
    if (mustKnow && !live.hasFacts && !live.isOver) throw notLookedUp();
  }

  /** Makes a session from its id, and from what its client has set in another process or earlier. */
  async #restore(id: string, principal: string, needsFacts: boolean): Promise<LiveSession | undefined> {
    const { ids, directory } = this.#options;
    const issued = await ids.read(id, principal);
    if (issued === undefined) return undefined;
    const tag = id.slice(-TAG_LENGTH);
    const { issuedAt, expiresAt } = issued;
    const key = { tag, issuedAt, expiresAt };
    const mayWait = needsFacts || !this.#reads.isAway;
    const facts = await (mayWait ? this.#reads.read(key) : Promise.reject(notLookedUp())).catch(
      (error: unknown) => {
        if (needsFacts) throw notLookedUp(error);
        return 'unknown' as const;
      },
    );
    if (facts === undefined || directory.hasEnded(key)) return undefined;
    const known = this.#live.get(tag);
    if (known !== undefined) {
      if (facts !== 'unknown') learn(known, facts);
      return known;
    }
    return this.#remember(id, principal, { ...issued, facts: facts === 'unknown' ? undefined : facts });
  }

  /** The session of a request that names none. Its client has declared nothing, so that nobody is asked. */
  alone(handshake: Handshake, principal: string): LiveSession {
    return this.#remember('', principal, {
      handshake,
      facts: initialFacts,
      issuedAt: 0,
      expiresAt: Infinity,
    });
  }

  /** Makes a session, and keeps it if it has an id. */
  #remember(
    id: string,
    principal: string,
    { handshake, facts, issuedAt, expiresAt }: IssuedSession & { readonly facts: SessionFacts | undefined },
  ): LiveSession {
    if (id !== '' && this.#live.size >= this.#options.maxSessions) this.#evict();
    const session = new Session(handshake, this.#options.dispatch, {
      clientRequests: this.#clientRequests,
      remember: (change) => this.#change(live, change),
    });
    const live: LiveSession = {
      id,
      principal,
      session,
      via: new SessionVia('http'),
      issuedAt,
      expiresAt,
      tag: id.slice(-TAG_LENGTH) || randomPart(),
      calls: new Map(),
      streams: new Map(),
      getStream: undefined,
      usedAt: performance.now(),
      checkedAt: performance.now(),
      willCheckAgain: false,
      hasFacts: facts !== undefined,
      isOver: false,
      changing: undefined,
    };
    session.restore(facts ?? initialFacts);
    if (id === '') return live;
    this.#live.set(live.tag, live);
    this.#stopTimer ??= this.#startTimer();
    return live;
  }

  async #change(live: LiveSession, change: FactChange): Promise<SessionFacts> {
    // One after the other: changes at the same time would refuse each other's writes.
    const before = live.changing ?? Promise.resolve();
    const changing = before.then(() => this.#options.directory.remember(live, change));
    live.changing = changing.catch(() => undefined);
    try {
      return await changing;
    } catch (error) {
      if (McpError.is(error)) throw error;
      throw new McpError('overloaded', 'The change could not be stored. Retry later.', { cause: error });
    } finally {
      this.#reads.noteNews(live.tag);
    }
  }

  // A store that is unavailable does not end the sessions that this process knows.
  async #check(live: LiveSession): Promise<void> {
    live.checkedAt = performance.now();
    const facts = await this.#reads.read(live).catch(() => 'unknown' as const);
    if (facts === undefined) this.#stop(live);
    else if (facts !== 'unknown') learn(live, facts);
    else this.#checkLater(live);
  }

  #checkLater(live: LiveSession): void {
    // One timer for each session: those of many requests would all start again for as long as the store is away.
    if (live.willCheckAgain) return;
    live.willCheckAgain = true;
    unref(setTimeout(() => this.#checkAgain(live), CHECK_AGAIN_MS));
  }

  // The requests of a client with a stream may all go to other processes, so nothing else makes this one look again.
  #checkAgain(live: LiveSession): void {
    live.willCheckAgain = false;
    if (this.#live.get(live.tag) === live && live.getStream !== undefined) void this.#check(live);
  }

  // Messages of other processes were lost: each session that is busy may have ended.
  async #checkAll(): Promise<void> {
    this.#reads.noteNews();
    for (const live of this.sessions()) {
      live.checkedAt = Number.NEGATIVE_INFINITY;
      if (!isIdle(live)) await this.#check(live);
    }
  }

  #receive(message: SessionMessage): void {
    if (message.do === 'end') this.#options.directory.noteEnd(message);
    this.#reads.noteNews(message.session);
    const live = this.#live.get(message.session);
    if (live === undefined) return;
    switch (message.do) {
      case 'end':
        return this.#stop(live);
      case 'recall':
        live.checkedAt = Number.NEGATIVE_INFINITY;
        // At once: a resource that changes after this message must not be missed while the store is read.
        if (message.change !== undefined) live.session.anticipate(message.change);
        return void (live.getStream && this.#check(live));
      case 'listen':
        live.getStream?.end();
        live.getStream = undefined;
        return live.session.detach();
      case 'cancel':
        return live.calls.get(message.id)?.end(cancelledByClient(message.reason));
      case 'answered':
        return;
      default:
        return message satisfies never;
    }
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
    live.via.end();
    if (this.#live.get(live.tag) === live) this.#live.delete(live.tag);
    if (this.#live.size > 0) return;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  /** Ends the session permanently, in all processes. */
  async end(live: LiveSession): Promise<void> {
    this.#stop(live);
    await this.#options.directory.end(live).catch((error: unknown) => {
      throw new McpError('overloaded', 'The session could not be ended everywhere. Send DELETE again.', {
        cause: error,
      });
    });
    // Until the end was stored, another request may have found the session there, and taken it into memory again.
    const restored = this.#live.get(live.tag);
    if (restored !== undefined) this.#stop(restored);
  }

  #stop(live: LiveSession): void {
    live.isOver = true;
    this.forget(live);
    const reason = new McpError('connection_closed', 'The session was ended.');
    for (const lifetime of live.calls.values()) lifetime.end(reason);
    for (const stream of live.streams.values()) stream.end();
    live.getStream?.end();
  }

  /** Ends the GET streams and the connections that read what other processes write. */
  close(): void {
    for (const live of this.sessions()) {
      live.getStream?.end();
      for (const stream of [...live.streams.values()]) stream.close();
      this.forget(live);
    }
    this.#reads.close();
    this.#options.directory.topic.close();
  }

  #startTimer(): () => void {
    const { idleMs } = this.#options;
    return every(Math.max(10, Math.min(30_000, idleMs / 2)), () => this.#sweep());
  }

  #sweep(): void {
    for (const live of this.sessions()) {
      if (live.expiresAt <= Date.now()) this.#stop(live);
      else if (isIdle(live)) {
        if (live.usedAt <= performance.now() - this.#options.idleMs) this.forget(live);
      } else if (this.#options.directory.mayHaveChanged(live.checkedAt, CHECK_OPEN_MS))
        void this.#check(live);
    }
  }
}

function isIdle({ calls, getStream, streams }: LiveSession): boolean {
  return calls.size === 0 && streams.size === 0 && getStream === undefined;
}

function learn(live: LiveSession, facts: SessionFacts): void {
  live.hasFacts = true;
  live.session.restore(facts, { isLate: true });
}

function notLookedUp(cause?: unknown): McpError {
  return new McpError('overloaded', 'The session cannot be looked up now. Retry later.', { cause });
}
