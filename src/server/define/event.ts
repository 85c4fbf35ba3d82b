// The definition of a type of events, and the function that emits them.

import type { Auth } from '../../protocol/call.js';
import type { DeliveryMode } from '../../protocol/events/offer.js';
import type { Infer, Schema, SchemaLike, Sent } from '../../schema/schema.js';
import type { EmitOptions, Emitted } from '../state/emitting.js';
import type { AccessRule } from './access.js';
import type { Described } from './definition.js';
import type { Awaitable } from './tool-handler.js';

/** The subscriber that an event may be for. */
export interface EventSubscriber {
  /** The authenticated caller that subscribed; undefined for an anonymous one. */
  readonly auth: Auth | undefined;
}

/** The argument of `event()`. */
export interface EventDefinition<In = undefined, Payload = SchemaLike>
  extends Pick<Described, 'description' | 'tags' | 'meta'>,
    AccessRule<Infer<In>> {
  /** The data of an event, as a schema of an object. Emitted data is checked against it. */
  readonly payload: Payload;
  /** The arguments of a subscription, as a schema of an object. Default: none. */
  readonly input?: In;
  /** The ways in which events are delivered. Default: all that the server has: `push` (a stream), `poll`, and `webhook` with the option `webhooks`. */
  readonly delivery?: readonly DeliveryMode[];
  /**
   * Decides whether an event is for a subscription, by its arguments and its caller. Called for every event and subscription. An error is
   * logged, and the event is not delivered to that subscription. Default: every event is for every subscription.
   */
  readonly match?: (data: Infer<Payload>, args: Infer<In>, subscriber: EventSubscriber) => Awaitable<boolean>;
}

/**
 * A defined type of events. `Data` is the data that `emit` accepts. `Signature` is the type as a function, from the arguments of a
 * subscriber to the data of an event.
 */
export interface EventType<Data = unknown, Signature = unknown> {
  /** The kind of the definition: `event`. */
  readonly kind: 'event';
  /** The description of the type. */
  readonly options: EventDefinition<Schema | undefined, Schema>;
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
): EventType<Sent<Payload>, (args: Sent<In>) => Infer<Payload>> {
  const result: object = { kind: 'event', options: definition };
  return result as EventType<Sent<Payload>, (args: Sent<In>) => Infer<Payload>>;
}

/** Emits an event of a type that the server defines. */
export type EmitEvent<E> = <Name extends keyof E & string>(
  name: Name,
  data: DataOf<E[Name]>,
  options?: EmitOptions,
) => Promise<Emitted>;

type DataOf<T> = T extends { readonly '~data'?: (data: infer Data) => void } ? Data : object;
