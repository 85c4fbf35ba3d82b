// The definition of a resource or a template.

import type { Annotations } from '../../protocol/model/content.js';
import type { CacheScope } from '../../protocol/model/model.js';
import type { Context } from '../context/context.js';
import type { Changed } from '../state/changes.js';
import type { Logger } from '../state/log.js';
import type { AccessRule } from './access.js';
import type { Completers, Described, NotInferred } from './definition.js';
import type { TemplateValues } from './template-values.js';
import type { Awaitable } from './tool-handler.js';

/** One of the resources that a template lists. */
export interface ResourceEntry extends Described {
  /** The resource's URI. */
  readonly uri: string;
  /** The name that clients show in lists. Default: the URI. */
  readonly name?: string;
  /** The MIME type of the contents. Default: that of the template. */
  readonly mimeType?: string;
  /** Hints about the audience and the importance of the contents. */
  readonly annotations?: Annotations;
  /** The size of the contents in bytes, for clients that show it. */
  readonly size?: number;
}

/** A page of the resources that a template lists. */
export interface ResourcePage {
  /** The resources of the page: URIs, or entries with a name and more. */
  readonly entries: readonly (string | ResourceEntry)[];
  /** The cursor of the next page, which `list` gets with its next call; at most 4096 characters. Default: this page is the last one. */
  readonly next?: string | undefined;
}

/** The part of a template's list that a client requests. */
export interface ListRequest {
  /** The `next` of the previous page, if `list` returned one. The client sends it back, so check it as you check any input. */
  readonly cursor: string | undefined;
  /** The number of entries that fit on the page. A `ResourcePage` may have more. */
  readonly limit: number;
}

/**
 * The resources that a template lists: an array, an iterable, which is read only as far as a page needs, or, for long lists, one page
 * with the cursor of the next.
 */
type ListedEntries = Iterable<string | ResourceEntry> | AsyncIterable<string | ResourceEntry> | ResourcePage;

/**
 * Called for the subscriptions of a resource. `values` are the decoded variables of the template. A promise is waited for, 30 s at most.
 */
export type SubscriptionHook<Values, State> = (values: Values, ctx: SubscriptionContext<State>) => unknown;

/** The context of `onSubscribe` and `onUnsubscribe`. It has no caller: the subscribers may be many. */
export interface SubscriptionContext<State = unknown> {
  /** The URI that clients have subscribed to. */
  readonly uri: string;
  /**
   * In `onSubscribe`: aborts before `onUnsubscribe` is called, and if `onSubscribe` fails or takes longer than 30 s. In
   * `onUnsubscribe`: aborts after 30 s.
   */
  readonly signal: AbortSignal;
  /** Announces changes to subscribed clients: `changed.resource(uri)`. */
  readonly changed: Changed;
  /** The value that `lifespan` yielded. */
  readonly state: State;
  /** Writes to the `logger` of the server. */
  readonly log: Logger;
}

/** The description of a resource or template, without its reader. */
export interface ResourceOptions<State = unknown, User = unknown, Values = TemplateValues>
  extends Described,
    AccessRule<NotInferred<Values>> {
  /** The name that clients show in lists. Default: the URI. */
  readonly name?: string;
  /** The MIME type of the contents, such as `application/json`. Default: inferred from the returned value. */
  readonly mimeType?: string;
  /** Hints about the audience and the importance of the contents. */
  readonly annotations?: Annotations;
  /** The size of the contents in bytes, for clients that show it. */
  readonly size?: number;
  /** The time for which clients may cache the contents, in milliseconds. Default: 0. */
  readonly ttlMs?: number;
  /** Whether a cache may give the contents to other users (`public`). Default: `private`. */
  readonly cacheScope?: CacheScope;
  /**
   * Lists the resources of a template, for `resources/list`: URIs, or entries with a name and more. It runs for each request, so
   * the list may differ from caller to caller. It may be an async generator.
   */
  readonly list?: (ctx: Context<State, User>, request: ListRequest) => Awaitable<ListedEntries>;
  /**
   * Called when a URI gets its first subscriber, in one of the processes of the server: starts a watcher that announces changes with
   * `ctx.changed.resource(ctx.uri)`. If it fails, it is called again, with growing delays.
   */
  readonly onSubscribe?: SubscriptionHook<NotInferred<Values>, State>;
  /**
   * Called in the process that called `onSubscribe`, when the last subscriber in all processes has gone, or when another process
   * takes over: stops the watcher.
   */
  readonly onUnsubscribe?: SubscriptionHook<NotInferred<Values>, State>;
  /** Completions for the variables of a template. */
  readonly complete?: Completers<Values, State, User>;
}

/** A defined resource or template. `Values` are the variables that its reader needs from the URI. */
export interface Resource<State = unknown, User = unknown, Values = TemplateValues> {
  /** The kind of the definition: `resource`. */
  readonly kind: 'resource';
  /** The description of the resource. */
  readonly options: ResourceOptions<State, User>;
  /** The function that reads the resource. */
  readonly read: ResourceReader<Values, State, User>;
  /** For types only: the state and the user that the reader needs. */
  readonly '~needs'?: (state: State, user: User) => void;
}

/**
 * Reads a resource. Returns a string, bytes, a JSON value, complete contents, or an array of those; or a promise of one. Returns
 * `undefined` if the resource does not exist.
 */
export type ResourceReader<Values, State, User> = (
  values: Values,
  ctx: ResourceContext<State, User>,
) => unknown;

/** The context of a resource's reader: that of every handler, and the URI that is read. */
export interface ResourceContext<State = unknown, User = unknown> extends Context<State, User> {
  /** The URI as the client sent it. */
  readonly uri: string;
}

/** The argument of `resource()`: the description and the reader. */
export interface ResourceDefinition<State, User, Values> extends ResourceOptions<State, User, Values> {
  /** Reads the resource. `values` are the decoded variables of the template. */
  readonly read: ResourceReader<Values, State, User>;
}

/**
 * Defines a resource or, where its URI has braces, a template: something that the client can read. Inside `createServer` the
 * variables of the template are typed by the key; elsewhere write their type: `read: ({ id }: { id: string }) => …`.
 *
 * @example
 * createServer({
 *   name: 'users',
 *   version: '1.0.0',
 *   resources: { 'users://{id}': resource({ read: ({ id }) => ({ id, name: 'Ada' }) }) },
 * });
 */
export function resource<State = unknown, User = unknown, Values = TemplateValues>(
  definition: ResourceDefinition<State, User, Values>,
): Resource<State, User, Values> {
  const { read, ...options } = definition;
  return { kind: 'resource', options: options as object, read };
}
