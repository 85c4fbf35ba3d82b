import { every } from '../../async/every.js';
import { nextTurn } from '../../async/next-turn.js';

/** The members of a WebSocket that only the package `ws` has. Without them the peer cannot be slowed down or pinged. */
export interface WatchedSocket {
  /** Sends a ping. */
  ping?(): void;
  /** Stops reading. */
  pause?(): void;
  /** Continues reading. */
  resume?(): void;
  /** Listens for pings and pongs. */
  on?(type: 'ping' | 'pong', listener: () => void): unknown;
  /** The number of bytes that are not sent yet. */
  readonly bufferedAmount?: number;
}

export interface PeerWatchOptions {
  /** The interval of pings. A peer that sends nothing until the next ping is dead. 0: never. */
  readonly pingMs: number;
  readonly onDead: () => void;
  /** Called at every check, with the time since the last message and since the socket was opened. */
  readonly onTick?: (age: { readonly quietMs: number; readonly openMs: number }) => void;
  /** The interval of checks without pings. */
  readonly tickMs?: number;
}

/** A pong is two bytes on the wire, but hundreds in memory. */
const MAX_UNREAD_PONGS = 1000;
/** The interval at which a peer that is behind is checked. */
const PAUSE_POLL_MS = 5;

/**
 * Watches the peer at the other end of a WebSocket: whether it is alive, and whether it reads the pongs that its pings cause.
 * The socket itself sends pongs (RFC 6455), so they are not counted anywhere else.
 */
export class PeerWatch {
  readonly #socket: WatchedSocket;
  readonly #options: PeerWatchOptions;
  readonly #openedAt = performance.now();
  #messageAt = this.#openedAt;
  #isAlive = true;
  #silentTicks = 0;
  #unreadPongs = 0;
  #stopTimer: (() => void) | undefined;
  #stopPolling: (() => void) | undefined;

  constructor(socket: WatchedSocket, options: PeerWatchOptions) {
    this.#socket = socket;
    this.#options = options;
    const { pingMs, tickMs = pingMs } = options;
    const everyMs = pingMs > 0 && socket.ping !== undefined ? Math.min(pingMs, tickMs) : tickMs;
    if (everyMs > 0) this.#stopTimer = every(everyMs, () => this.#tick());
    socket.on?.('pong', () => {
      this.#isAlive = true;
    });
  }

  /** Records that a message has arrived. */
  onMessage(): void {
    this.#isAlive = true;
    this.#messageAt = performance.now();
  }

  /** Records that a ping has arrived. */
  onPing(): void {
    this.#isAlive = true;
    this.#messageAt = performance.now();
    this.#unreadPongs = this.#buffered === 0 ? 0 : this.#unreadPongs + 1;
  }

  /** Whether the peer leaves more than `maxBytes`, or too many pongs, unread. */
  isBehind(maxBytes: number): boolean {
    const buffered = this.#buffered;
    if (buffered === 0) this.#unreadPongs = 0;
    return buffered > maxBytes || this.#unreadPongs > MAX_UNREAD_PONGS;
  }

  /** Pauses reading while the peer leaves too much unread. For a socket that nothing else pauses. */
  pauseWhileBehind(maxBytes: number): void {
    const { pause, resume } = this.#socket;
    if (
      this.#stopPolling !== undefined ||
      pause === undefined ||
      resume === undefined ||
      !this.isBehind(maxBytes)
    )
      return;
    this.#socket.pause?.();
    const resumeIfRead = (): void => {
      if (this.isBehind(maxBytes)) return;
      this.#stopPolling?.();
      this.#stopPolling = undefined;
      this.#socket.resume?.();
    };
    // A socket that is not read does not keep the process alive.
    this.#stopPolling = every(PAUSE_POLL_MS, resumeIfRead, { unref: false });
  }

  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    if (this.#stopPolling === undefined) return;
    this.#stopPolling();
    // The peer's close frame must be read.
    this.#socket.resume?.();
  }

  get #buffered(): number {
    return this.#socket.bufferedAmount ?? 0;
  }

  get #pings(): boolean {
    return this.#options.pingMs > 0 && this.#socket.ping !== undefined;
  }

  #tick(): void {
    if (!this.#pings || this.#isAlive) return this.#goOn();
    this.#silentTicks += 1;
    // A ping waits behind unread output, and nothing is read from a slow peer while it is paused.
    if (this.#silentTicks < (this.#buffered > 0 ? 4 : 1)) return this.#goOn();
    // A process that was busy or suspended is here before it has read what arrived meanwhile, such as the pong.
    nextTurn(() => this.#judge());
  }

  #judge(): void {
    if (this.#stopTimer === undefined) return;
    if (this.#isAlive) this.#goOn();
    else this.#options.onDead();
  }

  #goOn(): void {
    const now = performance.now();
    if (this.#pings) {
      if (this.#isAlive) this.#silentTicks = 0;
      this.#isAlive = false;
      this.#socket.ping?.();
    }
    this.#options.onTick?.({ quietMs: now - this.#messageAt, openMs: now - this.#openedAt });
  }
}
