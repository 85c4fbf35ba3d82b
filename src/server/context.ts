import type { Auth, Call, HttpFacts } from '../protocol/call.js';
import type { ResourceContents } from '../protocol/content.js';
import { McpError } from '../protocol/errors.js';
import { atLeast, type LogLevel } from '../protocol/log-level.js';
import { progressToken } from '../protocol/meta.js';
import type { ClientCapabilities, Implementation } from '../protocol/model.js';
import type { Revision } from '../protocol/revisions.js';
import type { Changed } from './bus.js';
import type { ToolResult } from './define.js';

/** What a handler is given beside its input. Every member may be taken off it: nothing depends on `this`. */
export interface Context<State = unknown, User = unknown> {
  /** Aborts when the client cancels or goes away, when time runs out, and on shutdown. */
  readonly signal: AbortSignal;
  /** Tells how far the work is. Sent only where the client asked for it; values that do not grow are dropped. */
  readonly progress: (done: number, total?: number, message?: string) => void;
  /** Sends log messages to the client, from the level it asked for upwards. */
  readonly log: Log;
  /** Who is calling, where the server checks that. */
  readonly auth: Auth | undefined;
  readonly client: ClientFacts;
  /** Headers and address of the HTTP request that carried the call. */
  readonly request: HttpFacts | undefined;
  /** What `lifespan` yielded. */
  readonly state: State;
  /** What `context` returned for this call. */
  readonly user: User;
  /** Reads one of this server's resources. */
  readonly read: (uri: string) => Promise<readonly ResourceContents[]>;
  /** Calls one of this server's tools. */
  readonly call: (tool: string, args?: Readonly<Record<string, unknown>>) => Promise<ToolResult>;
  /** Tells subscribed clients that something changed. */
  readonly changed: Changed;
  /**
   * Lets the client's connection go, where it can come back for the answer (2025-11-25 over HTTP). Does nothing elsewhere.
   */
  readonly release: () => void;
}

export type Log = Readonly<Record<LogLevel, (data: unknown, logger?: string) => void>>;

export interface ClientFacts {
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
  readonly revision: Revision;
  /** Ends the call with `missing_capability` unless the client declared this. */
  readonly require: (capability: keyof ClientCapabilities) => void;
}

/** What a server lends to the calls it serves. */
export interface Services {
  readonly changed: Changed;
  readonly read: (call: Call, uri: string) => Promise<readonly ResourceContents[]>;
  readonly callTool: (
    call: Call,
    name: string,
    args: Readonly<Record<string, unknown>>,
  ) => Promise<ToolResult>;
}

/** Members are made when a handler first touches them; a handler that uses none pays for none. */
export class CallContext<State, User> implements Context<State, User> {
  readonly state: State;
  readonly user: User;
  readonly #call: Call;
  readonly #services: Services;
  readonly #signal: AbortSignal | undefined;
  #reached = Number.NEGATIVE_INFINITY;

  constructor(call: Call, services: Services, given: Given<State, User>) {
    this.#call = call;
    this.#services = services;
    this.#signal = given.signal;
    this.state = given.state;
    this.user = given.user;
  }

  get signal(): AbortSignal {
    return this.#signal ?? this.#call.signal;
  }

  get auth(): Auth | undefined {
    return this.#call.auth;
  }

  get request(): HttpFacts | undefined {
    return this.#call.http;
  }

  get client(): ClientFacts {
    const { client, capabilities, revision } = this.#call.peer;
    return {
      info: client,
      capabilities,
      revision,
      require(capability) {
        if (capabilities[capability] === undefined) throw missingCapability({ [capability]: {} });
      },
    };
  }

  get changed(): Changed {
    return this.#services.changed;
  }

  get progress(): Context['progress'] {
    const token = progressToken(this.#call.params);
    return (done, total, message) => {
      // The value must grow with each notification (spec, Progress).
      if (token === undefined || !(done > this.#reached)) return;
      this.#reached = done;
      this.#call.notify('notifications/progress', {
        progressToken: token,
        progress: done,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      });
    };
  }

  get log(): Log {
    const send =
      (level: LogLevel) =>
      (data: unknown, logger?: string): void => {
        const wanted = this.#call.peer.logLevel;
        if (wanted === undefined || !atLeast(level, wanted)) return;
        this.#call.notify('notifications/message', { level, ...(logger !== undefined && { logger }), data });
      };
    return {
      debug: send('debug'),
      info: send('info'),
      notice: send('notice'),
      warning: send('warning'),
      error: send('error'),
      critical: send('critical'),
      alert: send('alert'),
      emergency: send('emergency'),
    };
  }

  get read(): Context['read'] {
    return (uri) => this.#services.read(this.#call, uri);
  }

  get call(): Context['call'] {
    return (name, args = {}) => this.#services.callTool(this.#call, name, args);
  }

  get release(): () => void {
    return () => this.#call.release?.();
  }
}

export interface Given<State, User> {
  readonly state: State;
  readonly user: User;
  /** A signal narrower than the call's own, for a handler with a time limit. */
  readonly signal?: AbortSignal | undefined;
}

/** The client must declare these before the call can be served. */
export function missingCapability(required: ClientCapabilities): McpError {
  const names = Object.keys(required).join(', ');
  return new McpError('missing_capability', `This call needs a client that declares: ${names}`, {
    data: { requiredCapabilities: required },
  });
}
