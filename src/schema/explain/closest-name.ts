// Finds the name that a misspelled one was probably meant to be.

// Field names are short. The distance costs the square of the length, so longer names are skipped.
const MAX_LENGTH = 40;
const MAX_NAMES = 100;

/** The name that a misspelled one was probably meant to be: `userNmae` and `user_name` are both close to `userName`. */
export function closestName(name: string, names: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const plainName = plain(name);
  let best: string | undefined;
  let bestDistance = tolerance(plainName) + 1;
  for (const candidate of names.slice(0, MAX_NAMES)) {
    if (candidate.length > MAX_LENGTH) continue;
    const plainCandidate = plain(candidate);
    // The lengths alone rule out most names, without the cost of the distance.
    if (Math.abs(plainCandidate.length - plainName.length) >= bestDistance) continue;
    // For a name of two letters, the only likely mistake is a missing end.
    if (plainName.length < 3 && !plainCandidate.startsWith(plainName)) continue;
    const distance = editDistance(plainName, plainCandidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** The largest distance that still counts as close. For a name of one letter every guess would be noise. */
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
      const isSame = a[i - 1] === b[j - 1];
      let cost = Math.min(cell(last, j) + 1, cell(row, j - 1) + 1, cell(last, j - 1) + (isSame ? 0 : 1));
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) cost = Math.min(cost, cell(beforeLast, j - 2) + 1);
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
