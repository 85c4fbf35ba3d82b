// Counts what the parts of a stack keep of the names that callers invent: every Map and Set that holds one of them.

/** A part of every invented name. */
export const INVENTED = 'inv~';

interface Holder {
  has(key: unknown): boolean;
}

/** Remembers where invented names were put, while it is open. */
export class HeldNames {
  readonly #holders = new Map<Holder, Set<string>>();
  readonly #restore: () => void;
  #isWatching = true;

  constructor() {
    const { set } = Map.prototype;
    const { add } = Set.prototype;
    const note = (holder: Holder, key: unknown): void => {
      if (!this.#isWatching || typeof key !== 'string' || !key.includes(INVENTED)) return;
      this.#isWatching = false;
      const keys = this.#holders.get(holder) ?? new Set();
      keys.add(key);
      this.#holders.set(holder, keys);
      this.#isWatching = true;
    };
    Map.prototype.set = function (this: Map<unknown, unknown>, key, value) {
      note(this, key);
      return set.call(this, key, value);
    } as typeof set;
    Set.prototype.add = function (this: Set<unknown>, key) {
      note(this, key);
      return add.call(this, key);
    } as typeof add;
    this.#restore = () => {
      Map.prototype.set = set;
      Set.prototype.add = add;
    };
  }

  /** The names that are still held: how many, and how long they are together. */
  get held(): { readonly count: number; readonly chars: number; readonly longest: number } {
    let [count, chars, longest] = [0, 0, 0];
    for (const [holder, keys] of this.#holders)
      for (const key of keys)
        if (holder.has(key)) {
          count++;
          chars += key.length;
          longest = Math.max(longest, key.length);
        }
    return { count, chars, longest };
  }

  close(): void {
    this.#restore();
  }
}
