import type { Call, Middleware } from '../protocol/call.js';
import type { WideMiddleware } from '../protocol/telemetry/hosting.js';
import type { SharedState } from './cluster.js';
import type { RefusalListener } from './refusal-listeners.js';

// The seam between a server and middleware that keeps state for it.

/** An entry of a log. */
interface LeveledEntry {
  /** Its severity. */
  readonly level: 'info' | 'warning' | 'error';
}

/** The parts of a server that its middleware may use. */
export interface MiddlewareHost {
  /** The state that the processes of the server share. */
  readonly shared: SharedState;
  /** The place of the middleware in the server. All processes of the server have the same middleware there. */
  readonly place: string;
  /** Tells the operator. */
  readonly log: (level: 'info' | 'warning' | 'error', message: string, error?: unknown) => void;
  /** Writes an entry to standard error, if its level is logged. */
  readonly logEntry?: ((entry: LeveledEntry) => void) | undefined;
  /** Whether the server has the method that a call names, and the tool or prompt. Callers can send any name. */
  readonly defines?: ((call: Call) => boolean) | undefined;
  /** Adds a listener for requests whose credentials are refused. */
  readonly onRefused?: ((listener: RefusalListener) => void) | undefined;
  /** The facts of the server that middleware needs if it answers calls with results of earlier ones. */
  readonly results?: ServerResults | undefined;
  /** Runs parts of the middleware when the server starts, and after the last call, when it closes. */
  readonly attach: (part: MiddlewareLifetime) => void;
}

/** The facts of a server for middleware that answers calls with results of earlier ones. */
export interface ServerResults {
  /**
   * Whether the handler of a call would run now: the rules of access and the policy allow it, and no person has to approve it. Undefined
   * if it would not; otherwise the value of the option `user` as JSON, or an empty string. A result must not be returned to a caller
   * that is not admitted.
   */
  readonly admission: (call: Call) => string | undefined | Promise<string | undefined>;
  /** The version of the tool that the caller gets, if the tool has several: their results differ, even if they are public. */
  readonly variant: (call: Call) => Promise<number> | undefined;
  /**
   * How long the result of a call may be kept. `stated`: for the `ttlMs` of the result, if it has one. `open`: the definition does not
   * say it. `never`: the server makes it anew for each caller, or has it at hand.
   */
  readonly freshness: (call: Call) => 'stated' | 'open' | 'never';
  /** Whether a tool declares that it changes nothing; undefined if the server does not have the tool. */
  readonly isReadOnly: (tool: string) => boolean | undefined;
  /** Calls `listener` with every change that the server announces, as long as the program holds the listener. */
  readonly onChange: (listener: (change: ServerChange) => void) => void;
  /** Whether the changes that other processes announce arrive; true if there are none. */
  readonly hearsChanges: () => boolean;
}

/** A change that a server has announced, in this process or in another one. */
export type ServerChange =
  | {
      /** The list that changed. `everything`: announcements of other processes may have been missed. */
      readonly kind: 'tools' | 'prompts' | 'resources' | 'events' | 'everything';
    }
  | {
      /** The contents of one resource changed. */
      readonly kind: 'resource';
      /** The URI of the resource. */
      readonly uri: string;
    };

/** The parts of middleware that run when its server starts and closes. */
export interface MiddlewareLifetime {
  /**
   * Called when the server starts; a server that only answers calls in the same process may never start. An error ends the start. For
   * a tool that is added later, it is called with the first call, and an error is logged.
   */
  readonly start?: (() => Promise<void>) | undefined;
  /** Called for `/ready`, at most twice a second. Rejects while the middleware refuses calls: then `/ready` replies with 503. */
  readonly ready?: (() => Promise<void>) | undefined;
  /** Called when the server closes, after the last call. */
  readonly close?: (() => Promise<void>) | undefined;
}

/** Collects the parts of a server's middleware that run when the server starts and closes. */
export class MiddlewareLifetimes {
  readonly #parts: MiddlewareLifetime[] = [];
  readonly #log: MiddlewareHost['log'];
  #hasStarted = false;

  constructor(log: MiddlewareHost['log']) {
    this.#log = log;
  }

  readonly attach = (part: MiddlewareLifetime): void => {
    this.#parts.push(part);
    // The middleware of a tool that was added to the running server.
    if (this.#hasStarted)
      part.start?.().catch((error: unknown) => this.#log('error', 'Middleware could not be started', error));
  };

  async start(): Promise<void> {
    // Also the parts that are attached meanwhile.
    for (const { start } of this.#parts) await start?.();
    this.#hasStarted = true;
  }

  /** The parts that know whether the middleware is ready. */
  checks(): readonly (() => Promise<void>)[] {
    return this.#parts.flatMap(({ ready }) => ready ?? []);
  }

  async close(): Promise<void> {
    const ends = await Promise.allSettled(this.#parts.map(async ({ close }) => close?.()));
    for (const end of ends)
      if (end.status === 'rejected') this.#log('error', 'Middleware could not be closed', end.reason);
  }
}

/** Middleware that keeps state for each server it is used in. Called without a server, it keeps its state in memory. */
export interface HostedMiddleware extends Middleware {
  /** Makes the middleware for one server. */
  readonly forServer: (host: MiddlewareHost) => WideMiddleware;
}

/** The middleware of a server, with the parts of the server that some of it needs. */
export function hostMiddleware(
  use: readonly Middleware[],
  host: Omit<MiddlewareHost, 'place'>,
  place: string,
): readonly WideMiddleware[] {
  return use.map((one, at) => (isHosted(one) ? one.forServer({ ...host, place: `${place}.${at}` }) : one));
}

function isHosted(middleware: Middleware): middleware is HostedMiddleware {
  return typeof (middleware as Partial<HostedMiddleware>).forServer === 'function';
}
