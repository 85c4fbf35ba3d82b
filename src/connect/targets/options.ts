// The options of connecting, and the abilities that a runtime passes in.

import type { ToolCallOptions } from '../../client/model/client.js';
import type { ClientOptions } from '../../client/model/options.js';
import type { ChallengeReply } from '../../protocol/model/client-auth.js';
import type { Discovery } from '../../protocol/services.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import type { Wire } from '../../transports/client/wire.js';
import type { HttpCarrier } from '../../transports/http/client/carrier.js';
import type { HttpLinkOptions, NodeHttpOptions } from '../../transports/http/client/options.js';
import type { ServerProcess, SpawnOptions } from '../../transports/stdio/client/spawn.js';
import type { WebSocketConstructor } from '../../transports/websocket/connect.js';
import type { KnownServer, KnownServers } from './known-servers.js';
import type { McpConfig } from './target.js';

/** The options of `connect`: those of the client, of HTTP, and of connecting. */
export interface ConnectOptions extends ClientOptions, HttpLinkOptions {
  /** Stops connecting. Has no effect once the client is connected: use `close` then. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The longest time that connecting to a target may take, in milliseconds; then it fails with `timeout`. Also limits each
   * attempt to reconnect. Default: 30 s.
   */
  readonly connectTimeoutMs?: number;
  /**
   * The time that a server over stdio or a WebSocket may take to report its revisions, in milliseconds; then the handshake of
   * older revisions is tried as well. Ignored over HTTP. Default: 5 s.
   */
  readonly probeTimeoutMs?: number;
  /**
   * The only revision to accept; a server that speaks another is rejected with `unsupported_version`. Default: the newest that
   * both ends speak.
   */
  readonly revision?: Revision;
  /**
   * The result of `knownServer` for an earlier connection. A server of revision 2026-07-28 is then not asked for its
   * description before the first call. Ignored for a config of several servers.
   */
  readonly known?: KnownServer;
  /** The cache that remembers the era of each server. Default: one that all connections of this program share. */
  readonly knownServers?: KnownServers;
  /** The class that opens WebSockets. Default: that of the package `ws` on Node, and the runtime's own elsewhere. */
  readonly WebSocket?: WebSocketConstructor;
  /**
   * The destination of a process's stderr: `inherit` shows it, a function receives its lines. A `stderr` on the target itself
   * takes precedence. Default: the first and last lines are kept for error messages.
   */
  readonly stderr?: ServerProcess['stderr'];
}

/** Abilities that only some runtimes have. An entry file passes them in, so that the other runtimes never load them. */
export interface Runtime {
  /** The environment variables. */
  readonly environment?: () => Readonly<Record<string, string | undefined>> | undefined;
  readonly openProcess?: (server: ServerProcess, options: SpawnOptions) => Wire | Promise<Wire>;
  /** Finds out how to start a script, and uses that process. An error of `use` gets advice if the script did not start. */
  readonly withScript?: <Result>(
    path: string,
    use: (server: ServerProcess) => Promise<Result>,
  ) => Promise<Result>;
  readonly readConfig?: (path: string) => Promise<McpConfig>;
  /** Carries HTTP better than `fetch` does. */
  readonly http?: OpenCarrier;
  /** Finds services over NATS. */
  readonly nats?: (url: string) => Promise<NatsTarget>;
  /** Whether to use the runtime's own WebSocket. Node's does not say why it failed, and accepts messages of any size. */
  readonly ownWebSocket?: boolean;
  /** Returns a WebSocket class whose opening request has these headers. `onRefused` gets the reply of a server that refuses it. */
  readonly webSocket?: (
    headers: Readonly<Record<string, string>>,
    options: NodeHttpOptions,
    onRefused?: (reply: ChallengeReply) => void,
  ) => Promise<WebSocketConstructor>;
}

export interface NatsTarget {
  /** The name of the service in the URL; empty if it has none. */
  readonly service: string;
  readonly discovery: Discovery;
}

/** The options of the connection and of the call, together. */
export interface OneShotOptions extends ConnectOptions, ToolCallOptions {}

/** Makes the carrier for the requests of one link. The link closes it. */
export type OpenCarrier = (url: URL, http: HttpLinkOptions) => Promise<HttpCarrier>;
