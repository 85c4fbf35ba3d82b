// The definition of a type of events, and the function that emits them.

import type { Auth } from '../../protocol/call.js';
import type { DeliveryMode } from '../../protocol/events/offer.js';
import type { Infer, Schema, SchemaLike, Sent } from '../../schema/schema.js';
import type { EmitOptions, Emitted } from '../state/emitting.js';
import type { AccessRule } from './access.js';
import type { Described } from './definition.js';
import type { EventSchedule } from './schedule-options.js';
import type { VariablesOf } from './template-values.js';
import type { Awaitable } from './tool-handler.js';

/** The subscriber that an event may be for. */
export interface EventSubscriber {
  /** The authenticated caller that subscribed; undefined for an anonymous one. */
  readonly auth: Auth | undefined;
}

interface EventOptions<In, Data>
  extends Pick<Described, 'description' | 'tags' | 'meta'>,
    AccessRule<Infer<In>> {
  /** The arguments of a subscription, as a schema of an object. Default: none. */
  readonly input?: In;
  /** The ways in which events are delivered. Default: all that the server has: `push` (a stream), `poll`, and `webhook` with the option `webhooks`. */
  readonly delivery?: readonly DeliveryMode[];
  /**
   * Decides whether an event is for a subscription, by its arguments and its caller. Called for every event and subscription. An error is
   * logged, and the event is not delivered to that subscription. Default: every event is for every subscription.
   */
  readonly match?: (data: Data, args: Infer<In>, subscriber: EventSubscriber) => Awaitable<boolean>;
}

/** The argument of `event()`. */
export interface EventDefinition<In = undefined, Payload = SchemaLike>
  extends EventOptions<In, Infer<Payload>> {
  /** The data of an event, as a schema of an object. Emitted data is checked against it. */
  readonly payload: Payload;
  /** The moments at which events happen, and the function that makes them. Default: only those that `emit` emits. */
  readonly schedule?: EventSchedule<Sent<Payload>>;
}

/** The argument of `event()` for a type whose events are the changes of resources. */
export interface ResourceEventDefinition<In = undefined, Uri extends string = string>
  extends EventOptions<In, ChangedResource<Uri>> {
  /**
   * The URI of a resource, or a template: each change of such a resource that `changed.resource(uri)` announces is an event. Its data is the
   * URI, with the variables of the template. Subscribers also need the rights that the resource demands.
   */
  readonly resource: Uri;
}

/** The data of the event that a resource has changed: its URI, with the variables of the template. */
export type ChangedResource<Uri extends string> = {
  /** The URI of the resource. */
  readonly uri: string;
} & VariablesOf<Uri>;

/**
 * A defined type of events. `Data` is the data that `emit` accepts. `Signature` is the type as a function, from the arguments of a
 * subscriber to the data of an event.
 */
export interface EventType<Data = unknown, Signature = unknown> {
  /** The kind of the definition: `event`. */
  readonly kind: 'event';
  /** The description of the type. */
  readonly options: EventOptions<Schema | undefined, never> &
    Partial<
      Pick<EventDefinition<undefined, Schema>, 'payload'> &
        Pick<ResourceEventDefinition, 'resource'> & {
          /** The moments at which events happen. */
          readonly schedule: EventSchedule;
        }
    >;
  /** For types only: the data of an event. */
  readonly '~data'?: (data: Data) => void;
  /** For types only: the signature that a typed client reads. */
  readonly '~signature'?: Signature;
}

/**
 * Defines a type of events: something that happens, and that clients subscribe to. The key of the definition is the name of the type.
 *
 * @example
 * const ticket_changed = event({
 *   description: 'A ticket changed',
 *   input: z.object({ queue: z.string() }),
 *   payload: z.object({ id: z.string(), queue: z.string(), status: z.string() }),
 *   match: (ticket, { queue }) => ticket.queue === queue,
 * });
 */
export function event<In extends SchemaLike | undefined = undefined, Payload extends SchemaLike = SchemaLike>(
  definition: EventDefinition<In, Payload>,
): EventType<Sent<Payload>, (args: Sent<In>) => Infer<Payload>>;
/**
 * Defines a type of events whose events are the changes of resources, as `changed.resource(uri)` announces them.
 *
 * @example
 * const ticket_changed = event({ description: 'A ticket changed', resource: 'tickets://{queue}/{id}' });
 */
export function event<In extends SchemaLike | undefined = undefined, const Uri extends string = string>(
  definition: ResourceEventDefinition<In, Uri>,
): EventType<ChangedResource<Uri>, (args: Sent<In>) => ChangedResource<Uri>>;
export function event(definition: object): object {
  return { kind: 'event', options: definition };
}

/** Emits an event of a type that the server defines. */
export type EmitEvent<E> = <Name extends keyof E & string>(
  name: Name,
  data: DataOf<E[Name]>,
  options?: EmitOptions,
) => Promise<Emitted>;

/** The data that `emit` accepts for a type. */
export type DataOf<T> = T extends { readonly '~data'?: (data: infer Data) => void } ? Data : object;
