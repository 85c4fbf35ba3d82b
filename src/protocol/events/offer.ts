// The part of events that every server has to know, with or without types of events: how they are declared and called. All else is apart
// from it, because it is loaded with the first use of events.

import type { JsonObject } from '../../jsonrpc/message.js';

/** The identifier of the extension. */
export const EVENTS = 'io.modelcontextprotocol/events';

/** The methods of events. */
export const eventMethods = {
  list: 'events/list',
  subscribe: 'events/subscribe',
  unsubscribe: 'events/unsubscribe',
  poll: 'events/poll',
  stream: 'events/stream',
} as const;

/** The ways in which events are delivered. */
export const deliveryModes = ['webhook', 'push', 'poll'] as const;

/** A way in which events are delivered: to an address, on a stream, or on request. */
export type DeliveryMode = (typeof deliveryModes)[number];

/** The two places in the capabilities of a server that declare events, with the same settings. */
export function eventCapabilities(settings: JsonObject): {
  readonly capability: { readonly events: JsonObject };
  readonly extension: { readonly [EVENTS]: JsonObject };
} {
  return { capability: { events: settings }, extension: { [EVENTS]: settings } };
}
