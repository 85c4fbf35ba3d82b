// Several servers behind one: what routing needs to know of each. The members of a group are clients, those of a gateway are proxies.

import type { ServerFacts } from '../../client/model/client.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import type { SubscriptionFilter } from '../../protocol/model/model.js';
import type { ListKind } from '../../protocol/model/subscriptions.js';

/** The keys of a member's lists: names of tools and prompts, URIs of resources, and the matchers of templates. */
export interface ListedKeys {
  tools?: ReadonlySet<string> | undefined;
  prompts?: ReadonlySet<string> | undefined;
  resources?: ReadonlySet<string> | undefined;
  templates?: ReadonlyMap<string, (uri: string) => object | undefined> | undefined;
}

export type ListName = keyof ListedKeys;

/** One of several servers. */
export interface Routed {
  readonly name: string;
  /** The keys of the lists that were fetched last. They show where to look first, and forbid nothing. */
  listedKeys: ListedKeys;
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
  readonly changed: (kind: ListKind) => void;
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
