/** Remembers what was used, until it is of no use anyway. */
export interface Once {
  /** True for the first claim of a key, false for every later one. */
  claim(key: string, expiresAt: number): boolean | Promise<boolean>;
}

/** Remembers in this process. */
export function memoryOnce({ maxKeys = 100_000 }: { readonly maxKeys?: number } = {}): Once {
  const claimed = new Map<string, number>();
  return {
    claim(key, expiresAt) {
      const now = Date.now();
      // Claims come in the order of their expiry, near enough: the first in the map are the first to go.
      for (const [old, until] of claimed) {
        if (until > now && claimed.size < maxKeys) break;
        claimed.delete(old);
      }
      if (claimed.has(key)) return false;
      claimed.set(key, expiresAt);
      return true;
    },
  };
}
