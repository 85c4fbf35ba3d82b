// Random numbers that follow from a seed.

/** A stream of random numbers. The same seed always gives the same stream. */
export class Random {
  #state: number;

  constructor(seed: number) {
    // Neighbouring seeds must not give similar streams.
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.floor(seed / 0x1_0000_0000);
    for (let turn = 0; turn < 4; turn++) this.next();
  }

  /** A number from 0 to 1, without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  /** A whole number, both ends included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** A whole number from 0 to 255. */
  byte(): number {
    return Math.floor(this.next() * 256);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)] as T;
  }

  /** A stream of its own, so that the numbers of one part do not depend on how many another part takes. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 0x1_0000_0000) * 2 ** 20 + Math.floor(this.next() * 2 ** 20));
  }
}
