import type { JsonObject } from '../../jsonrpc/message.js';
import type { Auth, HttpFacts } from '../../protocol/call.js';
import type { ResourceContents } from '../../protocol/model/content.js';
import type { ElicitUrlResult, Root } from '../../protocol/model/input.js';
import type { ClientCapabilities, Implementation } from '../../protocol/model/model.js';
import type { LogLevel } from '../../protocol/tables/log-level.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import type { HandlerLog } from '../../protocol/telemetry/handler-log.js';
import type { Infer, Schema } from '../../schema/schema.js';
import type {
  ElicitResult,
  FormQuestion,
  SampleOptions,
  SampleResult,
  UrlQuestion,
} from '../asking/question.js';
import type { Step } from '../asking/run.js';
import type { ToolResult } from '../results/tool-result.js';
import type { Changed } from '../state/changes.js';
import type { EmitAny } from '../state/emitting.js';
import type { ContextStore } from './stored.js';

/** The second argument of every handler. Destructure it freely: no member depends on `this`. */
export interface Context<State = unknown, User = unknown> {
  /** Aborts when the client cancels the call or disconnects, when the call times out, and when the server shuts down. */
  readonly signal: AbortSignal;
  /** Reports progress to the client, if the client requested that. Values that do not increase are dropped. */
  readonly progress: (done: number, total?: number, message?: string) => void;
  /** Sends log messages to the client, from the level that the client requested upwards. `logger` is for the operator. */
  readonly log: ContextLog;
  /**
   * Writes lines to the log of the operator: to the `logger` of the server, or to standard error. Each line has the tool, the id of the
   * call and the caller. Clients do not see them; `log` is for clients.
   */
  readonly logger: HandlerLog;
  /** The authenticated caller; undefined if the transport has no `auth` or `auth` did not identify the caller. */
  readonly auth: Auth | undefined;
  /** The client as it describes itself: name, revision and capabilities. */
  readonly client: ClientFacts;
  /** The headers and the address of the HTTP request that carried the call; undefined over stdio. */
  readonly request: HttpFacts | undefined;
  /** The value that `lifespan` yielded. */
  readonly state: State;
  /** The value that the option `user` returned for this call. */
  readonly user: User;

  /**
   * Asks the user to fill in a form or to open a page. The key identifies the question within this handler. The run may end
   * here and start again from the first line when the answer arrives: put anything that must happen only once inside `step`. The
   * answer is used only if the question is still the one that the user saw.
   */
  readonly elicit: Elicit;
  /**
   * Asks the user to fill in a form and returns its values. If the user does not accept, the call ends with a `ToolError`. The
   * short form of `elicit`.
   */
  readonly ask: <S extends Schema>(key: string, question: FormQuestion<S>) => Promise<Infer<S>>;
  /**
   * Asks the client's model. The key identifies the question within this handler.
   *
   * @deprecated The protocol has deprecated sampling in 2026-07-28. Call the API of a model provider.
   */
  readonly sample: (key: string, options: SampleOptions) => Promise<SampleResult>;
  /**
   * Asks the client for its open folders. The key identifies the question within this handler.
   *
   * @deprecated The protocol has deprecated roots in 2026-07-28. Take folders as arguments of the tool.
   */
  readonly roots: (key: string) => Promise<readonly Root[]>;
  /**
   * Runs `work` once in all runs of this call and keeps its result, which must be JSON. The key identifies the step within this
   * handler. Throws without running `work` when the run is over: cancelled, timed out, or waiting for an answer.
   */
  readonly step: <T>(key: string, work: (step: Step) => T | Promise<T>) => Promise<T>;
  /** The client's answers, for handlers that return `inputRequired`; undefined in the first run. */
  readonly resumed:
    | {
        /** The answers by the key of their question. */
        readonly answers: JsonObject;
        /** The state that was passed to `inputRequired`. */
        readonly state: unknown;
      }
    | undefined;

  /**
   * Continues the handler as a task: the client gets the task now, and fetches the result later. Does nothing unless the tool's
   * `task` has `start: 'on-background'` and the client supports tasks.
   */
  readonly background: () => Promise<void>;

  /**
   * State that the server keeps for the caller, by a definition of `stored()`: `ctx.store(cart).get()`. With an id, one of several
   * values of the caller. In a handler that asks, write inside of `step`, because the handler may run again from its first line.
   */
  readonly store: ContextStore;

  /** Reads one of this server's resources on behalf of the caller. */
  readonly read: (uri: string) => Promise<readonly ResourceContents[]>;
  /** Calls one of this server's tools on behalf of the caller. */
  readonly call: (tool: string, args?: Readonly<Record<string, unknown>>) => Promise<ToolResult>;
  /** Announces changes to subscribed clients. */
  readonly changed: Changed;
  /**
   * Emits an event of this server: `ctx.emit('ticket_changed', ticket, { eventId })`. In a handler that may run again, give it the id of the
   * source, or call it inside `step` with an id that is made of `step.idempotencyKey`, so that it is told once.
   */
  readonly emit: EmitAny;
  /** Closes the connection of a client that can reconnect for the response (2025-11-25 over HTTP). Does nothing elsewhere. */
  readonly release: () => void;
}

/** Asks the user: with a form (`schema`) or by opening a page (`url`). */
export interface Elicit {
  /** Shows a form and returns the user's reaction, with the values if the user accepted. */
  <S extends Schema>(key: string, question: FormQuestion<S>): Promise<ElicitResult<Infer<S>>>;
  /** Asks the user to open a page and returns the user's reaction, which does not tell whether the user has finished there. */
  (key: string, question: UrlQuestion): Promise<ElicitUrlResult>;
}

/** Functions that send a log message of their level to the client. */
export type ContextLog = Readonly<Record<LogLevel, (data: unknown, logger?: string) => void>>;

/** The client as it describes itself. The server does not verify any of it. */
export interface ClientFacts {
  /** The client's name and version; undefined if the client did not send them. */
  readonly info: Implementation | undefined;
  /** The capabilities that the client declared. */
  readonly capabilities: ClientCapabilities;
  /** The protocol revision that the client uses. */
  readonly revision: Revision;
  /** Ends the call with the error `missing_capability` unless the client declared the capability. */
  readonly require: (capability: keyof ClientCapabilities) => void;
}
