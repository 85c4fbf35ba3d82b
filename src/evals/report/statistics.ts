// Intervals for shares, and comparisons of two runs of the same cases.

import { seeded } from '../../testing/faults/seeded.js';

/** A share with its interval of 95 %. */
export interface Share {
  /** The share that passed, from 0 to 1. */
  readonly share: number;
  /** The lower end of the interval. */
  readonly low: number;
  /** The upper end of the interval. */
  readonly high: number;
}

const Z = 1.959963984540054;
const SAMPLES = 2000;
const SEED = 20261119;

/** Wilson's interval for runs of one case. */
export function wilson(passed: number, of: number): Share {
  if (of === 0) return { share: 0, low: 0, high: 1 };
  const share = passed / of;
  const z2 = Z * Z;
  const middle = (share + z2 / (2 * of)) / (1 + z2 / of);
  const half = (Z / (1 + z2 / of)) * Math.sqrt((share * (1 - share)) / of + z2 / (4 * of * of));
  return { share, low: passed === 0 ? 0 : middle - half, high: passed === of ? 1 : middle + half };
}

/**
 * The mean of the shares of many cases. Runs of a case are alike, so the interval is drawn over cases. If all cases are equal there is nothing to
 * draw, and Wilson's interval of as many cases is the honest one.
 */
export function overCases(shares: readonly number[]): Share {
  const share = mean(shares);
  if (shares.length < 2 || shares.every((one) => one === shares[0])) {
    return wilson(share * shares.length, shares.length);
  }
  const [low, high] = bootstrap(shares);
  return { share, low, high };
}

/** The verdict of a comparison: `too few` if not even a difference in every case that differs could be told from chance. */
export type PairedVerdict = 'worse' | 'better' | 'none shown' | 'too few';

/** The difference of the shares of the same cases, before and after. With several `models`, each needs a clearer one. */
export function pairedDifference(
  before: readonly number[],
  after: readonly number[],
  { models = 1 }: { readonly models?: number } = {},
): {
  readonly difference: number;
  readonly low: number;
  readonly high: number;
  readonly verdict: PairedVerdict;
} {
  const differences = before.map((share, at) => (after[at] ?? 0) - share);
  const difference = mean(differences);
  const moved = differences.filter((one) => one !== 0);
  const [low, high] = moved.length === 0 ? [0, 0] : bootstrap(differences);
  const up = moved.filter((one) => one > 0).length;
  // The sign test alone decides with few cases: 5 to 0 is chance in 6 %, 6 to 0 in 3 %.
  const isShown = signTest(up, moved.length - up) <= 0.05 / models && (low > 0 || high < 0);
  const verdict = isShown
    ? difference < 0
      ? 'worse'
      : 'better'
    : before.length < LEAST_CASES
      ? 'too few'
      : 'none shown';
  return { difference, low, high, verdict };
}

/** With fewer cases, no result would show a difference. */
const LEAST_CASES = 6;

/** The two-sided exact test of McNemar, for how many cases moved up and down. */
export function signTest(up: number, down: number): number {
  const of = up + down;
  if (of === 0) return 1;
  // The powers below are too large for a number. With as many cases, the normal distribution is as good.
  if (of > 1000) return Math.abs(up - down) / Math.sqrt(of) > Z ? 0.05 : 1;
  let tail = 0;
  let ways = 1;
  for (let count = 0; count <= Math.min(up, down); count++) {
    tail += ways;
    ways = (ways * (of - count)) / (count + 1);
  }
  return Math.min(1, (2 * tail) / 2 ** of);
}

function bootstrap(values: readonly number[]): readonly [low: number, high: number] {
  const random = seeded(SEED);
  const means = Array.from({ length: SAMPLES }, () => {
    let sum = 0;
    for (let at = 0; at < values.length; at++) sum += values[Math.floor(random() * values.length)] ?? 0;
    return sum / values.length;
  }).sort((one, other) => one - other);
  return [means[Math.floor(SAMPLES * 0.025)] ?? 0, means[Math.ceil(SAMPLES * 0.975) - 1] ?? 0];
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, one) => sum + one, 0) / values.length;
}
