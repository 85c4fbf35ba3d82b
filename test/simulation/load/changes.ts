// The changes that replicas announce.

import { RESOURCE, TOOLS } from '../checks/changes.js';
import type { Ledger } from '../checks/ledger.js';
import type { SimulatedCluster } from '../cluster/cluster.js';
import type { World } from '../world/world.js';

/** Plans the changes of a simulation. */
export function planChanges(world: World, ledger: Ledger, cluster: SimulatedCluster): void {
  const { scheduler, random, settings, fate } = world;
  for (let n = 0; n < settings.changes; n++)
    scheduler.after(random.between(0, 1.5 * settings.faultsMs), fate, () => {
      const replica = random.pick(cluster.up.filter(({ isClosing }) => !isClosing));
      const what = random.pick([TOOLS, RESOURCE]);
      if (replica === undefined) return;
      scheduler.after(0, replica.actor, () => {
        ledger.changes.onChange(replica.actor, what);
        if (what === TOOLS) replica.server.changed.tools();
        else replica.server.changed.resource(RESOURCE);
      });
    });
}
