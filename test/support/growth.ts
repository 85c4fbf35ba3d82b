import process from 'node:process';

const ROUNDS = 5;
const LEAST_MICROSECONDS = 2000;

/**
 * How many times as long a function takes for the long input as for the short one: about 10 for ten times the length if the time is linear,
 * 100 if it is quadratic. It counts processor time, and the best of some rounds that alternate, so that other load changes little.
 */
export function growth<T>(work: (input: T) => unknown, short: T, long: T): number {
  // The first runs of a function are the slow ones. Work that takes too little to be measured is repeated.
  let times = 1;
  work(long);
  while (spent(work, short, times) < LEAST_MICROSECONDS) times *= 2;
  const best = { short: Number.POSITIVE_INFINITY, long: Number.POSITIVE_INFINITY };
  for (let round = 0; round < ROUNDS; round++) {
    best.short = Math.min(best.short, spent(work, short, times));
    best.long = Math.min(best.long, spent(work, long, times));
  }
  return best.long / best.short;
}

/** The processor time that some runs take, in microseconds. */
function spent<T>(work: (input: T) => unknown, input: T, times: number): number {
  const from = process.cpuUsage();
  for (let run = 0; run < times; run++) work(input);
  const { user, system } = process.cpuUsage(from);
  return user + system;
}
