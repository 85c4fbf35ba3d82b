const FIRST_SIZE = 64;

/**
 * The open entries, each under a number of its own that counts up. Not a Map: one that is constantly filled and emptied
 * leaves behind tables that point to their successors, and a single table that survived keeps all later ones alive, with
 * everything that was in them, until the whole heap is collected.
 */
export class ByNumber<T extends { readonly id: number }> {
  /** A power of two of them, at most half full. */
  #slots: (T | undefined)[] = new Array(FIRST_SIZE).fill(undefined);
  #size = 0;
  #last = 0;

  /** A new number. The caller puts something under it before it takes the next one. */
  next(): number {
    if (2 * this.#size >= this.#slots.length) this.#grow();
    const mask = this.#slots.length - 1;
    // An entry that stays open for long keeps its slot.
    do this.#last += 1;
    while (this.#slots[this.#last & mask] !== undefined);
    return this.#last;
  }

  /** Adds one under a number that `next` gave. */
  add(open: T): void {
    this.#slots[open.id & (this.#slots.length - 1)] = open;
    this.#size += 1;
  }

  get(id: number): T | undefined {
    const open = this.#slots[id & (this.#slots.length - 1)];
    return open?.id === id ? open : undefined;
  }

  /** Whether it was there. */
  delete(open: T): boolean {
    if (this.get(open.id) !== open) return false;
    this.#slots[open.id & (this.#slots.length - 1)] = undefined;
    this.#size -= 1;
    return true;
  }

  /** All of them now, the oldest first. */
  all(): readonly T[] {
    const open: T[] = [];
    for (const one of this.#slots) if (one !== undefined) open.push(one);
    return open.sort((a, b) => a.id - b.id);
  }

  // Numbers that differ in few low bits differ in more of them too.
  #grow(): void {
    const open = this.all();
    this.#slots = new Array(2 * this.#slots.length).fill(undefined);
    for (const one of open) this.#slots[one.id & (this.#slots.length - 1)] = one;
  }
}
