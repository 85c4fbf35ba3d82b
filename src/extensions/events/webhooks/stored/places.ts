// The places of subscriptions in the store.

import { groupOfWork } from '../../../../state/changes.js';
import type { StoreChange } from '../../../../state/store.js';
import { callerGroup } from '../../../../state/store-shares.js';

/** The keys of one subscription. All of them are in the group of its caller, so that one write can change them together. */
export interface SubscriptionPlace {
  readonly id: string;
  readonly group: string;
  /** The key in the queue of deliveries. */
  readonly work: string;
  /** The entry with everything that requests decide. */
  readonly head: string;
  /** The entry with everything that deliveries decide. Only the process that holds the work writes it. */
  readonly progress: string;
  /** The entry that is there while events may have to be delivered. */
  readonly news: string;
  /** The entry that is there for a day after the end. */
  readonly ended: string;
  /** The beginning of the keys of events that could not be delivered. */
  readonly dead: string;
  /** The entry that counts the subscriptions of the caller. */
  readonly count: string;
}

/** The place of a subscription by its key in a queue. */
export function placeOfWork(work: string): SubscriptionPlace {
  const group = groupOfWork(work);
  return {
    ...{ group, work, id: work.slice(group.length + 1) },
    head: `event-sub:${work}`,
    progress: `event-progress:${work}`,
    news: `event-news:${work}`,
    ended: `event-ended:${work}`,
    dead: `event-dead:${work}:`,
    count: `event-subs:${group}`,
  };
}

/** The place of a caller's subscription. Other callers look for it elsewhere, and do not find it. */
export async function placeOf(server: string, principal: string, id: string): Promise<SubscriptionPlace> {
  return placeOfWork(`${await callerGroup(server, principal)}:${id}`);
}

/** The entries of the subscribers of a type, in the group of its events. */
export interface TypePlace {
  /** The beginning of the keys of the subscriptions. */
  readonly index: string;
  /** The list of the latest changes of the index. */
  readonly changes: string;
  /** The entry with the number of changes in the list. */
  readonly listed: string;
  /** The entry with the number of all changes. */
  readonly count: string;
  /** The entry with the position up to which subscribers were found. */
  readonly position: string;
  /** The entry that changes with each event. */
  readonly wake: string;
}

/** The place of a type by its group. */
export function typePlace(group: string): TypePlace {
  return {
    index: `event-index:${group}:`,
    changes: `event-index-changes:${group}`,
    listed: `event-index-listed:${group}`,
    count: `event-index-count:${group}`,
    position: `event-fanout-position:${group}`,
    wake: `event-wake:${group}`,
  };
}

/** The queues of a server. */
export interface WebhookQueues {
  /** The types with new events. */
  readonly fanOut: string;
  /** The subscriptions: when something is to be sent, and at their end. */
  readonly delivery: string;
}

/** The names of the queues of a server: with a digest, because a store may not accept its name. */
export async function webhookQueues(server: string): Promise<WebhookQueues> {
  const name = await callerGroup(server, '');
  return { fanOut: `event-fanout:${name}`, delivery: `event-delivery:${name}` };
}

/** The changes that belong in the write of a new event. */
export function newEventChanges({ fanOut }: WebhookQueues, group: string): readonly StoreChange[] {
  return [
    { do: 'enqueue', queue: fanOut, key: group },
    { do: 'put', key: typePlace(group).wake, value: {} },
  ];
}

/** The entries of a host that receives webhooks. */
export interface HostPlace {
  readonly count: string;
  readonly entryOf: (work: string) => string;
}

export async function hostPlace(server: string, host: string): Promise<HostPlace> {
  const group = await callerGroup(server, `host ${host}`);
  return {
    count: `event-host-subs:${group}`,
    entryOf: (work) => `event-host:${group}:${work}`,
  };
}
