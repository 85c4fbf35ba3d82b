/// <reference lib="esnext.disposable" preserve="true" />
// A server, as programs and transports use it.

import type { Dispatch } from '../../protocol/call.js';
import type { Implementation } from '../../protocol/model/model.js';
import type { LogSettings } from '../../protocol/telemetry/log-settings.js';
import type { AuthRun } from '../../state/auth-run.js';
import type { Cluster, SharedState } from '../../state/cluster.js';
import type { AddPrompt, AddResource, AddTool } from '../catalog/adders.js';
import type { Registration } from '../catalog/registry.js';
import type { ServerDefinitions } from '../define/definitions.js';
import type { EmitEvent, EventType } from '../define/event.js';
import type { Mountable } from '../define/options.js';
import type { WebhookDesk } from '../define/webhook-options.js';
import type { AskingPage } from '../handle/fallback-host.js';
import type { Behaviour } from '../state/behaviours.js';
import type { Changed } from '../state/changes.js';
import type { Logger } from '../state/log.js';

/** A server. It is built once and serves any number of clients, revisions and transports at the same time. */
export interface CoreServer<State = unknown, User = unknown, T = unknown, E = unknown>
  extends AsyncDisposable {
  /** The name, version and description that clients see. */
  readonly info: Implementation;
  /** Answers one call. Every transport calls it. */
  readonly dispatch: Dispatch;
  /** Announces changes to subscribed clients. */
  readonly changed: Changed;
  /** The changed defaults that hold for this server, by the option `compatibility`. */
  readonly behaviours: readonly Behaviour[];
  /** Writes to the `logger` of the options. */
  readonly logger: Logger;
  /** The scopes that the rules of this server and of its definitions name, sorted. Pass them to a provider, so that clients ask for them. */
  readonly scopes: readonly string[];
  /** Whether a definition of this server has rules of access. */
  readonly isGuarded: boolean;
  /** Adds a tool to the running server. With the name alone, in the fluent form. Throws if the name is taken. */
  readonly tool: AddTool<State, User>;
  /** Adds a resource, or a template if the URI has braces. With the URI alone, in the fluent form. Throws if the URI is taken. */
  readonly resource: AddResource<State, User>;
  /** The definitions of this server, to list, look up and check without a call. */
  readonly definitions: ServerDefinitions;
  /** Mounts another server: its definitions appear with the prefix, until it is removed. Throws if a name is taken. */
  readonly mount: (prefix: string, server: Mountable) => Registration;
  /** Adds a prompt to the running server. With the name alone, in the fluent form. Throws if the name is taken. */
  readonly prompt: AddPrompt<State, User>;
  /** Adds a type of events to the running server. Throws if the name is taken. Subscriptions to a type that is removed end. */
  readonly event: (name: string, definition: EventType<never>) => Registration;
  /**
   * Emits an event of a type of this server. Resolves when the store has the event; every subscriber gets it after that, in this process
   * and in others. If it rejects, the event may or may not be kept: repeat it with the same `eventId`.
   */
  readonly emit: EmitEvent<E>;
  /** The subscriptions of webhooks, and the events that could not be delivered. For the option `webhooks`. */
  readonly webhooks: WebhookDesk;
  /**
   * Sets the secret if the options have none; `serve` and `serveStdio` call it with `MCP_SECRET`. In an array, the first secret
   * encrypts and all of them decrypt. A function is called when the secret is first used.
   */
  readonly provideSecret: (secret: string | readonly string[] | (() => string)) => void;
  /** Sets the level and the format of the log on standard error; `serve` calls it. Messages to a `logger` of the options do not change. */
  readonly provideLog: (settings: Partial<LogSettings>) => void;
  /** Sets the cluster if the options have none; `serve` calls it with the engine at `MCP_CLUSTER_URL`. */
  readonly provideCluster: (cluster: Cluster) => void;
  /** The store, the bus and the event log that the transports of this server use, too. */
  readonly shared: SharedState;
  /** The option `auth`, which the HTTP transports of this server use; undefined if there is none. */
  readonly auth: AuthRun | undefined;
  /** The secrets of this server: the first one encrypts, all of them decrypt. Undefined if none was set. */
  readonly secrets: () => readonly string[] | undefined;
  /** The page that asks the users of clients that cannot ask, with the option `fallbacks`; undefined if there is none. */
  readonly askingPage: AskingPage | undefined;
  /** Runs the lifespan and resumes unfinished tasks now, instead of with the first call. */
  readonly start: () => Promise<void>;
  /**
   * Pauses tasks so that the next process can resume them: no further step starts, and running steps may finish and are saved.
   * `close` does the same. Call `drain` first if the server still answers calls in the meantime.
   */
  readonly drain: (options?: {
    /** The time for running steps to finish. Default: 5 s. */
    readonly drainMs?: number;
  }) => Promise<void>;
  /** Pauses the tasks, ends the lifespan and closes the store. Close the transports first. */
  readonly close: () => Promise<void>;
  /** For types only: the tools that a typed client reads. */
  readonly '~tools'?: T;
  /** For types only: the types of events. */
  readonly '~events'?: E;
}
