// Runs the seeds that run.js asks for, in a process of its own or in the same one.

import process from 'node:process';
import type { Invariant, Violation } from './checks/invariants.js';
import { plants } from './plants/plants.js';
import { simulate } from './simulate.js';

/** The seeds that a process is to run. */
export interface Order {
  readonly from: number;
  readonly count: number;
  /** The promise that a planted bug is to break. */
  readonly plant?: Invariant;
  /** Whether the digests of all traces are reported. */
  readonly mustDigest?: boolean;
}

/** The findings of a process. */
export interface Report {
  readonly order: Order;
  readonly failures: readonly SeedFailure[];
  readonly digests: readonly string[];
  readonly events: number;
  readonly simulatedMs: number;
}

/** A seed that broke promises. */
export interface SeedFailure {
  readonly seed: number;
  readonly violations: readonly Violation[];
}

/** All promises, with a bug that breaks each, and the seed where the search for it begins. */
export const planted: readonly (readonly [Invariant, bug: string, from: number])[] = Object.entries(
  plants,
).map(([invariant, { bug, from = 1 }]) => [invariant as Invariant, bug, from]);

const turn = globalThis.setImmediate;
let unhandled: unknown[] = [];
process.on('unhandledRejection', (error) => unhandled.push(error));

/** Runs one seed, with a trace that can be read. */
export async function replay(seed: number, plant?: Invariant): ReturnType<typeof simulate> {
  const simulated = await simulate(seed, { isTraced: true, plant: plant && plants[plant] });
  return { ...simulated, violations: [...simulated.violations, ...(await errorsLeft())] };
}

/** Runs seeds. */
export async function runSeeds(order: Order): Promise<Report> {
  const failures: SeedFailure[] = [];
  const digests: string[] = [];
  let [events, simulatedMs] = [0, 0];
  for (let seed = order.from; seed < order.from + order.count; seed++) {
    const { mustDigest: isTraced = false, plant } = order;
    const simulated = await simulate(seed, { isTraced, plant: plant && plants[plant] });
    const violations = [...simulated.violations, ...(await errorsLeft())];
    if (violations.length > 0) failures.push({ seed, violations });
    if (isTraced) digests.push(`${seed} ${simulated.trace.digest}`);
    events += simulated.events;
    simulatedMs += simulated.simulatedMs;
  }
  return { order, failures, digests, events, simulatedMs };
}

/** The rejections that nobody has handled. The real event loop reports them. */
async function errorsLeft(): Promise<readonly Violation[]> {
  await new Promise((resolve) => turn(resolve));
  const errors = unhandled;
  unhandled = [];
  return errors.map((error) => ({
    invariant: 'unhandled error',
    detail: error instanceof Error ? String(error.stack) : String(error),
  }));
}

process.on('message', (order: Order) => {
  // Most errors here are expected, and their traces take time. A seed that is run by itself has them.
  Error.stackTraceLimit = 0;
  void runSeeds(order).then((report) => process.send?.(report));
});
