import { onAbort } from '../../async/abort.js';
import { settlesWithin, withDeadline } from '../../async/deadline.js';
import { backoff, delay } from '../../async/delay.js';
import type { Call, Outcome, Peer } from '../../protocol/call.js';
import { cancelledBy, McpError } from '../../protocol/errors.js';
import type { Link, LinkEvents, OpenLink } from '../../protocol/link.js';
import type { Status } from '../model/client.js';
import type { ReconnectOptions } from '../model/options.js';

// The connection of a client: opens a link and reconnects.

export interface ConnectionParts {
  readonly open: OpenLink;
  readonly client: Pick<Peer, 'client' | 'capabilities'>;
  readonly reconnect: ReconnectOptions | undefined;
  readonly connectTimeoutMs: number;
  readonly events: Omit<LinkEvents, 'lost'>;
  readonly onStatus: (status: Status, reason: McpError | undefined) => void;
}

interface Waiting {
  readonly resolve: (link: Link) => void;
  readonly reject: (reason: McpError) => void;
  attempts: number;
}

/** After a link has lived this long, a loss counts as new: the delays between attempts start over. */
const STABLE_MS = 5000;
/** How long an opening that was given up may take to clean up. */
const GRACE_MS = 1000;
/** The longest time that closing waits for links to end. A process that only reacts to SIGKILL takes five seconds. */
const CLOSE_TIMEOUT_MS = 7000;
/** A call made while there is no link waits for this many attempts to reconnect. */
const ATTEMPTS_PER_CALL = 2;
const finalCodes: readonly string[] = ['unauthorized', 'forbidden'];

/** Keeps a link open: it reconnects when the link is lost, and calls made in the meantime wait. */
export class Connection {
  readonly #parts: ConnectionParts;
  readonly #closing = new AbortController();
  readonly #waiting = new Set<Waiting>();
  /** Links that are lost or abandoned and have not ended yet. */
  readonly #leaving = new Set<Promise<void>>();
  #link: Link | undefined;
  #last: Link | undefined;
  #openedAt = 0;
  #failures = 0;
  #status: Status = 'ready';
  #closed: Promise<void> | undefined;
  reconnects = 0;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  get status(): Status {
    return this.#status;
  }

  /** The link; while reconnecting, the previous one. */
  get link(): Link {
    return (this.#link ?? this.#last) as Link;
  }

  /** Opens the link for the first time. A failure is final. */
  async start(signal: AbortSignal | undefined): Promise<void> {
    try {
      await this.#open(signal);
    } catch (error) {
      this.#status = 'closed';
      throw error;
    }
  }

  dispatch(call: Call): Promise<Outcome> {
    if (this.#link !== undefined) return this.#link.dispatch(call);
    return this.#next(call.signal).then((link) => link.dispatch(call));
  }

  close(): Promise<void> {
    this.#closed ??= this.#end(new McpError('connection_closed', 'The client was closed'), undefined);
    return this.#closed;
  }

  #open(signal: AbortSignal | undefined): Promise<void> {
    const ms = this.#parts.connectTimeoutMs;
    const closing = this.#closing.signal;
    return withDeadline(
      {
        ms,
        signal: signal === undefined ? closing : AbortSignal.any([closing, signal]),
        reason: () => new McpError('timeout', `The server was not ready within ${ms} ms (connectTimeoutMs)`),
      },
      (giveUp) => this.#attempt(giveUp),
    );
  }

  async #attempt(giveUp: AbortSignal): Promise<void> {
    const { open, client, events } = this.#parts;
    let opened: Link | undefined;
    let lostEarly: McpError | undefined;
    const lost = (reason: McpError): void => {
      if (opened === undefined) lostEarly = reason;
      else if (opened === this.#link) this.#lost(reason);
    };
    try {
      giveUp.throwIfAborted();
      const leaving = (left: Promise<void>): void => this.#leave(left);
      const opening = open({ ...events, lost }, { signal: giveUp, client, leaving });
      this.#leave(opening.then(() => undefined));
      const link = await unlessGivenUp(opening, giveUp);
      if (lostEarly !== undefined) {
        await link.close();
        throw lostEarly;
      }
      opened = link;
      this.#link = link;
      this.#openedAt = performance.now();
    } catch (error) {
      throw giveUp.aborted ? cancelledBy(error) : asFailure(error);
    }
  }

  #lost(reason: McpError): void {
    const link = this.#link;
    this.#last = link;
    this.#link = undefined;
    if (link !== undefined) this.#leave(link.close());
    if (this.#closing.signal.aborted) return;
    const { reconnect } = this.#parts;
    if (reconnect === undefined) {
      this.#closed = this.#end(reason, reason);
      return;
    }
    if (performance.now() - this.#openedAt > STABLE_MS) this.#failures = 0;
    this.#set('reconnecting', reason);
    void this.#reopen(reconnect, reason);
  }

  async #reopen(options: ReconnectOptions, lost: McpError): Promise<void> {
    const { maxAttempts = Number.POSITIVE_INFINITY, baseMs = 200, maxMs = 30_000 } = options;
    let reason = lost;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      try {
        await delay(backoff(this.#failures++, { baseMs, maxMs }), { signal: this.#closing.signal });
        await this.#open(undefined);
        this.reconnects++;
        this.#set('ready', undefined);
        for (const { resolve } of this.#waiting) resolve(this.#link as unknown as Link);
        this.#waiting.clear();
        return;
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        reason = asFailure(error);
        if (finalCodes.includes(reason.code)) break;
        for (const waiting of this.#waiting) {
          if (--waiting.attempts > 0) continue;
          this.#waiting.delete(waiting);
          waiting.reject(reason);
        }
      }
    }
    this.#closed = this.#end(reason, reason);
  }

  #next(signal: AbortSignal): Promise<Link> {
    if (this.#status === 'closed')
      return Promise.reject(new McpError('connection_closed', 'The client is closed'));
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        resolve: settle(resolve),
        reject: settle(reject),
        attempts: ATTEMPTS_PER_CALL,
      };
      const abort = (): void => {
        this.#waiting.delete(waiting);
        reject(cancelledBy(signal.reason));
      };
      function settle<T>(then: (value: T) => void): (value: T) => void {
        return (value) => {
          forget();
          then(value);
        };
      }
      const forget = onAbort(signal, abort);
      this.#waiting.add(waiting);
    });
  }

  async #end(reason: McpError, statusReason: McpError | undefined): Promise<void> {
    this.#closing.abort(reason);
    const link = this.#link;
    this.#last = link ?? this.#last;
    this.#link = undefined;
    for (const { reject } of this.#waiting) reject(reason);
    this.#waiting.clear();
    this.#set('closed', statusReason);
    if (link !== undefined) this.#leave(link.close());
    await settlesWithin(this.#drain(), CLOSE_TIMEOUT_MS);
  }

  // A loop, because a link that ends may report another one that is still ending.
  async #drain(): Promise<void> {
    while (this.#leaving.size > 0) await Promise.all(this.#leaving);
  }

  #leave(leaving: Promise<void>): void {
    const tracked = leaving
      .catch(() => undefined)
      .finally(() => {
        this.#leaving.delete(tracked);
      });
    this.#leaving.add(tracked);
  }

  #set(status: Status, reason: McpError | undefined): void {
    if (status === this.#status) return;
    this.#status = status;
    this.#parts.onStatus(status, reason);
  }
}

/**
 * The link, or the signal's reason if that comes first. The opener gets a moment to clean up and to report how far it came, but
 * is not waited for any longer.
 */
function unlessGivenUp(opening: Promise<Link>, signal: AbortSignal): Promise<Link> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const forget = onAbort(signal, () => {
      timer = setTimeout(() => reject(signal.reason), GRACE_MS);
    });
    opening
      .then(
        (link) => (signal.aborted ? link.close().then(() => reject(signal.reason)) : resolve(link)),
        (error) => reject(signal.aborted ? withCause(signal.reason, error) : error),
      )
      .finally(() => {
        clearTimeout(timer);
        forget();
      });
  });
}

/** A timeout alone says little; the failure that came before it says more. */
function withCause(reason: unknown, cause: unknown): unknown {
  if (!McpError.is(reason) || cause === reason || reason.code !== 'timeout') return reason;
  // The opener may have a better message.
  return McpError.is(cause) && cause.code === 'timeout'
    ? cause
    : new McpError('timeout', reason.message, { cause });
}

/** Only the program itself sees this error, so that it may carry the message of any error. */
function asFailure(error: unknown): McpError {
  if (McpError.is(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new McpError('connect_failed', `The connection could not be opened: ${message}`, { cause: error });
}
