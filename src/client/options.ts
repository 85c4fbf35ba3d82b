import type { JsonObject } from '../jsonrpc/message.js';
import type { Middleware } from '../protocol/call.js';
import type { AuthInit } from '../protocol/caller.js';
import type { LogLevel } from '../protocol/log-level.js';
import type { Implementation } from '../protocol/model.js';
import type { ResultCache } from './cache.js';
import type { Handlers } from './handlers.js';

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface LogMessage {
  readonly level: LogLevel;
  readonly logger?: string;
  readonly data: unknown;
}

/** What holds for one call; `connect` takes the same as defaults for all. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long a call may go without a sign of life: an answer or progress. 60 seconds unless told. */
  readonly timeoutMs?: number;
  /** How long a call may take in all, whatever it reports. Ten minutes unless told. */
  readonly maxTimeoutMs?: number;
  readonly onProgress?: (progress: Progress) => void;
  /** Log messages of this call; they come where `logLevel` asks for them. */
  readonly onLog?: (message: LogMessage) => void;
  readonly logLevel?: LogLevel;
  /** Asks the server, also where a result was kept that is still good. */
  readonly fresh?: boolean;
  /** Sent as `_meta` with the request. */
  readonly meta?: JsonObject;
}

export interface ReconnectOptions {
  /** How often in a row before the client gives up and closes. No limit unless told. */
  readonly maxAttempts?: number;
  /** The first pause; each next one is twice as long, up to `maxMs`, and each is cut by chance to between half and all. */
  readonly baseMs?: number;
  readonly maxMs?: number;
}

/** How the client behaves, whatever it is connected to. */
export interface ClientOptions
  extends Handlers,
    Omit<CallOptions, 'signal' | 'onProgress' | 'onLog' | 'meta' | 'fresh'> {
  /** Who this is; servers show and log it. */
  readonly client?: Implementation;
  /** Wraps every call, the first of the list outermost. */
  readonly use?: readonly Middleware[];
  /** Who the calls come from, for a server in the same process: `subject` alone is enough. */
  readonly as?: AuthInit;
  /** Gets the server's log messages. Without `logLevel`, from `info` on. */
  readonly log?: (message: LogMessage) => void;
  /** Gets every call's progress, with the name of what was called. */
  readonly progress?: (progress: Progress, call: { readonly method: string; readonly name?: string }) => void;
  /** What to do when the connection is lost; `false` closes the client. */
  readonly reconnect?: boolean | ReconnectOptions;
  /** Keeps results for as long as the server said. `false` keeps none; clients may share one. */
  readonly cache?: boolean | ResultCache;
  /** How many times one call may ask for input. Ten unless told. */
  readonly maxRounds?: number;
  /** How often a call that may safely be repeated is repeated when the connection breaks or the server is busy. Twice unless told. */
  readonly maxRetries?: number;
}
