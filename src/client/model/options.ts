import type { JsonObject } from '../../jsonrpc/message.js';
import type { Middleware } from '../../protocol/call.js';
import type { AuthInit } from '../../protocol/caller.js';
import type { Implementation } from '../../protocol/model/model.js';
import { isLogLevel, type LogLevel } from '../../protocol/tables/log-level.js';
import { VERSION } from '../../protocol/version.js';
import type { Handlers } from './handlers.js';
import type { ResultCache } from './result-cache.js';

// The options of a client and of its calls.

/** The progress of a call or a task, as the server reports it. */
export interface Progress {
  /** The progress so far; it increases with each report. */
  readonly progress: number;
  /** The progress at which the work is done, if the server knows it. */
  readonly total?: number;
  /** The current step, for people. */
  readonly message?: string;
}

/** A log message of the server. */
export interface LogMessage {
  /** The severity. */
  readonly level: LogLevel;
  /** The part of the server that logs, if the server names one. */
  readonly logger?: string;
  /** The message itself: a string or any other JSON. */
  readonly data: unknown;
}

/** The options of one call. `connect` takes some of them as defaults for all calls. */
export interface CallOptions {
  /** Cancels the call: it fails with `cancelled`, and the server is notified. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The longest time without a response or progress, in milliseconds; then the call fails with `timeout`. Time spent waiting for
   * the user does not count. `Infinity`: no limit. Default: 60 s.
   */
  readonly timeoutMs?: number;
  /**
   * The longest time for the whole call, whatever progress it reports, in milliseconds; then the call fails with `timeout`.
   * Time spent waiting for the user does not count. If the call becomes a task, this also limits the wait for the task.
   * Default: 10 min for a call, no limit for a task.
   */
  readonly maxTimeoutMs?: number;
  /** Called with each progress report of this call. An error that it throws becomes a `problem` event. */
  readonly onProgress?: (progress: Progress) => void;
  /** Called with each log message of this call. Without a `logLevel`, the server is asked for messages from `info` up. */
  readonly onLog?: (message: LogMessage) => void;
  /**
   * The least severe level of log messages to ask the server for. Default: the client's level; `info` with `onLog`;
   * otherwise none.
   */
  readonly logLevel?: LogLevel;
  /** Asks the server even if a cached result is still valid, and caches the new result. Default: false. */
  readonly fresh?: boolean;
  /** Fields for the request's `_meta`. */
  readonly meta?: JsonObject;
}

/** The delays between attempts to reconnect, and the number of attempts. */
export interface ReconnectOptions {
  /** The number of failed attempts in a row after which the client closes. Default: no limit. */
  readonly maxAttempts?: number;
  /**
   * The delay before the first attempt, in milliseconds. Each further delay is twice as long, and each is shortened at random
   * by up to half. Default: 200 ms.
   */
  readonly baseMs?: number;
  /** The longest delay between two attempts, in milliseconds. Default: 30 s. */
  readonly maxMs?: number;
}

/** An extension of the protocol, as a client has it. */
export interface ClientExtension {
  /** The identifier, such as `com.example/search`. The client declares it to every server. */
  readonly id: string;
  /** The settings that the client declares. Default: an empty object. */
  readonly settings?: JsonObject;
  /**
   * Middleware around every call, inside of the client's own `use`: it turns the outcomes that the extension adds into those of the
   * protocol.
   */
  readonly use?: readonly Middleware[];
}

/** The options of a client, whatever it is connected to. */
export interface ClientOptions
  extends Handlers,
    Omit<CallOptions, 'signal' | 'onProgress' | 'onLog' | 'meta' | 'fresh'> {
  /** The name and version of your program; servers show and log them. Default: those of fullmcp. */
  readonly client?: Implementation;
  /** Middleware around every call, the first of the array outermost. */
  readonly use?: readonly Middleware[];
  /** The extensions of the protocol that this client supports, as in `[{ id: 'com.example/search' }]`. Tasks are always supported. */
  readonly extensions?: readonly ClientExtension[];
  /** Experimental capabilities to declare, with their settings, as in `{ 'com.example/preview': {} }`. */
  readonly experimental?: Readonly<Record<string, JsonObject>>;
  /**
   * The caller's identity for a server in the same process; `subject` alone is enough. Ignored for any other connection: use
   * `auth` there.
   */
  readonly caller?: AuthInit;
  /** Called with each log message of the server. Without a `logLevel`, the server is asked for messages from `info` up. */
  readonly onLog?: (message: LogMessage) => void;
  /** Called with the progress of every call, and with the call's method and name. */
  readonly progress?: (
    progress: Progress,
    call: {
      /** The protocol's method, such as `tools/call`. */
      readonly method: string;
      /** The name of the tool or prompt, or the URI of the resource. */
      readonly name?: string;
    },
  ) => void;
  /**
   * Reconnects when the connection is lost. An object sets the delays; `false` closes the client instead. A client that is
   * rejected with `unauthorized` or `forbidden` always closes. Default: true.
   */
  readonly reconnect?: boolean | ReconnectOptions;
  /**
   * Caches lists and resources for as long as the server allows. `false` turns that off; a `ResultCache` can be shared between
   * clients. Default: true, except for a server in the same process.
   */
  readonly cache?: boolean | ResultCache;
  /** The number of times that one call may ask for input; then the call fails. Default: 10. */
  readonly maxRounds?: number;
  /**
   * The number of retries when the connection breaks or the server is busy. Only calls that are safe to repeat, or that the
   * server never began, are retried. Default: 2.
   */
  readonly maxRetries?: number;
}

/** The settings of extensions by identifier, as a client declares them. */
export function settingsOf(extensions: readonly ClientExtension[]): Record<string, JsonObject> {
  return Object.fromEntries(extensions.map(({ id, settings = {} }) => [id, settings]));
}

/** The name and version of a client by default. The version is the package's. */
export const fullmcp: Implementation = { name: 'fullmcp', version: VERSION };

/** Reads progress from a notification, or from the metadata of a task; undefined if it is malformed. */
export function toProgress(params: JsonObject | undefined): Progress | undefined {
  const { progress, total, message } = params ?? {};
  if (typeof progress !== 'number') return undefined;
  return {
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  };
}

/** The log message that a notification carries; undefined if it cannot be read. */
export function toLogMessage(params: JsonObject | undefined): LogMessage | undefined {
  const { level, logger, data } = params ?? {};
  return isLogLevel(level) ? { level, data, ...(typeof logger === 'string' && { logger }) } : undefined;
}
