// Compiles types of events.

import type { Middleware } from '../../protocol/call.js';
import { type DeliveryMode, deliveryModes } from '../../protocol/events/offer.js';
import type { EventDescriptor } from '../../protocol/events/wire.js';
import { readParts } from '../../protocol/uri-template/grammar.js';
import { parseTemplate, type UriTemplate } from '../../protocol/uri-template/template.js';
import type { CompiledSchema } from '../../schema/check/compiled-schema.js';
import { compileSchema } from '../../schema/compile.js';
import type { JsonSchema } from '../../schema/document/plain-json.js';
import type { GuardedOptions, ServerAccess } from '../access/access.js';
import type { Guarded } from '../access/views.js';
import type { EventSubscriber, EventType } from '../define/event.js';
import type { EventSchedule } from '../define/schedule-options.js';
import type { EmitOptions, Emitted } from '../state/emitting.js';
import { checkFunction } from './check-functions.js';
import { listDescription } from './description.js';

/** A type of events, prepared for its subscriptions. */
export interface CompiledEvent extends Guarded {
  readonly name: string;
  readonly listed: EventDescriptor;
  readonly input: CompiledSchema;
  readonly payload: CompiledSchema;
  /** The resources whose changes are the events; undefined if there are none. */
  readonly resource: UriTemplate | undefined;
  /** The moments at which events happen; undefined if there are none. */
  readonly schedule: EventSchedule | undefined;
  readonly match: ((data: unknown, args: unknown, subscriber: EventSubscriber) => unknown) | undefined;
  /** The options of the definition that follow it into a server that it is mounted in. */
  readonly options: GuardedOptions & { readonly delivery?: unknown };
  /** The type in the server that it was mounted from; undefined if it belongs to this server. */
  readonly mounted?: MountedEvent;
}

/** The ways from a type that was mounted to the server that it belongs to. */
interface MountedEvent {
  /** Emits an event there. */
  readonly emit: (data: object, options?: EmitOptions) => Promise<Emitted>;
  /** The middleware of that server, around the requests of subscribers. Undefined if there is none. */
  readonly through: Middleware | undefined;
}

const NAME = /^[A-Za-z0-9_./:-]{1,128}$/;
const noInput = { type: 'object' } as const;

/** Compiles a type of events. Throws an error that describes the mistake in the definition. */
export function compileEvent(
  name: string,
  { options }: EventType,
  { access: rules, hasWebhooks = false }: { readonly access: ServerAccess; readonly hasWebhooks?: boolean },
): CompiledEvent {
  checkEventName(name);
  const { resource: uri } = options;
  const given = options.payload ?? (uri === undefined ? undefined : changeSchema(uri));
  if (given === undefined) throw new TypeError('it has no "payload"');
  const { schedule } = options;
  if (uri !== undefined && (options.payload ?? schedule) !== undefined)
    throw new TypeError(
      'it has "resource", from which its events follow: leave out "payload" and "schedule"',
    );
  if (options.match !== undefined) checkFunction('match', options.match);
  if (uri !== undefined && !/[{}]/.test(uri) && !URL.canParse(uri))
    throw new TypeError('"resource" must be an absolute URI, such as "config://app", or a template');
  const resource = uri === undefined ? undefined : parseTemplate(uri);
  const payload = compileSchema(given, { io: 'output', requireObject: true });
  const input = compileSchema(options.input ?? noInput, { io: 'input', requireObject: true });
  const listed: EventDescriptor = {
    name,
    ...listDescription(options),
    delivery: readDelivery(options.delivery, hasWebhooks),
    inputSchema: { ...input.json },
    payloadSchema: { ...payload.json },
  };
  const access = rules.of({ kind: 'event', name }, options as GuardedOptions);
  const match = options.match as CompiledEvent['match'];
  return {
    ...{ name, listed, input, payload, resource, schedule, match, access },
    options: options as GuardedOptions,
  };
}

/** Throws a TypeError if events of a type cannot have this name. */
export function checkEventName(name: string): void {
  if (!NAME.test(name))
    throw new TypeError(
      'the name of an event has 1 to 128 characters from A-Z, a-z, 0-9, "_", "-", ".", "/" and ":"',
    );
}

/** The ways of delivery of a type in another server: those that were chosen, as far as the other one has them. */
export function deliveryIn(
  { options: { delivery } }: Pick<CompiledEvent, 'options'>,
  hasWebhooks: boolean,
): readonly DeliveryMode[] {
  const offered = offeredModes(hasWebhooks);
  const left = Array.isArray(delivery) ? offered.filter((mode) => delivery.includes(mode)) : offered;
  if (left.length > 0) return left;
  throw new TypeError(
    'its events are delivered only to webhooks, which the outer server does not have. Give it the option "webhooks".',
  );
}

function offeredModes(hasWebhooks: boolean): readonly DeliveryMode[] {
  return deliveryModes.filter((mode) => hasWebhooks || mode !== 'webhook');
}

/** The schema of the data of a change: the URI, with the variables of the template. */
function changeSchema(uri: string): JsonSchema {
  const string = { type: 'string' };
  const properties: Record<string, object> = { uri: string };
  const required = ['uri'];
  for (const part of readParts(uri)) {
    if (part.kind === 'literal') continue;
    for (const { name, explode } of part.variables) {
      if (name === 'uri') throw new TypeError('a variable of "resource" has the name "uri"; choose another');
      properties[name] = explode ? { type: 'array', items: string } : string;
      // The other operators leave out a variable without a value.
      if (part.operator.first === '' && !required.includes(name)) required.push(name);
    }
  }
  return { type: 'object', properties, required };
}

function readDelivery(given: unknown, hasWebhooks: boolean): readonly DeliveryMode[] {
  const offered = offeredModes(hasWebhooks);
  const delivery = given ?? offered;
  const words = offered.map((mode) => `"${mode}"`).join(', ');
  if (!Array.isArray(delivery) || delivery.length === 0 || new Set(delivery).size < delivery.length)
    throw new TypeError(`"delivery" must be an array with one or more of ${words}, each at most once`);
  const wrong: unknown = delivery.find((mode) => !offered.includes(mode as DeliveryMode));
  if (wrong === 'webhook')
    throw new TypeError(
      '"delivery" has "webhook", but the server has no webhooks. Give it the option "webhooks".',
    );
  if (wrong !== undefined) throw new TypeError(`"delivery" has ${JSON.stringify(wrong)}. Known: ${words}.`);
  return deliveryModes.filter((mode) => delivery.includes(mode));
}
