/// <reference lib="esnext.disposable" preserve="true" />
import type { JsonObject } from '../../jsonrpc/message.js';
import type { McpError } from '../../protocol/errors.js';
import type { DeliveryMode } from '../../protocol/events/offer.js';
import type { Jsonified } from './jsonified.js';

// Events of a server: the types that a program uses.

/** A type of events, as a server lists it. */
export interface ListedEvent {
  /** The name of the type. */
  readonly name: string;
  /** The description, for models and people. */
  readonly description?: string;
  /** The ways in which the server delivers events of this type. Ways that this client does not know are left out. */
  readonly delivery: readonly DeliveryMode[];
  /** The arguments that a subscriber filters by, as JSON Schema. */
  readonly inputSchema?: JsonObject;
  /** The data of an event, as JSON Schema. */
  readonly payloadSchema?: JsonObject;
  /** More about the type. */
  readonly _meta?: JsonObject;
}

/** An event that a client or a receiver was told. */
export interface ReceivedEvent<Name extends string = string, Data = JsonObject> {
  /** The id that the source gave the event: the same in every repetition. */
  readonly eventId: string;
  /** The name of the type. */
  readonly name: Name;
  /** The time of the event, in ISO 8601 with a zone. */
  readonly timestamp: string;
  /** The data of the event. */
  readonly data: Data;
  /** The position after the event; null if the server named none. */
  readonly cursor: string | null;
  /** More about the event; undefined if there is nothing. */
  readonly meta: JsonObject | undefined;
}

/**
 * Keeps values between runs: positions in the events of servers, and the webhooks that a receiver has subscribed, with their secrets.
 * Any store of logins is one, such as `fileTokenStore` of `fullmcp/oauth`. Processes may share a store.
 */
export interface EventStore {
  /** Reads the value of a key; undefined if there is none. */
  get(key: string): Promise<string | undefined>;
  /** Writes a value. With `expected`, only if the current value is that one. Resolves to whether the value was written. */
  set(
    key: string,
    value: string,
    options?: {
      /** The value that the key must have now; null if it must not have one. Default: any. */
      readonly expected?: string | null | undefined;
    },
  ): Promise<boolean>;
  /** Deletes the value of a key, which need not exist. */
  delete(key: string): Promise<void>;
}

/** The options of a subscription to events. */
export interface FollowOptions {
  /**
   * Keeps the position in the events, by the address of the server, the type and the arguments: a later run continues there. Default:
   * each run begins with the events that happen after it has subscribed.
   */
  readonly store?: EventStore;
  /** Called when events may be missing: the server no longer had them. */
  readonly onGap?: () => void;
  /** Closes the subscription. */
  readonly signal?: AbortSignal;
}

/** A subscription to events of a server. */
export interface FollowedEvents extends AsyncDisposable {
  /** How the events come: on a stream (`push`), or when the client polls. */
  readonly delivery: 'push' | 'poll';
  /**
   * Resolves when the subscription has ended and its handler has returned: with undefined if the program closed it, otherwise with the
   * error that ended it.
   */
  readonly ended: Promise<McpError | undefined>;
  /** Ends the subscription. Resolves when the handler is not called any more and the position is stored. */
  readonly close: () => Promise<void>;
}

/** The types of events in the type of a server, or of a client of it; `unknown` if it has none. */
export type EventsOf<S> = S extends { readonly '~events'?: infer E } ? Exclude<E, undefined> : unknown;

/** The names of the types of events. */
export type EventNames<Events> = unknown extends Events ? string : keyof Events & string;

/** The arguments of a type of events. */
export type EventArguments<Events, Name extends string> =
  SignatureOf<Events, Name> extends (args: infer Input) => unknown ? Input : object;

/** An event of one type. */
export type TypedEvent<Events, Name extends string> = ReceivedEvent<
  Name,
  SignatureOf<Events, Name> extends (args: never) => infer Payload ? Jsonified<Payload> : JsonObject
>;

/** An event of any type of the server `S`: `name` tells which. */
export type AnyEvent<S> = Either<EventsOf<S>>;

type Either<Events> = { [Name in EventNames<Events>]: TypedEvent<Events, Name> }[EventNames<Events>];

/** A definition of a type has its signature as a function, from the arguments of a subscriber to the data of an event. */
type SignatureOf<Events, Name extends string> = Name extends keyof Events
  ? Events[Name] extends { readonly '~signature'?: infer Signature }
    ? Exclude<Signature, undefined>
    : undefined
  : undefined;
