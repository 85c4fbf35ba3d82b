interface Part {
  readonly pushed: boolean;
  length: number;
}

/**
 * Tells which part of what a peer has not read yet it did not ask for. Answers are as many as the calls that are open, and a
 * peer that is busy will read them. Notifications have no such limit.
 */
export class Unread {
  /** The parts that were written and may be unread, oldest first. */
  #parts: Part[] = [];
  #length = 0;
  #pushed = 0;

  /** How much of the `buffered` bytes, which lie there now, was not asked for. */
  pushed(buffered: number): number {
    if (this.#length > 0) this.#forgetRead(buffered);
    return this.#pushed;
  }

  /** Something was written, on top of `buffered` bytes. */
  wrote(length: number, { pushed, buffered }: { readonly pushed: boolean; readonly buffered: number }): void {
    if (this.#length > 0) this.#forgetRead(buffered);
    const last = this.#parts.at(-1);
    if (last?.pushed === pushed) last.length += length;
    else this.#parts.push({ pushed, length });
    this.#length += length;
    if (pushed) this.#pushed += length;
  }

  #forgetRead(buffered: number): void {
    if (buffered === 0) {
      this.#parts.length = 0;
      this.#length = 0;
      this.#pushed = 0;
      return;
    }
    let read = this.#length - buffered;
    let whole = 0;
    for (; read > 0; whole++) {
      const part = this.#parts[whole] as Part;
      const taken = Math.min(read, part.length);
      read -= taken;
      this.#length -= taken;
      if (part.pushed) this.#pushed -= taken;
      part.length -= taken;
      if (part.length > 0) break;
    }
    if (whole > 0) this.#parts.splice(0, whole);
  }
}
