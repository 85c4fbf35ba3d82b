// A subscription of a caller to events, as a poll or a stream asks for it.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import { canonical } from '../../protocol/canonical.js';
import { McpError } from '../../protocol/errors.js';
import {
  asForbidden,
  dialectOfCall,
  eventFailure,
  unknownEvent,
  unsupportedDelivery,
} from '../../protocol/event-failures.js';
import type { EventDialect } from '../../protocol/events/dialects.js';
import type { DeliveryMode } from '../../protocol/events/offer.js';
import type { EventDescriptor, Occurrence } from '../../protocol/events/wire.js';
import { explanationLater } from '../../schema/explain-later.js';
import { isTrusted, scopesError, type Verdict } from '../../server/access/gate.js';
import type { CompiledEvent } from '../../server/catalog/events.js';
import type { EventPluginParts } from '../../server/handle/event-host.js';
import { isRecipient } from '../../server/state/changes.js';
import type { EventHistory } from './log/event-history.js';
import type { StoredEvent } from './log/stored-event.js';

/** A caller that gets the events of a type that are for it. */
export interface EventSubscription {
  readonly caller: Caller;
  readonly dialect: EventDialect;
  /** The type as it was checked last. */
  type: CompiledEvent;
  /** The arguments after their check, with defaults. */
  readonly args: unknown;
}

/**
 * Reads the subscription of a call. Throws if there are no such events for the caller, if they are not delivered in this way, or if the
 * arguments are wrong or not allowed.
 */
export async function readSubscription(
  call: Call,
  mode: DeliveryMode,
  parts: EventPluginParts,
): Promise<EventSubscription> {
  const { name, arguments: given = {} } = call.params;
  if (typeof name !== 'string' || name === '')
    throw new McpError('invalid_params', 'params.name must be the name of a type of events');
  const dialect = dialectOfCall(call);
  const type = parts.events.get(name);
  const verdict = type?.access && (await parts.gate.judge(call, type.access));
  if (type === undefined || verdict === 'unknown' || verdict === 'denied') throw unknownEvent(name, dialect);
  checkVerdict(verdict, call, { type, dialect });
  if (!type.listed.delivery.includes(mode)) throw unsupportedDelivery(name, mode, dialect);
  if (!isObject(given)) throw new McpError('invalid_params', 'params.arguments must be an object');
  const args = await readArguments(type, given);
  if (type.access !== undefined)
    checkVerdict(await parts.gate.judgeUse(call, type.access, args), call, { type, dialect });
  return { caller: call, dialect, type, args };
}

async function readArguments({ name, input }: CompiledEvent, given: JsonObject): Promise<unknown> {
  const checked = await input.validate(given);
  if (checked.ok) return checked.value;
  const { text, field } = await explanationLater(checked.issues, input, given);
  throw new McpError('invalid_params', `Invalid arguments for events of the type ${name}. ${text}`, {
    data: { kind: 'event', name, ...(field !== undefined && { field }) },
  });
}

function checkVerdict(
  verdict: Verdict | undefined,
  caller: Caller,
  { type: { name, access }, dialect }: Pick<EventSubscription, 'type' | 'dialect'>,
): void {
  if (verdict === undefined || verdict === 'allowed') return;
  if (verdict === 'needs_scopes') throw asForbidden(scopesError(caller, access?.scopes ?? []), dialect);
  throw eventFailure('forbidden', `The caller may not get these events of the type "${name}"`, {
    dialect,
    data: { reason: 'not_allowed' },
  });
}

/**
 * Checks a subscription again, with its type as it is now. Returns the error with which it ends, because the type is gone or the caller has
 * lost its rights; undefined while it goes on.
 */
export async function recheck(
  subscription: EventSubscription,
  { events, gate }: Pick<EventPluginParts, 'events' | 'gate'>,
): Promise<McpError | undefined> {
  const { caller, dialect, type, args } = subscription;
  const current = events.get(type.name);
  if (current === undefined) return unknownEvent(type.name, dialect);
  const changed = current === type ? undefined : brokenSchema(type.listed, current.listed);
  if (changed !== undefined)
    return eventFailure('unsupported', `The ${changed} of "${type.name}" has changed. Subscribe again.`, {
      dialect,
      data: { feature: changed, reason: 'schema_changed' },
    });
  subscription.type = current;
  if (current.access === undefined) return undefined;
  const verdict = await gate.judgeUse(caller, current.access, args);
  if (verdict === 'allowed') return undefined;
  return eventFailure('forbidden', `The caller may no longer get events of the type "${type.name}"`, {
    dialect,
    data: { reason: 'access_lost' },
  });
}

/** The schema of a type that is no longer what a subscriber relies on. Undefined if only properties were added that may be missing. */
function brokenSchema(
  before: EventDescriptor,
  now: EventDescriptor,
): 'inputSchema' | 'payloadSchema' | undefined {
  for (const schema of ['inputSchema', 'payloadSchema'] as const) {
    const {
      properties: oldProperties = {},
      required: oldRequired = [],
      ...old
    } = (before[schema] ?? {}) as ObjectSchema;
    const { properties = {}, required = [], ...other } = (now[schema] ?? {}) as ObjectSchema;
    const isKept = Object.entries(oldProperties).every(
      ([name, one]) => canonical(one) === canonical(properties[name]),
    );
    // A subscriber need not send new arguments, and may rely on the old parts of the data.
    const [larger, smaller] = schema === 'inputSchema' ? [oldRequired, required] : [required, oldRequired];
    const isRequired = smaller.every((name) => larger.includes(name));
    if (!isKept || !isRequired || canonical(old) !== canonical(other)) return schema;
  }
  return undefined;
}

interface ObjectSchema {
  readonly properties?: JsonObject;
  readonly required?: readonly string[];
}

/** Whether an event is for a subscription. If `match` fails, it is not. */
export async function isFor(
  subscription: EventSubscription,
  event: StoredEvent,
  { log, mayFollow }: Pick<EventPluginParts, 'log' | 'mayFollow'>,
): Promise<boolean> {
  try {
    return await concerns(subscription, event, mayFollow);
  } catch (error) {
    log(
      'error',
      `"match" of the events "${subscription.type.name}" failed, and the event ${event.eventId} was not delivered to a subscriber`,
      error,
    );
    return false;
  }
}

/** Whether an event is for a caller with these arguments. Rejects if `match` does. */
export async function concerns(
  { type: { match, resource }, args, caller }: Pick<EventSubscription, 'type' | 'args' | 'caller'>,
  { data, to }: StoredEvent,
  mayFollow: EventPluginParts['mayFollow'],
): Promise<boolean> {
  if (to !== undefined && !isTrusted(caller) && !isRecipient(caller.auth, to)) return false;
  if (resource !== undefined && !(await mayFollow(caller, String(data['uri'])))) return false;
  if (match === undefined) return true;
  // Each subscriber gets a copy: `match` is code of the program, and might change it.
  return (await match(structuredClone(data), args, { auth: caller.auth })) === true;
}

/** An event as subscribers get it. */
export function occurrenceOf(
  { eventId, timestamp, data, _meta, position }: StoredEvent,
  { type, history }: { readonly type: CompiledEvent; readonly history: EventHistory },
): Occurrence {
  return {
    eventId,
    name: type.name,
    timestamp,
    data,
    cursor: history.cursorOf(position),
    ...(_meta && { _meta }),
  };
}
