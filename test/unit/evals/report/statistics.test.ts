import { describe, expect, it } from 'vitest';
import { overCases, pairedDifference, signTest, wilson } from '../../../../src/evals/report/statistics.js';

describe("Wilson's interval", () => {
  // From a table of the interval, not from this code.
  it.each([
    [3, 3, 0.438],
    [5, 5, 0.566],
    [10, 10, 0.722],
    [20, 20, 0.839],
    [100, 100, 0.963],
    [8, 10, 0.49],
    [4, 5, 0.376],
  ])('of %i in %i begins at %f', (passed, of, low) => {
    expect(wilson(passed, of).low).toBeCloseTo(low, 2);
  });

  it('of no run is everything', () => {
    expect(wilson(0, 0)).toMatchObject({ low: 0, high: 1 });
    expect(wilson(0, 5)).toMatchObject({ low: 0 });
  });
});

describe('The exact test of pairs', () => {
  it.each([
    [5, 0, 0.0625],
    [6, 0, 0.03125],
    [8, 1, 0.039],
    [10, 3, 0.092],
    [0, 0, 1],
  ])('of %i to %i has p = %f', (up, down, p) => {
    expect(signTest(up, down)).toBeCloseTo(p, 3);
    expect(signTest(down, up)).toBeCloseTo(p, 3);
  });

  it('does not overflow with thousands of cases', () => {
    expect([signTest(900, 600), signTest(1000, 1010)].map((p) => p <= 0.05)).toEqual([true, false]);
  });
});

describe('Cases before and after', () => {
  const cases = (...shares: readonly number[]): readonly number[] => shares;
  const ones = (count: number): readonly number[] => Array(count).fill(1);

  it('are worse only if chance does not explain it', () => {
    const after = ones(40).map((share, at) => (at < 8 ? 0 : share));
    expect(pairedDifference(ones(40), after)).toMatchObject({ verdict: 'worse', difference: -0.2 });
    expect(pairedDifference(after, ones(40)).verdict).toBe('better');
    const little = ones(40).map((share, at) => (at < 3 ? 0 : share));
    expect(pairedDifference(ones(40), little).verdict).toBe('none shown');
  });

  it('are too few to tell anything', () => {
    expect(pairedDifference(cases(1, 1, 1), cases(0, 0, 0)).verdict).toBe('too few');
  });

  it('have the same interval in each run of the program', () => {
    const shares = Array.from({ length: 30 }, (_, at) => (at % 3) / 2);
    expect(overCases(shares)).toEqual(overCases(shares));
    const { share, low, high } = overCases(shares);
    expect([share, low < share, high > share]).toEqual([0.5, true, true]);
  });
});
