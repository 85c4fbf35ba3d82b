import { nextTurn } from '../../async/next-turn.js';

// Decides when a channel reads: a peer that sends more than can be answered waits, and loses nothing.

/** Where a channel's messages come from. */
export interface Input {
  /** Stops reading. Messages that were read already may still be delivered. */
  readonly pause: () => void;
  readonly resume: () => void;
}

export interface IntakeOptions<Message> {
  /** Absent where the transport cannot stop reading. Everything is then handled at once. */
  readonly input: Input | undefined;
  readonly handle: (message: Message) => void;
  /** Whether the peer leaves so much unread that nothing more should be made for it. */
  readonly outputFull: () => boolean;
  /** Whether the limit of open calls is reached. */
  readonly callsFull: () => boolean;
}

/** The number of messages that are handled before their effects are checked. */
const A_TURN = 64;
/** After this long with all calls open, messages are read again: an answer or a cancellation may be what they wait for. */
const PATIENCE_MS = 1000;
const LONGEST_POLL_MS = 50;

/** Hands messages to a channel in order, as fast as the channel can handle them. */
export class Intake<Message> {
  readonly #options: IntakeOptions<Message>;
  #waiting: Message[] = [];
  #next = 0;
  #handled = 0;
  #paused = false;
  #stopped = false;
  #turnEnds = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pollMs = 1;
  /** Since when only open calls are in the way, and whether that has been for too long. */
  #fullSince: number | undefined;
  #impatient = false;

  constructor(options: IntakeOptions<Message>) {
    this.#options = options;
  }

  take(message: Message): void {
    if (this.#stopped) return;
    if (this.#options.input === undefined) return this.#options.handle(message);
    if (!this.#paused) {
      this.#handle(message);
      if (this.#mustWait()) this.#pause();
    } else this.#waiting.push(message);
  }

  /** Looks again: a call has ended, or something has changed that `outputFull` knows of. */
  look(): void {
    if (this.#options.input === undefined || this.#stopped) return;
    if (this.#paused) this.#goOn();
    else if (this.#mustWait()) this.#pause();
  }

  /** A call has ended. Only where messages wait does that matter. */
  freed(): void {
    this.#fullSince = undefined;
    this.#impatient = false;
    if (this.#paused) this.#goOn();
  }

  /** Nothing is handled any more. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#waiting = [];
    this.#next = 0;
  }

  #handle(message: Message): void {
    this.#handled += 1;
    this.#options.handle(message);
  }

  #mustWait(): boolean {
    return this.#handled >= A_TURN ? this.#endTurn() : this.#options.outputFull() || this.#waitsForCalls();
  }

  // Handled messages show their output only when their promises have run.
  #endTurn(): boolean {
    if (!this.#turnEnds) {
      this.#turnEnds = true;
      nextTurn(() => {
        this.#turnEnds = false;
        this.#handled = 0;
        if (this.#paused) this.#goOn();
      });
    }
    return true;
  }

  #waitsForCalls(): boolean {
    if (!this.#options.callsFull()) {
      this.#fullSince = undefined;
      this.#impatient = false;
      return false;
    }
    this.#fullSince ??= performance.now();
    this.#impatient ||= performance.now() - this.#fullSince >= PATIENCE_MS;
    return !this.#impatient;
  }

  #pause(): void {
    this.#paused = true;
    this.#options.input?.pause();
    this.#poll();
  }

  #goOn(): void {
    if (this.#stopped) return;
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
    this.#paused = false;
    this.#options.input?.resume();
  }

  // No runtime tells when a WebSocket's buffer has drained, so that somebody has to look, less and less often.
  #poll(): void {
    if (this.#timer !== undefined || this.#turnEnds) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#goOn();
    }, this.#pollMs);
    this.#pollMs = Math.min(LONGEST_POLL_MS, 2 * this.#pollMs);
  }
}
