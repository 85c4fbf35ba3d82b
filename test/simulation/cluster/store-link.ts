// The connection of a replica to the store: slow, unreliable, and cut off at times.

import type { Lease, Store, StoreChange, Written } from 'fullmcp';
import type { Ledger } from '../checks/ledger.js';
import type { Actor } from '../world/scheduler.js';
import type { World } from '../world/world.js';
import type { Condition } from './condition.js';

/** The parts of a connection to the store. */
export interface StoreLinkParts {
  readonly world: World;
  readonly ledger: Ledger;
  /** The store itself, and the actor whose clock it uses. */
  readonly store: Store;
  readonly storeActor: Actor;
  readonly replica: Actor;
  readonly condition: Condition;
}

interface Request<T> {
  readonly text: () => string;
  readonly isRead: boolean;
  readonly run: (store: Store) => Promise<T>;
  readonly observe?: (result: T) => void;
}

/**
 * Connects a replica to the store. A call gets there late, in any order, or not at all; its reply gets lost after the call took
 * effect; and a call without a reply fails after a time. A call that has failed does not take effect later.
 */
export function storeLink(parts: StoreLinkParts): Store {
  const { world, ledger, store, storeActor, replica, condition } = parts;
  const { scheduler, settings } = world;
  let isClosed = false;

  function send<T>({ text, isRead, run, observe }: Request<T>): Promise<T> {
    if (isClosed) return Promise.reject(new Error('The store is closed'));
    return new Promise((resolve, reject) => {
      let isOver = false;
      const end = (settle: () => void): void => {
        if (isOver) return;
        isOver = true;
        timer.cancel();
        settle();
      };
      const timer = scheduler.after(
        settings.storeTimeoutMs,
        replica,
        () =>
          end(() => {
            world.note(() => `store: no reply to ${text()}`);
            if (isRead) ledger.onFailedRead(replica);
            reject(new Error('The store did not reply in time'));
          }),
        true,
      );
      world.note(() => `store: ${text()}`);
      const reply = (settle: () => void): void => {
        if (condition.isStoreCut || world.fails(settings.losses.storeReply)) return;
        scheduler.after(condition.storeDelay(), replica, () => end(settle));
      };
      if (condition.isStoreCut || world.fails(settings.losses.storeRequest)) return;
      const sentAt = scheduler.now;
      scheduler.after(condition.storeDelay(), storeActor, () => {
        // The caller has given up, and its connection is closed.
        if (condition.isStoreCut || scheduler.now - sentAt >= settings.storeTimeoutMs) return;
        run(store).then(
          (result) => {
            world.note(() => `${replica.name}: ${text()} → ${JSON.stringify(result)}`);
            observe?.(result);
            reply(() => resolve(result));
          },
          (error: unknown) => {
            world.note(() => `${replica.name}: ${text()} → ${String(error)}`);
            reply(() => reject(error));
          },
        );
      });
    });
  }

  const read = <T>(text: () => string, run: (store: Store) => Promise<T>): Promise<T> =>
    send({ text, isRead: true, run });

  return {
    get: (key) =>
      read(
        () => `get ${key}`,
        (inner) => inner.get(key),
      ),
    page: (prefix, range) =>
      read(
        () => `page ${prefix}`,
        (inner) => inner.page(prefix, range),
      ),
    items: (list, range) =>
      read(
        () => `items ${list} after ${range?.after ?? '-'}`,
        (inner) => inner.items(list, range),
      ),
    size: (queue) =>
      read(
        () => `size ${queue}`,
        (inner) => inner.size(queue),
      ),
    write(changes, options = {}) {
      // A message that was sent does not change any more.
      const sent = JSON.parse(JSON.stringify(changes)) as readonly StoreChange[];
      return send<Written>({
        text: () => `write ${printChanges(sent)}${options.guard ? ` under ${options.guard.token}` : ''}`,
        isRead: false,
        run: (inner) => inner.write(sent, options),
        observe: (written) => ledger.onWrite(replica, { changes: sent, guard: options.guard, written }),
      });
    },
    claim: (queue, options) =>
      send<readonly Lease[]>({
        text: () => `claim ${options.limit} of ${queue} for ${options.ms} ms`,
        isRead: false,
        run: (inner) => inner.claim(queue, options),
        observe: (leases) => ledger.onClaim(replica, leases, options.ms),
      }),
    renew: (leases, ms) =>
      send<readonly Lease[]>({
        text: () => `renew ${leases.map(({ token }) => token)} for ${ms} ms`,
        isRead: false,
        run: (inner) => inner.renew(leases, ms),
        observe: (renewed) => ledger.onRenew(renewed, ms),
      }),
    async close() {
      isClosed = true;
    },
  };
}

function printChanges(changes: readonly StoreChange[]): string {
  return changes.map((change) => JSON.stringify(change)).join(' ');
}
