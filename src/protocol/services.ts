// The seam of discovery: finding servers by name, wherever they run.

import type { Dispatch } from './call.js';
import type { AuthInit } from './caller.js';
import type { OpenLink } from './link.js';
import type { Implementation } from './model/model.js';

/** One running instance of a server that can be found by name. */
export interface ServiceInstance {
  /** The name under which the server is found. */
  readonly name: string;
  /** Differs from instance to instance. */
  readonly id: string;
  /** The version of the server. */
  readonly version: string;
  /** The server's name for people, if it has one. */
  readonly title?: string | undefined;
  /** The names of the tools that an anonymous caller sees. */
  readonly tools: readonly string[];
  /** The protocol revisions that the server speaks. */
  readonly revisions: readonly string[];
  /** The transports over which the instance is reached, the best one first: `in-process`, or `nats`. */
  readonly transports: readonly string[];
  /** The process that runs the instance: its host and process id. */
  readonly node: string;
  /** When the instance was started, as an ISO 8601 string. */
  readonly startedAt: string;
}

/** A server that others can find. Every server that `createServer` returns is one. */
export interface DiscoverableServer {
  /** The name and version of the server. */
  readonly info: Implementation;
  /** Answers calls. */
  readonly dispatch: Dispatch;
}

/** The options of `register`. */
export interface RegisterOptions {
  /** The name under which the server is found. Default: the server's own name. */
  readonly service?: string;
}

/** A server that others find until it is closed. */
export interface RegisteredService extends AsyncDisposable {
  /** The name under which the server is found. */
  readonly service: string;
  /** The id of this instance. */
  readonly id: string;
  /** Lets open calls finish, and is not found any more. */
  readonly close: () => Promise<void>;
}

/** The options of links to a service. */
export interface OpenServiceOptions {
  /** The headers of every request, where there are any, such as those that identify the caller. */
  readonly headers?:
    | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>)
    | undefined;
  /** The caller, for a server in the same process. */
  readonly caller?: AuthInit | undefined;
  /** The largest message that is sent or read, in bytes. */
  readonly maxMessageBytes?: number | undefined;
}

/** Finds servers by name, and connects to them. In memory for the servers of this process; `fullmcp/nats` finds those of others. */
export interface Discovery {
  /** Makes a server available. */
  register(server: DiscoverableServer, options?: RegisterOptions): Promise<RegisteredService>;
  /** The instances that run now. */
  list(): Promise<readonly ServiceInstance[]>;
  /** An instance of this name that runs now; undefined if there is none. */
  find(name: string): Promise<ServiceInstance | undefined>;
  /** Opens links to the service of this name, whichever instance serves each call. */
  open(name: string, options?: OpenServiceOptions): OpenLink;
  /** Closes the connections of the discovery. Servers that were registered with it are not found any more. */
  close(): Promise<void>;
}
