import { execFileSync } from 'node:child_process';

/** Milliseconds on a clock that all processes of a machine share. */
export function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Runs the contenders in turn, round after round, so that a disturbance of the machine affects them alike. They are
 * compared round by round, and the median of those comparisons counts.
 * @param {Record<string, () => Promise<Record<string, number>>>} contenders
 * @param {number} rounds
 */
export async function interleaved(contenders, rounds) {
  /** @type {Record<string, Record<string, number[]>>} */
  const samples = {};
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of inTurn(Object.entries(contenders), round)) {
      for (const [figure, value] of Object.entries(await run())) {
        samples[name] ??= {};
        samples[name][figure] ??= [];
        samples[name][figure].push(value);
      }
    }
  }
  const medianOf = (compare) => (figure, one, other) =>
    median(samples[one][figure].map((value, round) => compare(value, samples[other][figure][round])));
  return {
    medians: mapValues(samples, (figures) => mapValues(figures, median)),
    ratio: medianOf((value, other) => value / other),
    difference: medianOf((value, other) => value - other),
  };
}

// Each round starts with another contender, so that none always follows a heavy one.
function inTurn(list, round) {
  const first = round % list.length;
  return [...list.slice(first), ...list.slice(0, first)];
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

/** When, on what and with which commit a run was measured; files that differ from the commit are named. */
export function about() {
  const git = (...args) => execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '--untracked-files=no', '--', '../src', '../package.json');
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    commit: git('rev-parse', 'HEAD'),
    ...(changed !== '' && { changed: changed.split('\n').map((line) => line.slice(3)) }),
  };
}
