import { unref } from '../../async/unref.js';

/** The parts of a WebSocket that only the package `ws` has. Without them the peer cannot be slowed down or pinged. */
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
  /** How often the peer is pinged. If nothing comes of it until the next ping, it is dead. 0: never. */
  readonly pingMs: number;
  readonly onDead: () => void;
  /** Called as often as the socket is looked after, with how long no message came and how long it has been open. */
  readonly onLook?: (age: { readonly quietMs: number; readonly openMs: number }) => void;
  /** How often to look where there are no pings. */
  readonly lookMs?: number;
}

/** A pong weighs two bytes on the wire, and hundreds in memory. */
const MOST_PONGS = 1000;
/** How often a peer that is held back is looked at. */
const HELD_MS = 5;

/**
 * Looks after the peer at the other end of a WebSocket: whether it lives, and whether it reads the pongs that it asks for. RFC
 * 6455 has pings answered by the socket itself, where nobody counts them.
 */
export class PeerWatch {
  readonly #socket: WatchedSocket;
  readonly #options: PeerWatchOptions;
  readonly #openedAt = performance.now();
  #messageAt = this.#openedAt;
  #heard = true;
  #silent = 0;
  #pongs = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #held: ReturnType<typeof setInterval> | undefined;

  constructor(socket: WatchedSocket, options: PeerWatchOptions) {
    this.#socket = socket;
    this.#options = options;
    const { pingMs, lookMs = pingMs } = options;
    const everyMs = pingMs > 0 && socket.ping !== undefined ? Math.min(pingMs, lookMs) : lookMs;
    if (everyMs > 0) {
      this.#timer = setInterval(() => this.#look(), everyMs);
      unref(this.#timer);
    }
    socket.on?.('pong', () => {
      this.#heard = true;
    });
  }

  /** A message came. */
  heard(): void {
    this.#heard = true;
    this.#messageAt = performance.now();
  }

  /** A ping came. */
  pinged(): void {
    this.#heard = true;
    this.#messageAt = performance.now();
    this.#pongs = this.#buffered === 0 ? 0 : this.#pongs + 1;
  }

  /** Whether the peer leaves more unread than it should: `most` bytes, or many pongs. */
  unread(most: number): boolean {
    const buffered = this.#buffered;
    if (buffered === 0) this.#pongs = 0;
    return buffered > most || this.#pongs > MOST_PONGS;
  }

  /** Reads nothing more while the peer leaves too much unread. For those who have no other say in what is read. */
  holdBack(most: number): void {
    const { pause, resume } = this.#socket;
    if (this.#held !== undefined || pause === undefined || resume === undefined || !this.unread(most)) return;
    this.#socket.pause?.();
    this.#held = setInterval(() => {
      if (this.unread(most)) return;
      clearInterval(this.#held);
      this.#held = undefined;
      this.#socket.resume?.();
    }, HELD_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    if (this.#held === undefined) return;
    clearInterval(this.#held);
    // The other side's goodbye has to be read.
    this.#socket.resume?.();
  }

  get #buffered(): number {
    return this.#socket.bufferedAmount ?? 0;
  }

  #look(): void {
    const { pingMs, onDead, onLook } = this.#options;
    const now = performance.now();
    if (pingMs > 0 && this.#socket.ping !== undefined) {
      this.#silent = this.#heard ? 0 : this.#silent + 1;
      // A ping lies behind what the peer still has to read, and a peer that reads slowly is not heard while it is held back.
      if (this.#silent >= (this.#buffered > 0 ? 4 : 1)) return onDead();
      this.#heard = false;
      this.#socket.ping();
    }
    onLook?.({ quietMs: now - this.#messageAt, openMs: now - this.#openedAt });
  }
}
