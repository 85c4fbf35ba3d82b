// Random numbers from a seed.

/** Numbers from 0 to below 1 that are the same for the same seed, on every machine (mulberry32). Not for secrets. */
export function seeded(seed: number): () => number {
  let state = seed | 0;
  return function random() {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A seed for one of several sequences, so that they do not depend on each other. */
export function derivedSeed(seed: number, stream: number, index: number): number {
  const mixed = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(stream + 1, 0xc2b2ae35);
  return Math.imul(mixed ^ (mixed >>> 13), 0x27d4eb2f) + Math.imul(index + 1, 0x165667b1);
}
