// Field names are short; longer ones are not worth the square of their length.
const MAX_LENGTH = 40;
const MAX_NAMES = 100;

/** The known name a misspelt one was probably meant to be: `userNmae` and `user_name` are both near `userName`. */
export function closestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const wanted = plain(name);
  let best: string | undefined;
  let bestDistance = tolerance(wanted) + 1;
  for (const candidate of known.slice(0, MAX_NAMES)) {
    if (candidate.length > MAX_LENGTH) continue;
    const named = plain(candidate);
    // Most names differ too much in length alone; the distance costs the square of it.
    if (Math.abs(named.length - wanted.length) >= bestDistance) continue;
    // Of two letters, only one that was left off at the end is likely.
    if (wanted.length < 3 && !named.startsWith(wanted)) continue;
    const distance = editDistance(wanted, named);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** A guess about a name of one letter would be noise. */
function tolerance(name: string): number {
  if (name.length < 2) return 0;
  return name.length < 6 ? 1 : 2;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll('_', '').replaceAll('-', '');
}

/** Insertions, deletions, substitutions, and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(cell(last, j) + 1, cell(row, j - 1) + 1, cell(last, j - 1) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, cell(beforeLast, j - 2) + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return cell(last, b.length);
}

function cell(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
