import type { JsonObject } from '../../jsonrpc/message.js';
import type {
  ElicitUrlResult,
  InputRequest,
  Root,
  SamplingMessage,
  SamplingSettings,
} from '../../protocol/model/input.js';

// The handlers with which a program answers a server's questions: they ask the user, run a model, or list folders.

/** The context of a question: the server that asks, and a signal for when the answer is no longer needed. */
export interface QuestionContext {
  /** The server's key for the question; undefined for servers before revision 2026-07-28 that are not made with fullmcp. */
  readonly key: string | undefined;
  /**
   * The title or name that the server gives itself, or its address. Show it to the user, who knows your program but not the
   * server.
   */
  readonly server: string;
  /** The reason why the previous answer to the same form was rejected; absent the first time. Show it to the user. */
  readonly rejection?: string;
  /** Aborts when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

/** A form for the user to fill in. */
export interface ElicitForm {
  /** The question to show above the form. */
  readonly message: string;
  /** A flat JSON Schema: its fields are strings, numbers, booleans and choices. */
  readonly schema: JsonObject;
}

/** A page for the user to visit. Show the address to the user, and open the page only after the user agrees. */
export interface ElicitUrl {
  /** The reason for the visit, to show to the user. */
  readonly message: string;
  /** The address of the page. It begins with `https://` or `http://`, and its host is ASCII; the client declines all others. */
  readonly url: string;
}

/** The user's answer to a form. Fields that are missing from `content` get the form's defaults. */
export type ElicitFormResult =
  | {
      /** `accept`: the user filled in the form. */
      readonly action: 'accept';
      /** The fields of the form. If they do not fit the schema, the handler is called again, with a `rejection`. */
      readonly content?: JsonObject;
    }
  | {
      /** `decline`: the user said no. `cancel`: the user closed the form without an answer. */
      readonly action: 'decline' | 'cancel';
    };

/** Shows a form to the user and returns the answer. */
export type ElicitFormHandler = (
  form: ElicitForm,
  context: QuestionContext,
) => ElicitFormResult | Promise<ElicitFormResult>;
/** Asks the user whether to visit a page, opens the page, and returns the answer without waiting for the visit to end. */
export type ElicitUrlHandler = (
  page: ElicitUrl,
  context: QuestionContext,
) => ElicitUrlResult | Promise<ElicitUrlResult>;

/** A request for a message from a model. */
export interface SamplingRequest extends SamplingSettings {
  /** The conversation so far, oldest first. */
  readonly messages: readonly SamplingMessage[];
}

/** The message that the model generated. */
export interface SamplingResult extends SamplingMessage {
  /** The name of the model that generated the message. */
  readonly model: string;
  /** The reason why the model stopped, such as `endTurn`, `maxTokens` or `toolUse`. */
  readonly stopReason?: string;
}

/** The user did not let the model run: a server of a session is told so, and otherwise the call fails with `user_rejected`. */
export interface SamplingRejection {
  /** `decline`: the user said no. `cancel`: the user closed the dialog without an answer. Servers see no difference. */
  readonly action: 'decline' | 'cancel';
}

/** Runs a model and returns its message. Let the user approve the request first. */
export type SamplingHandler = (
  request: SamplingRequest,
  context: QuestionContext,
) => SamplingResult | SamplingRejection | Promise<SamplingResult | SamplingRejection>;

/**
 * The handlers for a server's questions. Each handler is declared to the server as a capability; the server must not ask
 * questions that have no handler.
 */
export interface Handlers {
  /** Asks the user to fill in forms and, with `url`, to visit pages. A function handles forms only. */
  readonly elicit?:
    | ElicitFormHandler
    | {
        /** Shows forms. */
        readonly form?: ElicitFormHandler;
        /** Sends the user to pages. */
        readonly url?: ElicitUrlHandler;
      };
  /** Runs a model for the server. A function supports neither tools nor context. */
  readonly sample?:
    | SamplingHandler
    | {
        /** Runs the model. */
        readonly run: SamplingHandler;
        /** Declares that the model can use tools. Default: false. */
        readonly tools?: boolean;
        /** Declares that the handler supports `includeContext`. Default: false. */
        readonly context?: boolean;
      };
  /** The folders that the server may use: URIs such as `file:///home/me/project`, or a function that returns them. */
  readonly roots?:
    | readonly (string | Root)[]
    | (() => readonly (string | Root)[] | Promise<readonly (string | Root)[]>);
}

/** Answers one question of a server, of any revision. */
export type AnswerQuestion = (
  request: InputRequest,
  context: Omit<QuestionContext, 'server'>,
) => Promise<JsonObject>;
