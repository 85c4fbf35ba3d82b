const SLICE = 200;

/** Calls `each` for every item, a few hundred per turn of the event loop, so that other work does not wait for all of them. */
export async function inSlices<T>(items: Iterable<T>, each: (item: T) => void): Promise<void> {
  const all = [...items];
  for (let at = 0; at < all.length; at++) {
    if (at > 0 && at % SLICE === 0) await new Promise((resolve) => setTimeout(resolve));
    each(all[at] as T);
  }
}
