import { onAbort } from '../../async/abort.js';
import { settlesWithin } from '../../async/deadline.js';
import { backoff, delay } from '../../async/delay.js';
import { PausableTimeout } from '../../async/pausable-timeout.js';
import type { Call, Outcome, Peer } from '../../protocol/call.js';
import { cancelledBy, McpError } from '../../protocol/errors.js';
import type { Link, LinkEvents, OpenLink } from '../../protocol/link.js';
import type { Status } from '../model/client.js';
import type { ReconnectOptions } from '../model/options.js';
import { waitForLink } from './wait-for-link.js';

// The connection of a client: opens a link, and reconnects when the link is lost.

export interface ConnectionParts {
  readonly open: OpenLink;
  readonly client: Pick<Peer, 'client' | 'capabilities'>;
  readonly reconnect: ReconnectOptions | undefined;
  readonly connectTimeoutMs: number;
  readonly events: Omit<LinkEvents, 'lost'>;
  /** Called with each link that is opened. Returns the function that is called when the link ends, with the reason if it was lost. */
  readonly onOpen?: ((link: Link) => ((lost?: McpError) => void) | undefined) | undefined;
  readonly onStatus: (status: Status, reason: McpError | undefined) => void;
  /** Called when the link is lost, and when an attempt to reconnect fails. */
  readonly onFailure: (reason: McpError) => void;
}

/** A call that waits because there is no link. */
interface WaitingCall {
  readonly resolve: (link: Link) => void;
  readonly reject: (reason: McpError) => void;
  /** The number of attempts to reconnect that the call still waits for. */
  attemptsLeft: number;
}

/** After a link has lived this long, a loss counts as new: the delays between attempts start over. */
const STABLE_MS = 5000;
/** The longest time that closing waits for links to end. A process that only reacts to SIGKILL takes five seconds. */
const CLOSE_TIMEOUT_MS = 7000;
/** A call made while there is no link waits for this many attempts to reconnect. */
const ATTEMPTS_PER_CALL = 2;
const finalCodes: readonly string[] = ['unauthorized', 'forbidden'];

/** Keeps a link open: it reconnects when the link is lost, and calls made in the meantime wait. */
export class Connection {
  readonly #parts: ConnectionParts;
  readonly #closing = new AbortController();
  readonly #waiting = new Set<WaitingCall>();
  /** Promises that resolve when links that are lost or abandoned have ended. */
  readonly #endings = new Set<Promise<void>>();
  #link: Link | undefined;
  #onEnd: ((lost?: McpError) => void) | undefined;
  #previous: Link | undefined;
  #openedAt = 0;
  #failures = 0;
  #status: Status = 'ready';
  #closed: Promise<void> | undefined;
  reconnects = 0;
  /** The time when the link was opened, in milliseconds since 1970. */
  connectedAt = 0;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  get status(): Status {
    return this.#status;
  }

  /** The link; while reconnecting, the previous one. */
  get link(): Link {
    return (this.#link ?? this.#previous) as Link;
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
    return this.#nextLink(call.signal).then((link) => link.dispatch(call));
  }

  close(): Promise<void> {
    this.#closed ??= this.#end(new McpError('connection_closed', 'The client was closed'), undefined);
    return this.#closed;
  }

  async #open(signal: AbortSignal | undefined): Promise<void> {
    const ms = this.#parts.connectTimeoutMs;
    const limit = new PausableTimeout(
      ms,
      () => new McpError('timeout', `The server was not ready within ${ms} ms (connectTimeoutMs)`),
    );
    const giveUp = new AbortController();
    const signals = [limit.signal, this.#closing.signal, ...(signal === undefined ? [] : [signal])];
    const aborted = signals.find((one) => one.aborted);
    if (aborted !== undefined) giveUp.abort(aborted.reason);
    const forgets = signals.map((one) => onAbort(one, () => giveUp.abort(one.reason)));
    try {
      await this.#attempt(giveUp.signal, limit);
    } finally {
      limit.end();
      for (const forget of forgets) forget();
    }
  }

  async #attempt(giveUp: AbortSignal, limit: PausableTimeout): Promise<void> {
    const { open, client, events } = this.#parts;
    let link: Link | undefined;
    let earlyLoss: McpError | undefined;
    const lost = (reason: McpError): void => {
      if (link === undefined) earlyLoss = reason;
      else if (link === this.#link) this.#onLost(reason);
    };
    const { whileAsking = (work) => work() } = events;
    const paused: typeof whileAsking = (work) => limit.pauseFor(() => whileAsking(work));
    try {
      giveUp.throwIfAborted();
      const waitUntil = (ending: Promise<void>): void => this.#track(ending);
      const opening = open({ ...events, lost, whileAsking: paused }, { signal: giveUp, client, waitUntil });
      this.#track(opening.then(() => undefined));
      const newLink = await waitForLink(opening, giveUp);
      if (earlyLoss !== undefined) {
        await newLink.close();
        throw earlyLoss;
      }
      link = newLink;
      this.#link = link;
      this.#onEnd = this.#parts.onOpen?.(link);
      this.#openedAt = performance.now();
      this.connectedAt = Date.now();
    } catch (error) {
      throw giveUp.aborted ? cancelledBy(error) : toFailure(error);
    }
  }

  #onLost(reason: McpError): void {
    const link = this.#link;
    this.#previous = link;
    this.#link = undefined;
    this.#onEnd?.(reason);
    if (link !== undefined) this.#track(link.close());
    if (this.#closing.signal.aborted) return;
    const { reconnect, onFailure } = this.#parts;
    onFailure(reason);
    if (reconnect === undefined) {
      this.#closed = this.#end(reason, reason);
      return;
    }
    if (performance.now() - this.#openedAt > STABLE_MS) this.#failures = 0;
    this.#setStatus('reconnecting', reason);
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
        this.#setStatus('ready', undefined);
        for (const { resolve } of this.#waiting) resolve(this.#link as unknown as Link);
        this.#waiting.clear();
        return;
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        reason = toFailure(error);
        this.#parts.onFailure(reason);
        if (finalCodes.includes(reason.code)) break;
        for (const call of this.#waiting) {
          if (--call.attemptsLeft > 0) continue;
          this.#waiting.delete(call);
          call.reject(reason);
        }
      }
    }
    this.#closed = this.#end(reason, reason);
  }

  #nextLink(signal: AbortSignal): Promise<Link> {
    if (this.#status === 'closed')
      return Promise.reject(new McpError('connection_closed', 'The client is closed'));
    return new Promise((resolve, reject) => {
      const call: WaitingCall = {
        resolve: settle(resolve),
        reject: settle(reject),
        attemptsLeft: ATTEMPTS_PER_CALL,
      };
      const abort = (): void => {
        this.#waiting.delete(call);
        reject(cancelledBy(signal.reason));
      };
      function settle<T>(then: (value: T) => void): (value: T) => void {
        return (value) => {
          forget();
          then(value);
        };
      }
      const forget = onAbort(signal, abort);
      this.#waiting.add(call);
    });
  }

  async #end(reason: McpError, statusReason: McpError | undefined): Promise<void> {
    this.#closing.abort(reason);
    const link = this.#link;
    this.#previous = link ?? this.#previous;
    this.#link = undefined;
    if (link !== undefined) this.#onEnd?.();
    for (const { reject } of this.#waiting) reject(reason);
    this.#waiting.clear();
    this.#setStatus('closed', statusReason);
    if (link !== undefined) this.#track(link.close());
    await settlesWithin(this.#drain(), CLOSE_TIMEOUT_MS);
  }

  // A loop, because a link that ends may report another one that is still ending.
  async #drain(): Promise<void> {
    while (this.#endings.size > 0) await Promise.all(this.#endings);
  }

  /** Lets `close` wait for something that is still ending. */
  #track(ending: Promise<void>): void {
    const settled = ending
      .catch(() => undefined)
      .finally(() => {
        this.#endings.delete(settled);
      });
    this.#endings.add(settled);
  }

  #setStatus(status: Status, reason: McpError | undefined): void {
    if (status === this.#status) return;
    this.#status = status;
    this.#parts.onStatus(status, reason);
  }
}

/** Only the program itself sees this error, so it may carry the message of any error. */
function toFailure(error: unknown): McpError {
  if (McpError.is(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new McpError('connect_failed', `Could not connect: ${message}`, { cause: error });
}
