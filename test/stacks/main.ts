// Runs stacks from seeds, in this process or, one order after another, for the process that has started this one.

import process from 'node:process';
import { Random } from '../simulation/world/random.js';
import { type PromiseName, runStack } from './run-stack.js';
import { shrink } from './shrink.js';
import { randomStack, type StackSpec } from './spec.js';

/** A stack that broke a promise. */
export interface Failure {
  readonly seed: number;
  readonly promise: PromiseName | 'the run ends';
  readonly detail: string;
}

/** The stack of a seed. */
export function stackOf(seed: number): StackSpec {
  return randomStack(new Random(seed));
}

/** Runs the stack of a seed; its failure, if any. */
export function runSeed(seed: number): Promise<Failure | undefined> {
  return runSpec(seed, stackOf(seed));
}

async function runSpec(seed: number, spec: StackSpec): Promise<Failure | undefined> {
  try {
    const violation = await runStack(spec);
    return violation && { seed, promise: violation.promise, detail: violation.message };
  } catch (error) {
    return { seed, promise: 'the run ends', detail: String((error as Error).stack ?? error) };
  }
}

/** The smallest stack with the same failure that is found by leaving things out, and its failure. */
export async function smallest(
  seed: number,
): Promise<{ readonly spec: StackSpec; readonly failure: Failure } | undefined> {
  const failure = await runSeed(seed);
  if (failure === undefined) return undefined;
  const spec = await shrink(stackOf(seed), async (smaller) => {
    const other = await runSpec(seed, smaller);
    return other?.promise === failure.promise;
  });
  return { spec, failure: (await runSpec(seed, spec)) ?? failure };
}

interface Order {
  readonly from: number;
  readonly count: number;
}

if (process.send !== undefined && process.env['STACKS_CHILD'] !== undefined) {
  // Most errors here are expected, and a trace of each takes longer than the call that fails.
  Error.stackTraceLimit = 0;
  process.on('message', ({ from, count }: Order) => {
    void (async () => {
      const failures: Failure[] = [];
      for (let seed = from; seed < from + count; seed++) {
        const failure = await runSeed(seed);
        if (failure !== undefined) failures.push(failure);
      }
      process.send?.({ count, failures, cpu: process.cpuUsage() });
    })();
  });
}
