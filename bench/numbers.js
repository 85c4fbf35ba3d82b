/** @param {readonly number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Runs the contenders in turn, round after round, so that what disturbs the machine disturbs them alike. They are
 * compared round by round, and of those comparisons the median counts.
 * @param {Record<string, () => Promise<Record<string, number>>>} contenders
 * @param {number} rounds
 */
export async function interleaved(contenders, rounds) {
  /** @type {Record<string, Record<string, number[]>>} */
  const seen = {};
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of inTurn(Object.entries(contenders), round)) {
      for (const [figure, value] of Object.entries(await run())) {
        seen[name] ??= {};
        seen[name][figure] ??= [];
        seen[name][figure].push(value);
      }
    }
  }
  const compared = (compare) => (figure, one, other) =>
    median(seen[one][figure].map((value, round) => compare(value, seen[other][figure][round])));
  return {
    medians: mapValues(seen, (figures) => mapValues(figures, median)),
    ratio: compared((value, other) => value / other),
    difference: compared((value, other) => value - other),
  };
}

// Who comes after a heavy neighbour changes from round to round.
function inTurn(list, round) {
  const first = round % list.length;
  return [...list.slice(first), ...list.slice(0, first)];
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
