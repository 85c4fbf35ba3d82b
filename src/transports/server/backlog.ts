import { isBehind } from '../../async/unread.js';

/** Consecutive messages of one kind. */
interface Run {
  readonly unsolicited: boolean;
  length: number;
}

/**
 * The output that a peer has not read yet. Each response belongs to a call of the peer, and reading pauses while too many are
 * unread. Messages that the peer did not ask for have no such limit, so only these count against the peer.
 */
export class Backlog {
  readonly #buffered: () => number;
  readonly #maxBytes: number;
  /** The messages that were written and may be unread, oldest first. */
  #runs: Run[] = [];
  #length = 0;
  #unsolicited = 0;

  /** `buffered` tells the number of bytes that were written and not yet sent. */
  constructor(buffered: () => number, maxBytes: number) {
    this.#buffered = buffered;
    this.#maxBytes = maxBytes;
  }

  /** Whether so many unsolicited messages are unread that the peer must have stopped reading. */
  get isFull(): boolean {
    if (this.#length > 0) this.#forgetRead();
    return isBehind(this.#unsolicited, this.#maxBytes);
  }

  /** Records a message that the peer did not ask for, before it is written. */
  addUnsolicited(length: number): void {
    this.#add(length, true);
    this.#unsolicited += length;
  }

  /** Records a response, before it is written. */
  addResponse(length: number): void {
    this.#add(length, false);
  }

  #add(length: number, unsolicited: boolean): void {
    if (this.#length > 0) this.#forgetRead();
    const last = this.#runs.at(-1);
    if (last?.unsolicited === unsolicited) last.length += length;
    else this.#runs.push({ unsolicited, length });
    this.#length += length;
  }

  #forgetRead(): void {
    const buffered = this.#buffered();
    if (buffered === 0) {
      this.#runs.length = 0;
      this.#length = 0;
      this.#unsolicited = 0;
      return;
    }
    let read = this.#length - buffered;
    let whole = 0;
    for (; read > 0; whole++) {
      const run = this.#runs[whole] as Run;
      const length = Math.min(read, run.length);
      read -= length;
      this.#length -= length;
      if (run.unsolicited) this.#unsolicited -= length;
      run.length -= length;
      if (run.length > 0) break;
    }
    if (whole > 0) this.#runs.splice(0, whole);
  }
}
