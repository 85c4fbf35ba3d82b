import type { JsonObject } from '../../jsonrpc/message.js';
import type { Auth, HttpFacts } from '../../protocol/call.js';
import type { ResourceContents } from '../../protocol/model/content.js';
import type { ElicitUrlResult, Root } from '../../protocol/model/input.js';
import type { LogLevel } from '../../protocol/tables/log-level.js';
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
import type { Changed } from '../state/bus.js';
import type { ClientFacts } from './client-facts.js';

/** The second argument of every handler. Destructure it freely: no member depends on `this`. */
export interface Context<State = unknown, User = unknown> {
  /** Aborts when the client cancels or disconnects, when time runs out, and on shutdown. */
  readonly signal: AbortSignal;
  /** Reports progress. Sent only if the client asked for it; values that do not grow are dropped. */
  readonly progress: (done: number, total?: number, message?: string) => void;
  /** Sends log messages to the client, from the level that it asked for upwards. `server.logger` is for the operator. */
  readonly log: ContextLog;
  /** The authenticated caller; undefined if the transport has no `auth` or it returned nobody. */
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
   * Asks the user to fill in a form, or sends them to a page. The key names the question in this handler. The run may end
   * here and begin again from the top when the answer is there: put anything that must happen only once inside `step`. The answer
   * counts only for the question that was shown.
   */
  readonly elicit: Elicit;
  /**
   * Asks the user to fill in a form and returns its values. If the user does not accept, the call ends. The short form of
   * `elicit`.
   */
  readonly ask: <S extends Schema>(key: string, question: FormQuestion<S>) => Promise<Infer<S>>;
  /** Asks the client's model. The key names the question in this handler. */
  readonly sample: (key: string, options: SampleOptions) => Promise<SampleResult>;
  /** Asks which folders the client has open. The key names the question in this handler. */
  readonly roots: (key: string) => Promise<readonly Root[]>;
  /**
   * Runs `work` once in all runs of this call and keeps its result, which must be JSON. The key names the step in this
   * handler. Throws without running `work` when the run is over: cancelled, out of time, or waiting for an answer.
   */
  readonly step: <T>(key: string, work: (step: Step) => T | Promise<T>) => Promise<T>;
  /** The answers of the client, for handlers that return `inputRequired`; undefined in the first run. */
  readonly resumed:
    | {
        /** The answers by the key of their question. */
        readonly answers: JsonObject;
        /** The state that was given to `inputRequired`. */
        readonly state: unknown;
      }
    | undefined;

  /**
   * Continues as a task: the client is given the task now and fetches the result later. Does nothing unless the tool's `task`
   * has `start: 'on-background'` and the client supports tasks.
   */
  readonly background: () => Promise<void>;

  /** Reads one of this server's resources, in the name of the caller. */
  readonly read: (uri: string) => Promise<readonly ResourceContents[]>;
  /** Calls one of this server's tools, in the name of the caller. */
  readonly call: (tool: string, args?: Readonly<Record<string, unknown>>) => Promise<ToolResult>;
  /** Announces changes to subscribed clients. */
  readonly changed: Changed;
  /** Closes the connection of a client that can reconnect for the answer (2025-11-25 over HTTP). Does nothing elsewhere. */
  readonly release: () => void;
}

/** Asks the user: with a form (`schema`) or by opening a page (`url`). */
export interface Elicit {
  /** Shows a form and returns the user's reaction, with the values if the user accepted. */
  <S extends Schema>(key: string, question: FormQuestion<S>): Promise<ElicitResult<Infer<S>>>;
  /** Asks the user to open a page and returns the user's reaction, which does not tell whether the user is done there. */
  (key: string, question: UrlQuestion): Promise<ElicitUrlResult>;
}

/** Functions that send a log message of their level to the client. */
export type ContextLog = Readonly<Record<LogLevel, (data: unknown, logger?: string) => void>>;
