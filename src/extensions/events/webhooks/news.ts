// Notes for a subscription that there is something to deliver.

import type { Store, StoreChange } from '../../../state/store.js';
import type { SubscriptionPlace, WebhookQueues } from './stored/places.js';
import type { News } from './stored/subscription.js';
import type { WebhookType } from './types.js';

/** A note that is to be added to those that a subscription has. */
export interface NewsInit extends Pick<News, 'range' | 'resend'> {
  readonly place: SubscriptionPlace;
  readonly type: Pick<WebhookType, 'history'>;
}

/** The news with a further range and further events to send again. */
function mergeNews(
  before: News | undefined,
  { range, resend, type: { history } }: Omit<NewsInit, 'place'>,
): News {
  const old = before?.range;
  const from =
    old && range ? (history.compare(old.from, range.from) <= 0 ? old.from : range.from) : undefined;
  const to = old && range ? (history.compare(old.to, range.to) >= 0 ? old.to : range.to) : undefined;
  const merged = from && to ? { from, to } : (range ?? old);
  const again = [...new Set([...(before?.resend ?? []), ...(resend ?? [])])];
  return {
    type: history.group,
    ...(merged && { range: merged }),
    ...(again.length > 0 && { resend: again }),
  };
}

/** Adds news, and puts the subscription into the queue. */
export async function addNews(
  store: Store,
  { delivery }: WebhookQueues,
  { place, ...init }: NewsInit,
): Promise<void> {
  for (let isDone = false; !isDone; ) {
    const change = await newsChange(store, { place, ...init });
    isDone = (await store.write([change, { do: 'enqueue', queue: delivery, key: place.work }])).ok;
  }
}

/**
 * The change that adds news. A process that works on the subscription does not leave it before it has seen them, even if they contain
 * nothing.
 */
export async function newsChange(store: Store, { place, ...init }: NewsInit): Promise<StoreChange> {
  const entry = await store.get(place.news);
  const value = mergeNews(entry?.value as News | undefined, init);
  const condition = entry === undefined ? 'absent' : { version: entry.version };
  return { do: 'put', key: place.news, value: { ...value }, if: condition };
}
