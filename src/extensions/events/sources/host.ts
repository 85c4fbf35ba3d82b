// The sources of the events of a server, besides `emit`: transactions, schedules and changes of resources.

import { putInOf } from '../../../state/transaction.js';
import { eventGroup } from '../log/keys.js';
import type { SourceHost, SourceParts } from '../source-host.js';
import { Chores } from './chores.js';
import { ResourceChanges } from './resource-changes.js';
import { Schedules } from './schedules/schedules.js';
import { TransactionEvents } from './transactions.js';

/** Makes the sources of a server. */
export async function sourceHost({ parts, histories, emit, read }: SourceParts): Promise<SourceHost> {
  const { server, store, log, leaseMs, news, events } = parts;
  const changes = new ResourceChanges({ events, log, emit });
  const schedules = new Schedules({ ...parts, histories, read });
  // No type has this name.
  const group = await eventGroup(server, '');
  const chores = new Chores({
    ...{ store, log, leaseMs, queue: `event-work:${group}` },
    find: async (key) =>
      key === group ? (lease, signal) => committed.move(lease, signal) : schedules.find(key),
  });
  const committed = new TransactionEvents({
    ...{ store, histories, news, server, group },
    hurry: () => chores.hurry(group),
  });
  return {
    async keep(type, event, client) {
      chores.add(group);
      return committed.keep(type, event, client);
    },
    changed: (message) => changes.keep(message),
    async start() {
      for (const key of await schedules.keys()) chores.add(key);
      if (putInOf(store) !== undefined) chores.add(group);
    },
    async close(drainMs) {
      committed.close();
      await chores.close(drainMs);
    },
    end: () => changes.end(),
  };
}
