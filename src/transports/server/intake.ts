import { nextTurn } from '../../async/next-turn.js';

/** The source of a channel's messages. */
export interface Input {
  /** Pauses reading. Messages that were already read may still be delivered. */
  readonly pause: () => void;
  readonly resume: () => void;
}

export interface IntakeOptions<Message> {
  /** Undefined if the transport cannot pause: then every message is handled at once. */
  readonly input: Input | undefined;
  readonly handle: (message: Message) => void;
  /** Whether the peer leaves so much unread that no further message should be handled. */
  readonly outputFull: () => boolean;
  /** Whether the limit of open calls is reached. */
  readonly callsFull: () => boolean;
}

/** The number of messages that are handled before their effects are checked. */
const MESSAGES_PER_TURN = 64;
/** After this long at the limit of open calls, messages are read again: the calls may wait for an answer or a cancellation. */
const MAX_FULL_MS = 1000;
const MAX_POLL_MS = 50;

/**
 * Hands messages to a channel in order. While the channel cannot keep up, reading is paused: the peer waits, and nothing is
 * lost.
 */
export class Intake<Message> {
  readonly #options: IntakeOptions<Message>;
  #waiting: Message[] = [];
  #next = 0;
  #handled = 0;
  /** Whether a message is being handled. Its call may end before it returns. */
  #isHandling = false;
  #isPaused = false;
  #isStopped = false;
  #isTurnEnding = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pollMs = 1;
  /** The time since which only the limit of open calls stops the reading, and whether that is too long ago. */
  #fullSince: number | undefined;
  #isFullTooLong = false;

  constructor(options: IntakeOptions<Message>) {
    this.#options = options;
  }

  receive(message: Message): void {
    if (this.#isStopped) return;
    if (this.#options.input === undefined) return this.#options.handle(message);
    if (!this.#isPaused) {
      this.#handle(message);
      if (this.#mustWait()) this.#pause();
    } else this.#waiting.push(message);
  }

  /** Checks again whether messages may be handled: `outputFull` may have changed. */
  recheck(): void {
    if (this.#options.input === undefined || this.#isStopped) return;
    if (this.#isPaused) this.#continue();
    else if (this.#mustWait()) this.#pause();
  }

  /** Continues with the waiting messages, if there are any. */
  onCallEnded(): void {
    this.#fullSince = undefined;
    this.#isFullTooLong = false;
    if (this.#isPaused && !this.#isHandling) this.#continue();
  }

  /** Drops the waiting messages and handles no further ones. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#waiting = [];
    this.#next = 0;
  }

  #handle(message: Message): void {
    this.#handled += 1;
    this.#isHandling = true;
    try {
      this.#options.handle(message);
    } finally {
      this.#isHandling = false;
    }
  }

  #mustWait(): boolean {
    return this.#handled >= MESSAGES_PER_TURN
      ? this.#endTurn()
      : this.#options.outputFull() || this.#waitsForCalls();
  }

  // Messages of this turn have produced their output only when their promises have run.
  #endTurn(): boolean {
    if (!this.#isTurnEnding) {
      this.#isTurnEnding = true;
      nextTurn(() => {
        this.#isTurnEnding = false;
        this.#handled = 0;
        if (this.#isPaused) this.#continue();
      });
    }
    return true;
  }

  #waitsForCalls(): boolean {
    if (!this.#options.callsFull()) {
      this.#fullSince = undefined;
      this.#isFullTooLong = false;
      return false;
    }
    this.#fullSince ??= performance.now();
    this.#isFullTooLong ||= performance.now() - this.#fullSince >= MAX_FULL_MS;
    return !this.#isFullTooLong;
  }

  #pause(): void {
    this.#isPaused = true;
    this.#options.input?.pause();
    this.#poll();
  }

  #continue(): void {
    if (this.#isStopped) return;
    while (!this.#mustWait()) {
      if (this.#next === this.#waiting.length) return this.#resume();
      this.#handle(this.#waiting[this.#next++] as Message);
    }
    this.#poll();
  }

  #resume(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pollMs = 1;
    this.#waiting = [];
    this.#next = 0;
    this.#isPaused = false;
    this.#options.input?.resume();
  }

  // No runtime reports that a WebSocket's buffer has drained, so it is polled, at growing intervals.
  #poll(): void {
    if (this.#timer !== undefined || this.#isTurnEnding) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#continue();
    }, this.#pollMs);
    this.#pollMs = Math.min(MAX_POLL_MS, 2 * this.#pollMs);
  }
}
