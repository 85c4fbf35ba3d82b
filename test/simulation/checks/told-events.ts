// The events that were emitted, and those that each follower was told.

import type { Violate } from './invariants.js';

/** A client that follows events: everything that it was told, in that order. */
export class Follower {
  readonly told: string[] = [];
  readonly #name: string;
  readonly #violate: Violate;
  readonly #latest = new Map<string, number>();

  constructor(name: string, violate: Violate) {
    this.#name = name;
    this.#violate = violate;
  }

  /** An event was told. Its id has the name of its publisher, and its number. */
  onEvent(id: string): void {
    if (this.told.includes(id))
      return this.#violate('event not told once in order', `${id} twice to ${this.#name}`);
    this.told.push(id);
    const [publisher = '', number] = id.split('_');
    const before = this.#latest.get(publisher) ?? 0;
    if (Number(number) < before)
      this.#violate('event not told once in order', `${id} after number ${before} to ${this.#name}`);
    this.#latest.set(publisher, Math.max(before, Number(number)));
  }

  onGap(): void {
    this.#violate('event not told once in order', `${this.#name} was told of a gap`);
  }
}

/** All emitted events and all followers. */
export class ToldEvents {
  /** The events whose publishers know that they are kept. */
  readonly emitted = new Set<string>();
  readonly followers: Follower[] = [];
  /** The publishers that have not emitted everything. */
  publishing = 0;
  readonly #violate: Violate;

  constructor(violate: Violate) {
    this.#violate = violate;
  }

  newFollower(name: string): Follower {
    const follower = new Follower(name, this.#violate);
    this.followers.push(follower);
    return follower;
  }

  /** The events that a follower was not told. */
  missingFor({ told }: Follower): readonly string[] {
    const known = new Set(told);
    return [...this.emitted].filter((id) => !known.has(id));
  }

  onMissing(name: string, missing: readonly string[]): void {
    this.#violate('event not told once in order', `${missing.join(', ')} not to ${name}`);
  }
}
