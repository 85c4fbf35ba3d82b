// Events of several servers: a poll or a stream goes to the server whose type it names, and its events come back under the name there.

import { withSignalOf } from '../../async/lifetime.js';
import { readEvent } from '../../client/events/read-events.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { quote } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import {
  dialectOfCall,
  eventFailure,
  unknownEvent,
  unsupportedDelivery,
} from '../../protocol/event-failures.js';
import { eventNotifications } from '../../protocol/events/wire.js';
import { forwardRenamed, memberOf } from './names.js';
import type { Routed, Router } from './router.js';

/** A type of events: the server that has it, its name there, and the name that callers use. */
interface RoutedEvents {
  readonly member: Routed;
  readonly inner: string;
  readonly outer: string;
}

/** Answers a poll, a stream, or a subscription of a webhook. */
export async function routeEvents(router: Router, call: Call): Promise<Outcome> {
  const { name: outer } = call.params;
  const dialect = dialectOfCall(call);
  if (call.method === 'events/unsubscribe')
    throw eventFailure('not_found', 'There are no webhooks of events here.', {
      dialect,
      data: { kind: 'subscription' },
    });
  const { member, name: inner } = await memberOf(router, 'events', outer, call);
  const type = { member, inner, outer: outer as string };
  if (call.method === 'events/stream') return stream(router, call, type);
  if (call.method === 'events/poll') return poll(router, call, type);
  // A webhook would get the name that the server uses, and go on when its caller may not have the events any more.
  const offer = await member.offers({ kind: 'events', name: inner }, call, { fetch: true });
  throw offer === 'listed'
    ? unsupportedDelivery(type.outer, 'webhook', dialect)
    : unknownEvent(type.outer, dialect);
}

async function poll(router: Router, call: Call, type: RoutedEvents): Promise<Outcome> {
  const outcome = await forwardRenamed(type.member, call, { changes: { name: type.inner }, ...type });
  const { events } = outcome;
  if (!Array.isArray(events))
    throw new McpError('bad_response', `${type.member.name}: the answer to a poll has no events.`);
  return { ...outcome, events: events.flatMap((each: unknown) => renamed(router, each, type) ?? []) };
}

function stream(router: Router, call: Call, type: RoutedEvents): Promise<Outcome> {
  const notify: Call['notify'] = (method, params = {}) => {
    if (method !== eventNotifications.event) return call.notify(method, params);
    const event = renamed(router, params, type);
    if (event !== undefined) call.notify(method, event);
  };
  return forwardRenamed(type.member, withSignalOf(call, { ...call, notify }), {
    changes: { name: type.inner },
    ...type,
  });
}

/** An event under the name that callers use. One that is malformed, or of another type, is left out. */
function renamed(
  router: Router,
  told: unknown,
  { member, inner, outer }: RoutedEvents,
): JsonObject | undefined {
  const event = readEvent(told, inner);
  if (typeof event !== 'string') return { ...(told as JsonObject), name: outer };
  router.problemOnce(`${member.name}: an event of the type ${quote(inner, 128)} is left out: ${event}`);
  return undefined;
}
