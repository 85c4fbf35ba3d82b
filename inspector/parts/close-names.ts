// Which name was probably meant.

/** The item whose name has the fewest different letters, or contains most of what was typed; undefined if none is close. */
export function closest<T extends { readonly name: string }>(
  typed: string,
  items: readonly T[],
): T | undefined {
  const wanted = typed.toLowerCase().slice(0, 40);
  let best: T | undefined;
  let bestDistance = wanted.length > 3 ? 2.5 : 1.5;
  for (const item of items.slice(0, 1000)) {
    const name = item.name.toLowerCase().slice(0, 80);
    // A part of the name counts as well: "piza" is close to "order_pizza".
    for (const part of [name, ...name.split(/[_\-./ ]/)]) {
      const far = distance(wanted, part);
      if (far < bestDistance) {
        bestDistance = far;
        best = item;
      }
    }
  }
  return best;
}

/** How many letters must be typed, deleted or changed to make one of the other. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
