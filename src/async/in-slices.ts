const SLICE = 200;

/** Does something to each of many items, a few hundred a turn of the event loop, so that nobody else waits for all of them. */
export async function inSlices<T>(items: Iterable<T>, each: (item: T) => void): Promise<void> {
  const all = [...items];
  for (let at = 0; at < all.length; at++) {
    if (at > 0 && at % SLICE === 0) await new Promise((resolve) => setTimeout(resolve));
    each(all[at] as T);
  }
}
