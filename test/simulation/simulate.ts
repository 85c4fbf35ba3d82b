// One simulation: a cluster, its clients and its faults, from a seed.

import { memoryStore } from 'fullmcp';
import { memoryEventLog } from 'fullmcp/http';
import { checkEmpty, checkEnds, checkKeyedTasks, checkListeners } from './checks/final-checks.js';
import type { Violation } from './checks/invariants.js';
import { Ledger } from './checks/ledger.js';
import { SimulatedCluster } from './cluster/cluster.js';
import { Network } from './cluster/network.js';
import { TTL_MS } from './cluster/replica.js';
import { SimulatedBus } from './cluster/simulated-bus.js';
import { longestFault, planFaults } from './faults.js';
import { planChanges } from './load/changes.js';
import { Load } from './load/load.js';
import type { Plant } from './plants/plant.js';
import { installGlobals } from './world/globals.js';
import { newActor } from './world/scheduler.js';
import { Trace, World } from './world/world.js';

/** The options of a simulation. */
export interface SimulateOptions {
  /** Whether every event is recorded, so that it can be read. */
  readonly isTraced?: boolean;
  readonly plant?: Plant | undefined;
}

/** The result of a simulation. */
export interface Simulated {
  readonly violations: readonly Violation[];
  readonly trace: Trace;
  readonly events: number;
  readonly simulatedMs: number;
}

/** The longest time, after the last fault, until everything has ended. */
const PATIENCE_MS = 600_000;
/** The time in which everybody hears of the last ends and changes: a bus that was cut off is tried again every ten seconds. */
const QUIET_MS = 12_000;
/** The time in which replicas end and others take over, and in which everything that has expired is removed. */
const SETTLED_MS = 10_000;
/** The time in which the clients of sessions visit the replicas. */
const VISIT_MS = 2000;
/** The time after which nothing is kept any more. */
const ALL_EXPIRED_MS = 30 * 86_400_000;

/** Runs the simulation of a seed. */
export async function simulate(
  seed: number,
  { isTraced = false, plant }: SimulateOptions = {},
): Promise<Simulated> {
  const world = new World(seed, new Trace(isTraced));
  const restore = installGlobals(world.scheduler, world.random.fork());
  const ledger = new Ledger(world);
  let simulatedMs = 0;
  try {
    simulatedMs = await run(world, ledger, plant);
  } catch (error) {
    ledger.violate('unhandled error', error instanceof Error ? String(error.stack) : String(error));
  } finally {
    restore();
  }
  const { count } = world.scheduler;
  return { violations: ledger.violations, trace: world.trace, events: count, simulatedMs };
}

/** Resolves with the time until all clients had ended. */
async function run(world: World, ledger: Ledger, plant: Plant | undefined): Promise<number> {
  const { scheduler, settings, random } = world;
  const storeActor = newActor('store');
  scheduler.current = storeActor;
  const inner = memoryStore();
  const store = plant?.store?.(inner, random) ?? inner;
  const ownLog = memoryEventLog({ maxAgeMs: TTL_MS });
  const log = plant?.log?.(ownLog, random) ?? ownLog;
  const bus = new SimulatedBus(world, plant?.bus);
  const cluster = new SimulatedCluster({ world, ledger, store, log, storeActor, bus });
  const load = new Load({ world, ledger, network: new Network(world, cluster) });
  for (let n = 0; n < settings.replicas; n++) cluster.start(random.between(0, 50));
  load.start();
  planFaults(world, cluster);
  planChanges(world, ledger, cluster);
  await world.runFor(settings.faultsMs);
  for (let waited = 0; waited < PATIENCE_MS && load.running > 0; waited += 1000) await world.runFor(1000);
  checkEnds(ledger, load);
  const endedAt = scheduler.now;
  if (ledger.violations.length > 0) return endedAt;
  await world.runFor(longestFault(settings) + QUIET_MS);
  checkListeners(ledger, load);
  checkKeyedTasks(ledger);
  ledger.changes.check();
  if (load.visit()) await world.runFor(VISIT_MS);
  checkEnds(ledger, load);
  load.stop();
  for (const replica of cluster.up) replica.close();
  cluster.start(0);
  await world.runFor(SETTLED_MS);
  load.knock();
  // Everybody sleeps until all tasks have expired.
  scheduler.now += TTL_MS;
  await world.runFor(SETTLED_MS);
  await checkEmpty(world, ledger, { store: inner, storeActor, isAllExpired: false });
  for (const replica of cluster.up) replica.close();
  await world.runFor(SETTLED_MS);
  scheduler.now += ALL_EXPIRED_MS;
  await checkEmpty(world, ledger, { store: inner, storeActor, isAllExpired: true });
  return endedAt;
}
