import type { ClientOptions } from '../client/options.js';
import type { McpError } from '../protocol/errors.js';
import type { Revision } from '../protocol/revisions.js';
import type { HttpLinkOptions, NodeHttpOptions } from '../transports/http/client/options.js';
import type { ServerProcess, SpawnOptions } from '../transports/stdio/spawn.js';
import type { WebSocketConstructor } from '../transports/websocket/connect.js';
import type { Wire } from '../transports/wire.js';
import type { McpConfig } from './config.js';
import type { OpenCarrier } from './open-http.js';
import type { Verdict, VerdictCache } from './verdicts.js';

export interface ConnectOptions extends ClientOptions, HttpLinkOptions {
  /** Gives up connecting. A client that is connected is ended by `close`. */
  readonly signal?: AbortSignal | undefined;
  /** How long connecting may take, for each target of a list. 30 seconds unless told. */
  readonly connectTimeoutMs?: number;
  /**
   * How long a process or a WebSocket may be silent when it is asked for its era, before the handshake of the session era is
   * tried as well. 5 seconds unless told.
   */
  readonly probeTimeoutMs?: number;
  /** Insists on a revision: nothing else is tried. */
  readonly revision?: Revision;
  /** What `verdictOf` said of the server before. With it, a modern server is not asked again before the first call. */
  readonly prior?: Verdict;
  /** Where the eras of servers are remembered; this module's own memory unless told. */
  readonly verdicts?: VerdictCache;
  /** Opens WebSockets where the runtime has none, or in another way. */
  readonly WebSocket?: WebSocketConstructor;
  /** What becomes of a process's stderr. By default its first and last lines are kept, for errors. */
  readonly stderr?: ServerProcess['stderr'];
}

/** What only some runtimes can do. An entry file hands it in, so that the others never load it. */
export interface Host {
  readonly openProcess?: (server: ServerProcess, options: SpawnOptions) => Wire | Promise<Wire>;
  /** How a script is started. */
  readonly script?: (path: string) => Promise<ScriptProcess>;
  readonly readConfig?: (path: string) => Promise<McpConfig>;
  /** Carries HTTP in a better way than `fetch` does. */
  readonly http?: OpenCarrier;
  /** Whether the runtime's own WebSocket is good enough. Node's does not say why it failed, and takes messages of any size. */
  readonly ownWebSocket?: boolean;
  /** A WebSocket whose opening request has these headers. */
  readonly webSocket?: (
    headers: Readonly<Record<string, string>>,
    options: NodeHttpOptions,
  ) => Promise<WebSocketConstructor>;
}

export interface ScriptProcess extends ServerProcess {
  /** What to do where it does not start; undefined where the failure says it all. */
  readonly hint?: (failure: McpError) => string | undefined;
}
