const BLOCK = 4096;

/**
 * The beginning of a line whose end has not arrived yet. Collects slices of chunks and joins them once. A large slice is kept as
 * it is; a small one is copied into a block, so that a line that arrives byte by byte does not cost an object per byte. The
 * memory is at most about twice the bytes that were added, however they arrived.
 */
export class PendingBytes {
  #pieces: Uint8Array[] = [];
  #block: Uint8Array | undefined;
  #used = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The bytes of `slice` must not change until they are taken. */
  add(slice: Uint8Array): void {
    this.#length += slice.length;
    if (slice.length < BLOCK) {
      this.#addToBlock(slice);
      return;
    }
    this.#seal();
    // A view keeps its whole buffer alive, most of which may be consumed already. Not `slice.slice()`: on a Node Buffer that is a
    // view again.
    const pins = slice.buffer.byteLength > 2 * slice.length;
    this.#pieces.push(pins ? new Uint8Array(slice) : slice);
  }

  /** Returns the bytes, followed by `tail`, and clears them. */
  take(tail: Uint8Array): Uint8Array {
    const joined = new Uint8Array(this.#length + tail.length);
    this.#seal();
    let at = 0;
    for (const piece of this.#pieces) {
      joined.set(piece, at);
      at += piece.length;
    }
    joined.set(tail, at);
    this.clear();
    return joined;
  }

  clear(): void {
    this.#pieces = [];
    this.#block = undefined;
    this.#used = 0;
    this.#length = 0;
  }

  #addToBlock(slice: Uint8Array): void {
    if (this.#used + slice.length > BLOCK) this.#seal();
    this.#block ??= new Uint8Array(BLOCK);
    this.#block.set(slice, this.#used);
    this.#used += slice.length;
  }

  #seal(): void {
    if (this.#block === undefined) return;
    this.#pieces.push(this.#block.subarray(0, this.#used));
    this.#block = undefined;
    this.#used = 0;
  }
}
