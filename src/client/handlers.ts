import type { JsonObject } from '../jsonrpc/message.js';
import type { Root, SamplingMessage, SamplingSettings } from '../protocol/input.js';

// What the program that uses the client does for the server: asks the user, asks a model, names its folders.

/** What is known of a question beside itself. */
export interface Asked {
  /** The key under which a server asks; undefined in the session era, unless the server is one of ours. */
  readonly key: string | undefined;
  /**
   * Who asks: the title or the name that the server gives itself, or its address where it has neither. Show it to the user, who
   * knows your program and not the server.
   */
  readonly server: string;
  /** What was wrong with the answer before, where a form is put again because its answer did not fit. Show it to the user. */
  readonly rejection?: string;
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/** A form for the user to fill in. */
export interface Form {
  readonly message: string;
  /** A JSON Schema of one level: primitives and choices. */
  readonly schema: JsonObject;
}

/** A page for the user to visit. Show where it leads and open it only after the user agreed. */
export interface Visit {
  readonly message: string;
  readonly url: string;
}

/** What the user did. Fields that are missing in an accepted form are filled in from the form's defaults. */
export type FormAnswer =
  | { readonly action: 'accept'; readonly content?: JsonObject }
  | { readonly action: 'decline' | 'cancel' };

export interface VisitAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
}

export type AnswerForm = (form: Form, asked: Asked) => FormAnswer | Promise<FormAnswer>;
export type AnswerVisit = (visit: Visit, asked: Asked) => VisitAnswer | Promise<VisitAnswer>;

export interface SamplingRequest extends SamplingSettings {
  readonly messages: readonly SamplingMessage[];
}

export interface SamplingAnswer extends SamplingMessage {
  readonly model: string;
  readonly stopReason?: string;
}

export type AnswerSampling = (
  request: SamplingRequest,
  asked: Asked,
) => SamplingAnswer | Promise<SamplingAnswer>;

/** The handlers. What is given is declared to the server as a capability; what is not is never asked for. */
export interface Handlers {
  /** Fills in forms; with `url`, also sends the user to pages. */
  readonly elicit?: AnswerForm | { readonly form?: AnswerForm; readonly url?: AnswerVisit };
  /** Asks a model. `tools` says that it may be offered tools, `context` that it can be given a server's context. */
  readonly sample?:
    | AnswerSampling
    | { readonly run: AnswerSampling; readonly tools?: boolean; readonly context?: boolean };
  /** The folders that are open: URIs, or a function that gives them. */
  readonly roots?:
    | readonly (string | Root)[]
    | (() => readonly (string | Root)[] | Promise<readonly (string | Root)[]>);
}
