// Several servers behind one: what routing needs to know of each. The members of a group are clients, those of a gateway are proxies.

import type { ServerFacts } from '../../client/model/client.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import type { SubscriptionFilter } from '../../protocol/model/model.js';
import type { ListKind } from '../../protocol/model/subscriptions.js';

/** The keys of a member's lists: names of tools, prompts and types of events, URIs of resources, and the matchers of templates. */
export interface ListedKeys {
  tools?: ReadonlySet<string> | undefined;
  prompts?: ReadonlySet<string> | undefined;
  events?: ReadonlySet<string> | undefined;
  resources?: ReadonlySet<string> | undefined;
  templates?: ReadonlyMap<string, (uri: string) => object | undefined> | undefined;
}

export type ListName = keyof ListedKeys;

/** Something that a call is about: the list that it would be in, and the name that its server uses, or its URI. */
export interface WantedItem {
  readonly kind: ListName;
  readonly name: string;
}

/**
 * Whether one server has something for one caller. `listed`: its list has it. `fits`: one of its templates matches the URI. `possible`: no
 * list has it, but some servers have more than they list. `unknown`: the lists were not fetched. `absent`: no list has it, and the server
 * may not have more than it lists. `never`: this caller may not use it. A server that says `absent` or `never` must not be asked, and stands
 * in the way of no other.
 */
export type Offer = 'listed' | 'fits' | 'possible' | 'unknown' | 'absent' | 'never';

/** One of several servers. */
export interface Routed {
  readonly name: string;
  /** Decides by the lists that were fetched before; with `fetch`, those that are missing are fetched first. */
  readonly offers: (
    wanted: WantedItem,
    call: Call,
    options?: { readonly fetch?: boolean },
  ) => Offer | Promise<Offer>;
  /** Forgets a list: it has changed. */
  readonly forget: (kind: ListName) => void;
  /** The server's description of itself; undefined if it was never connected. */
  readonly facts: Pick<ServerFacts, 'capabilities' | 'instructions'> | undefined;
  /** Stands for the connection that subscriptions are made on; undefined if there is none. */
  readonly connection: object | undefined;
  /** Makes the call on the server, with `changes` to its parameters. Notifications of the call go to the caller. */
  readonly forward: (call: Call, changes?: JsonObject) => Promise<Outcome>;
  /** A list as this caller may see it. Undefined if that fails, which is reported; the other servers are not affected. */
  readonly list: (kind: ListName, call: Call) => Promise<readonly JsonObject[] | undefined>;
  /** Connects the server if needed. Failures are reported. */
  readonly reach: (call: Call, unavailable: string) => Promise<void>;
  /** Subscribes to changes. Rejects if that fails. */
  readonly subscribe: (
    call: Call,
    wanted: SubscriptionFilter,
    onChange: (method: string, params: JsonObject) => void,
  ) => Promise<RoutedSubscription>;
  /** Waits for a subscription, but not for longer than a list may take. Undefined if it failed or takes longer, which is reported. */
  readonly await: <T>(call: Call, unavailable: string, waiting: Promise<T>) => Promise<T | undefined>;
}

export interface RoutedSubscription {
  /** The changes that the server reports. */
  readonly accepted: SubscriptionFilter;
  readonly close: () => void;
}

/** A subscription that is notified of changes in the set of servers. */
export interface Listener {
  readonly changed: (kind: ListKind | 'events') => void;
  readonly attach: (member: Routed) => void;
  readonly detach: (connection: object) => void;
}

/** Several servers that are presented as one. */
export interface Router {
  readonly members: ReadonlyMap<string, Routed>;
  readonly listeners: Set<Listener>;
  /** Aborts when the servers are closed. */
  readonly ended: AbortSignal;
  /** The error for a method that is not routed. */
  readonly unrouted: (method: string) => Error;
  readonly problem: (message: string, cause?: unknown) => void;
  /** Reports a lasting problem once instead of with each list. */
  readonly problemOnce: (message: string) => void;
}
