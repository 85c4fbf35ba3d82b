import type { JsonObject } from '../jsonrpc/message.js';
import type { Auth, HttpFacts } from '../protocol/call.js';
import type { ResourceContents } from '../protocol/content.js';
import type { Root } from '../protocol/input.js';
import type { LogLevel } from '../protocol/log-level.js';
import type { ClientCapabilities, Implementation } from '../protocol/model.js';
import type { Revision } from '../protocol/revisions.js';
import type { Infer, Schema } from '../schema/schema.js';
import type {
  Elicited,
  FormQuestion,
  Sampled,
  SampleOptions,
  UrlQuestion,
  Visited,
} from './asking/question.js';
import type { Step } from './asking/run.js';
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

  /**
   * Asks the user to fill in a form, or sends them to a page. The key names the question in this handler. The run may end
   * here and begin again from the top when the answer is there: put anything that must happen only once inside `step`. The answer
   * counts only for the question that was shown.
   */
  readonly elicit: Elicit;
  /** The short form of `elicit`: gives the content, and ends the call if the user does not accept. */
  readonly ask: <S extends Schema>(key: string, question: FormQuestion<S>) => Promise<Infer<S>>;
  /** Asks the client's model. */
  readonly sample: (key: string, options: SampleOptions) => Promise<Sampled>;
  /** Asks which folders the client has open. */
  readonly roots: (key: string) => Promise<readonly Root[]>;
  /**
   * Runs `work` once in all runs of this call, and keeps its result, which must be JSON. Throws without running `work` when the
   * run is over: cancelled, out of time, or waiting for an answer.
   */
  readonly step: <T>(key: string, work: (step: Step) => T | Promise<T>) => Promise<T>;
  /** For handlers that return `inputRequired`: what the client answered and the state that was carried. */
  readonly resumed: { readonly answers: JsonObject; readonly state: unknown } | undefined;

  /**
   * Goes on as a task: the client is given the task now and fetches the result later. Does nothing unless the tool's `task`
   * begins when told and the client knows tasks.
   */
  readonly background: () => Promise<void>;

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

export interface Elicit {
  <S extends Schema>(key: string, question: FormQuestion<S>): Promise<Elicited<Infer<S>>>;
  (key: string, question: UrlQuestion): Promise<Visited>;
}

export type Log = Readonly<Record<LogLevel, (data: unknown, logger?: string) => void>>;

export interface ClientFacts {
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
  readonly revision: Revision;
  /** Ends the call with `missing_capability` unless the client declared this. */
  readonly require: (capability: keyof ClientCapabilities) => void;
}
