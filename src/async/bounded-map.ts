/** A map with a largest number of entries. An entry that is set becomes the newest, and the oldest one makes room for it. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #maxEntries: number;

  constructor(maxEntries: number) {
    super();
    this.#maxEntries = maxEntries;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    if (this.size >= this.#maxEntries) this.delete(this.keys().next().value as K);
    return super.set(key, value);
  }
}
