import type { JsonObject } from '../../jsonrpc/message.js';
import type { ServerCapabilities, SubscriptionFilter } from './model.js';

// The filters of `subscriptions/listen`: the changes that a client wants, and those that a server grants.

/** A list whose changes a server announces. */
export type ListKind = 'tools' | 'prompts' | 'resources';

export const listKinds: readonly ListKind[] = ['tools', 'prompts', 'resources'];

/** All lists that may change. Programs subscribe to the list of types of events in another way. */
export const changingLists: readonly (ListKind | 'events')[] = [...listKinds, 'events'];
const idFields = ['resourceSubscriptions', 'taskIds'] as const;

/** The notification with which a server says which part of a filter it grants. */
export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** Whether a filter includes no change at all. */
export function isEmpty(filter: SubscriptionFilter): boolean {
  return Object.keys(filter).length === 0;
}

/** The part of a filter that a server offers. The kind `resource` stands for the contents of resources. Tasks are left out. */
export function grant(
  filter: SubscriptionFilter,
  offers: (kind: ListKind | 'events' | 'resource') => boolean | undefined,
): SubscriptionFilter {
  const part: SubscriptionFilter = {};
  if (filter.eventsListChanged === true && offers('events')) part.eventsListChanged = true;
  for (const kind of listKinds)
    if (filter[`${kind}ListChanged`] === true && offers(kind)) part[`${kind}ListChanged`] = true;
  if (filter.resourceSubscriptions?.length && offers('resource'))
    part.resourceSubscriptions = [...filter.resourceSubscriptions];
  return part;
}

/** The changes that a server offers, according to its capabilities. */
export function offersOf(capabilities: ServerCapabilities): Parameters<typeof grant>[1] {
  return (kind) =>
    kind === 'resource' ? capabilities.resources?.subscribe : capabilities[kind]?.listChanged;
}

/** The filter that includes the changes of all these filters. */
export function union(filters: readonly SubscriptionFilter[]): SubscriptionFilter {
  const all: SubscriptionFilter = {};
  for (const kind of listKinds)
    if (filters.some((filter) => filter[`${kind}ListChanged`])) all[`${kind}ListChanged`] = true;
  for (const field of idFields) {
    const ids = new Set(filters.flatMap((filter) => filter[field] ?? []));
    if (ids.size > 0) all[field] = [...ids];
  }
  return all;
}

/** The filter that includes only the changes of both filters. */
export function intersection(one: SubscriptionFilter, other: SubscriptionFilter): SubscriptionFilter {
  const both = grant(one, (kind) => kind !== 'resource' && other[`${kind}ListChanged`] === true);
  for (const field of idFields) {
    const ids = new Set(one[field]?.filter((id) => other[field]?.includes(id)));
    if (ids.size > 0) both[field] = [...ids];
  }
  return both;
}

/** Whether `larger` includes everything that `smaller` does. */
export function covers(larger: SubscriptionFilter, smaller: SubscriptionFilter): boolean {
  return JSON.stringify(intersection(smaller, larger)) === JSON.stringify(union([smaller]));
}

/** Whether a notification is one of the changes that a filter includes. */
export function includes(
  filter: SubscriptionFilter,
  method: string,
  params: JsonObject | undefined,
): boolean {
  if (method === 'notifications/resources/updated')
    return filter.resourceSubscriptions?.some((uri) => isWithin(params?.['uri'], uri)) === true;
  if (method === 'notifications/tasks')
    return filter.taskIds?.includes(params?.['taskId'] as string) === true;
  return changingLists.some(
    (kind) => method === `notifications/${kind}/list_changed` && filter[`${kind}ListChanged`] === true,
  );
}

/** Whether a URI is `whole` or lies below it: an update may name a sub-resource of the one that was subscribed to. */
function isWithin(uri: unknown, whole: string): boolean {
  return (
    uri === whole || (typeof uri === 'string' && uri.startsWith(whole.endsWith('/') ? whole : `${whole}/`))
  );
}

/** Reports every list and resource of a filter as changed: after a gap, a subscriber cannot know what it missed. */
export function reportAllChanged(
  filter: SubscriptionFilter,
  notify: (method: string, params?: JsonObject) => void,
): void {
  for (const kind of changingLists)
    if (filter[`${kind}ListChanged`]) notify(`notifications/${kind}/list_changed`);
  for (const uri of filter.resourceSubscriptions ?? []) notify('notifications/resources/updated', { uri });
}
