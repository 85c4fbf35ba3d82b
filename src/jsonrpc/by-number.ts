const FIRST_SIZE = 64;

/**
 * Open entries, each under an increasing number. Not a Map: a Map that is constantly filled and emptied leaves behind tables that
 * point to their successors, and a single surviving table keeps all later ones alive, with everything that was in them, until
 * the whole heap is collected.
 */
export class ByNumber<T extends { readonly id: number }> {
  /** The number of slots is a power of two, and at most half of them are used. */
  #slots: (T | undefined)[] = new Array(FIRST_SIZE).fill(undefined);
  #size = 0;
  #last = 0;

  /** Returns a new number. The caller must add an entry under it before the next call. */
  next(): number {
    if (2 * this.#size >= this.#slots.length) this.#grow();
    const mask = this.#slots.length - 1;
    // Skips slots of entries that have been open for long.
    do this.#last += 1;
    while (this.#slots[this.#last & mask] !== undefined);
    return this.#last;
  }

  /** Adds an entry under a number that `next` returned. */
  add(open: T): void {
    this.#slots[open.id & (this.#slots.length - 1)] = open;
    this.#size += 1;
  }

  get(id: number): T | undefined {
    const open = this.#slots[id & (this.#slots.length - 1)];
    return open?.id === id ? open : undefined;
  }

  /** Removes an entry. Returns whether it was there. */
  delete(open: T): boolean {
    if (this.get(open.id) !== open) return false;
    this.#slots[open.id & (this.#slots.length - 1)] = undefined;
    this.#size -= 1;
    return true;
  }

  /** All entries, oldest first. */
  all(): readonly T[] {
    const open: T[] = [];
    for (const one of this.#slots) if (one !== undefined) open.push(one);
    return open.sort((a, b) => a.id - b.id);
  }

  // Entries in different slots stay in different slots, because more of the low bits are compared.
  #grow(): void {
    const open = this.all();
    this.#slots = new Array(2 * this.#slots.length).fill(undefined);
    for (const one of open) this.#slots[one.id & (this.#slots.length - 1)] = one;
  }
}
