// Answers `events/poll`. Nothing is kept between two polls: the cursor says where a client is.

import type { Call, Outcome } from '../../protocol/call.js';
import type { EventPluginParts } from '../../server/handle/event-host.js';
import type { Histories } from './histories.js';
import { readCount, SubscriptionReader } from './reader.js';
import { readSubscription } from './subscription.js';

/** The time after which a client should poll again. */
const NEXT_POLL_MS = 5000;
/** The most events of one poll. */
const MAX_EVENTS = 100;

/** Answers a poll. */
export async function poll(call: Call, parts: EventPluginParts, histories: Histories): Promise<Outcome> {
  const { params } = call;
  const subscription = await readSubscription(call, 'poll', parts);
  const maxEvents = Math.min(readCount(params, 'maxEvents', 1) ?? MAX_EVENTS, MAX_EVENTS);
  const history = await histories.of(subscription.type.name);
  const reader = await SubscriptionReader.open(subscription, params, { ...parts, history });
  const isFirst = params['cursor'] === undefined || params['cursor'] === null;
  const { events, cursor, hasMore, isTruncated } = isFirst
    ? { events: [], cursor: reader.cursor, hasMore: false, isTruncated: false }
    : await reader.next(maxEvents);
  return parts.complete({ events, cursor, truncated: isTruncated, hasMore, nextPollMs: NEXT_POLL_MS });
}
