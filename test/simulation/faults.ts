// The faults of a simulation: when what happens to which replica.

import type { SimulatedCluster } from './cluster/cluster.js';
import type { Replica } from './cluster/replica.js';
import type { Settings } from './world/settings.js';
import type { World } from './world/world.js';

type Fault = (world: World, cluster: SimulatedCluster, replica: Replica) => void;

const LONG_MS = 25_000;
/** The time in which a replica closes, and another takes its place. */
const SETTLED_MS = 10_000;

const faults: Readonly<Record<string, Fault>> = {
  crash(world, cluster, replica) {
    cluster.kill(replica);
    cluster.start(world.random.between(10, 5000));
  },
  close(world, cluster, replica) {
    replica.close();
    cluster.start(world.random.between(10, 5000));
  },
  pause(world, _cluster, { actor }) {
    const ms = lasts(world);
    // A process that is away for longer than its leases is deposed, and its unsent messages are lost with it.
    if (ms >= world.settings.leaseMs / 2) actor.mayBeDeposed = true;
    world.scheduler.pause(actor);
    world.scheduler.after(ms, world.fate, () => {
      world.note(() => `resume ${actor.name}`);
      world.scheduler.resume(actor);
    });
  },
  'cut off from the store': (world, _cluster, { condition }) => cut(world, condition, 'isStoreCut'),
  'cut off from the bus': (world, _cluster, { condition }) => cut(world, condition, 'isBusCut'),
  'cut off from clients': (world, _cluster, { condition }) => cut(world, condition, 'isNetworkCut'),
  'slow store': (world, _cluster, { condition }) => cut(world, condition, 'isStoreSlow'),
  'clock jump'(world, _cluster, { actor }) {
    actor.skewMs += world.random.between(-600_000, 600_000);
  },
  'crash of all'(world, cluster) {
    for (const each of cluster.up) {
      cluster.kill(each);
      cluster.start(world.random.between(10, 5000));
    }
  },
};

/** The longest time that a fault lasts. */
export function longestFault({ leaseMs }: Settings): number {
  return Math.min(LONG_MS, 2.5 * leaseMs);
}

/** Longer than some leases, and shorter than others. */
function lasts(world: World): number {
  const { random, settings } = world;
  const ms = Math.min(LONG_MS, random.between(0.1, 2.5) * settings.leaseMs);
  world.trouble(ms);
  return ms;
}

function cut<Name extends string>(world: World, condition: Record<Name, boolean>, name: Name): void {
  condition[name] = true as (typeof condition)[Name];
  world.scheduler.after(lasts(world), world.fate, () => {
    world.note(() => `no longer ${name}`);
    condition[name] = false as (typeof condition)[Name];
  });
}

/** Plans the faults of a simulation, and their end. */
export function planFaults(world: World, cluster: SimulatedCluster): void {
  const { scheduler, random, settings, fate } = world;
  for (let n = 0; n < settings.faults; n++)
    scheduler.after(random.between(0, settings.faultsMs), fate, () => {
      const replica = random.pick(cluster.up);
      const name = random.pick(Object.keys(faults));
      if (replica === undefined) return;
      world.note(() => `FAULT ${name}: ${replica.actor.name}`);
      world.trouble(SETTLED_MS);
      faults[name]?.(world, cluster, replica);
    });
  scheduler.after(settings.faultsMs, fate, () => {
    world.note(() => 'no further faults');
    world.isFaulty = false;
  });
}
