// The questions that a handler can ask: a form, a page, the client's model, and its open folders; and the approval that a policy asks for.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { canonical } from '../../protocol/canonical.js';
import { webUrl } from '../../protocol/checks/web-url.js';
import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import { sha256 } from '../../protocol/encoding/sha256.js';
import { quote } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import {
  type ElicitUrlResult,
  type InputRequest,
  isRejectedSampling,
  type Root,
  type SamplingContent,
  type SamplingMessage,
  type SamplingSettings,
  withDefaults,
} from '../../protocol/model/input.js';
import type { ClientCapabilities } from '../../protocol/model/model.js';
import { HANDLER_ADVICE } from '../../protocol/tables/failure-texts.js';
import { ANSWERED_BY } from '../../protocol/tables/meta-keys.js';
import { compileSchema } from '../../schema/compile.js';
import type { Infer, Schema } from '../../schema/schema.js';
import type { ReportDeprecated } from '../state/deprecations.js';
import { formSchema } from './form-schema.js';

/** A question: the request to send, and the function that reads its answer. */
export interface Question<T> {
  readonly request: InputRequest;
  /** Reads an answer. If it is not valid, the client is asked again. */
  readonly read: (response: unknown) => { readonly ok: true; readonly value: T } | { readonly ok: false };
  /**
   * The thing that the question is about, if an answer must not count for another one: then only an answer to the question as it was
   * asked counts, and only once.
   */
  readonly subject?: string | undefined;
}

/** The user's reaction to a form. `content` is there only if the user accepted. */
export type ElicitResult<T> =
  | {
      /** The user filled in the form. */
      readonly action: 'accept';
      /** The values of the form, validated by its schema. */
      readonly content: T;
      /** `model` if the client cannot ask its user, and the model has passed the answer on (the option `fallbacks`). */
      readonly answeredBy?: 'model';
    }
  | {
      /** The user refused (`decline`) or closed the form (`cancel`). */
      readonly action: 'decline' | 'cancel';
      /** `model` if the client cannot ask its user, and the model has passed the answer on (the option `fallbacks`). */
      readonly answeredBy?: 'model';
    };

/** A form for the user to fill in. */
export interface FormQuestion<S extends Schema> {
  /** The text above the form, for the user. */
  readonly message: string;
  /** The fields, as a schema of a flat object of strings, numbers, booleans and choices. It must validate synchronously. */
  readonly schema: S;
  /**
   * `user`: an answer that the model has passed on does not count, so that a client that cannot ask its user needs the page of the option
   * `fallbacks`. Default: it counts, and the result of `ctx.elicit` says so in `answeredBy`.
   */
  readonly by?: 'user';
  /** Not for forms: a question has either a `schema` or a `url`. */
  readonly url?: never;
}

/** A page that the user is sent to. */
export interface UrlQuestion {
  /** The reason for the visit, for the user. */
  readonly message: string;
  /** The address of the page: for credentials, payments and everything else that must not pass through the client. */
  readonly url: string;
  /** Not for pages: a question has either a `schema` or a `url`. */
  readonly schema?: never;
}

const UNREADABLE = { ok: false } as const;

function checkQuestion(question: unknown, example: string): void {
  if (!isObject(question)) throw new TypeError(`A question needs an object after its key: ${example}`);
}

/** Makes the question that asks the user to fill in a form. */
export function formQuestion<S extends Schema>(question: FormQuestion<S>): Question<ElicitResult<Infer<S>>> {
  checkQuestion(question, 'ctx.ask("size", { message, schema })');
  const { message, schema, by } = question;
  // The first argument is taken for the message, and the second for the schema.
  if (schema === undefined || typeof message !== 'string')
    throw new TypeError(
      `A question that shows a form needs a key, and an object with "message" and "schema": ctx.ask("size", { message: "Which size?", schema }).${'~standard' in question ? ' This object is a schema itself.' : ''}`,
    );
  const compiled = compileSchema(schema, { io: 'input', requireObject: true });
  if (by !== undefined && by !== 'user') throw new TypeError('"by" of a question is "user", or left out.');
  const requestedSchema = formSchema(compiled.json);
  const meta = by && { _meta: { [ANSWERED_BY]: by } };
  return {
    request: { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema, ...meta } },
    read(response) {
      const action = actionOf(response);
      const isByModel = (response as JsonObject | undefined)?.['answeredBy'] === 'model';
      if (action === undefined || (isByModel && by === 'user')) return UNREADABLE;
      const marked = isByModel ? ({ answeredBy: 'model' } as const) : undefined;
      if (action !== 'accept') return { ok: true, value: { action, ...marked } };
      const checked = compiled.validate(
        withDefaults(requestedSchema, (response as JsonObject)['content'] ?? {}),
      );
      if (checked instanceof Promise)
        throw new TypeError(
          'The schema of a form must validate synchronously: remove its asynchronous checks',
        );
      return checked.ok
        ? { ok: true, value: { action, content: checked.value as Infer<S>, ...marked } }
        : UNREADABLE;
    },
  };
}

/** Makes the question that sends the user to a page. */
export function urlQuestion({ message, url }: UrlQuestion): Question<ElicitUrlResult> {
  if (webUrl(url) === undefined)
    throw new TypeError(
      `ctx.elicit: "url" must be an absolute address that begins with https: or http:, not ${quote(String(url), 100)}. Clients do not open other addresses, since such as javascript: or file: act on the user's computer.`,
    );
  return {
    request: { method: 'elicitation/create', params: { mode: 'url', message, url } },
    read(response) {
      const action = actionOf(response);
      return action === undefined ? UNREADABLE : { ok: true, value: { action } };
    },
  };
}

function actionOf(response: unknown): ElicitUrlResult['action'] | undefined {
  const action = isObject(response) ? response['action'] : undefined;
  return action === 'accept' || action === 'decline' || action === 'cancel' ? action : undefined;
}

/** A request to the client's model. */
export interface SampleOptions extends SamplingSettings {
  /** The conversation. A string is one message of the user. */
  readonly messages: string | readonly SamplingMessage[];
}

/** The answer of the client's model. */
export interface SampleResult extends SamplingMessage {
  /** The name of the model that answered. */
  readonly model: string;
  /** The reason why the model stopped, such as `endTurn`, `maxTokens` or `toolUse`. */
  readonly stopReason?: string;
  /** The text of the answer: all its text blocks together, empty if there is none. */
  readonly text: string;
}

/** Makes the question for the client's model. The answer is undefined if the user rejected the question. */
export function sampleQuestion(
  question: SampleOptions,
  deprecated: ReportDeprecated,
): Question<SampleResult | undefined> {
  checkQuestion(question, 'ctx.sample("title", { messages, maxTokens })');
  deprecated('ctx.sample');
  if ((question.includeContext ?? 'none') !== 'none') deprecated('includeContext');
  const { messages, ...options } = question;
  const conversation =
    typeof messages === 'string' ? [{ role: 'user', content: { type: 'text', text: messages } }] : messages;
  return {
    request: { method: 'sampling/createMessage', params: { messages: conversation, ...options } },
    read(response) {
      if (isRejectedSampling(response)) return { ok: true, value: undefined };
      if (!isObject(response) || typeof response['model'] !== 'string') return UNREADABLE;
      const { role, content } = response;
      if ((role !== 'assistant' && role !== 'user') || !isContent(content)) return UNREADABLE;
      return {
        ok: true,
        value: { ...(response as unknown as Omit<SampleResult, 'text'>), text: textOf(content) },
      };
    },
  };
}

function isContent(content: unknown): content is SamplingContent | readonly SamplingContent[] {
  const isBlock = (block: unknown): boolean => isObject(block) && typeof block['type'] === 'string';
  return Array.isArray(content) ? content.every(isBlock) : isBlock(content);
}

function textOf(content: SamplingContent | readonly SamplingContent[]): string {
  const blocks = Array.isArray(content)
    ? (content as readonly SamplingContent[])
    : [content as SamplingContent];
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** Makes the question for the folders that the client has open. */
export function rootsQuestion(deprecated: ReportDeprecated): Question<readonly Root[]> {
  deprecated('ctx.roots');
  return {
    request: { method: 'roots/list' },
    read(response) {
      const roots = isObject(response) ? response['roots'] : undefined;
      const isValid =
        Array.isArray(roots) && roots.every((root) => isObject(root) && typeof root['uri'] === 'string');
      return isValid ? { ok: true, value: roots as readonly Root[] } : UNREADABLE;
    },
  };
}

/** The capabilities that a client needs for a request. */
export function requiredCapabilities({ method, params = {} }: InputRequest): ClientCapabilities {
  switch (method) {
    case 'elicitation/create':
      return { elicitation: params['mode'] === 'url' ? { url: {} } : { form: {} } };
    case 'sampling/createMessage':
      return { sampling: params['tools'] === undefined ? {} : { tools: {} } };
    case 'roots/list':
      return { roots: {} };
    default:
      throw new TypeError(`A client cannot be asked "${String(method satisfies never)}"`);
  }
}

/** Throws if a client did not declare the required capabilities. An elicitation capability without a mode means forms. */
export function checkCapabilities(required: ClientCapabilities, declared: ClientCapabilities): void {
  const { elicitation, sampling, roots } = required;
  const isLacking =
    (elicitation?.form &&
      (!declared.elicitation || (declared.elicitation.url && !declared.elicitation.form))) ||
    (elicitation?.url && !declared.elicitation?.url) ||
    (sampling && (!declared.sampling || (sampling.tools && !declared.sampling.tools))) ||
    (roots && !declared.roots);
  if (isLacking) throw missingCapability(required);
}

/** The client's options that declare the capabilities. */
const handlerOptions: Readonly<Record<string, string>> = {
  elicitation: 'elicit',
  sampling: 'sample',
  roots: 'roots',
};

/** The error for a client that lacks capabilities, with the handlers that declare them. */
export function missingCapability(required: ClientCapabilities): McpError {
  const names = Object.entries(required).map(([name, parts]) =>
    [name, ...Object.keys(parts as object)].join('.'),
  );
  const options = Object.keys(required).map((name) => handlerOptions[name] ?? name);
  return new McpError(
    'missing_capability',
    `This call asks for something that the client did not declare: ${names.join(', ')}. ${HANDLER_ADVICE}${options.join(', ')} }).`,
    { data: { requiredCapabilities: required } },
  );
}

/** The reaction of a person who was asked to approve a call. */
export type ApprovalResult = ElicitResult<{ readonly approve?: unknown }>;

/** The key of the question for approval. No handler has a question with this key. */
export const APPROVAL = 'fullmcp/approval';

const approvalForm = {
  type: 'object',
  properties: { approve: { type: 'boolean', title: 'Approve' } },
  required: ['approve'],
} as const;

/** Asks for approval of a subject. An answer counts only for this question, asked about this subject. */
export function approvalQuestion(message: string, subject: string): Question<ApprovalResult> {
  return { ...formQuestion({ message, schema: approvalForm, by: 'user' }), subject };
}

const DIGEST_BYTES = 8;
/** A digest over a subject that a client may choose needs more. */
const SUBJECT_BYTES = 32;
const encoder = new TextEncoder();

/**
 * Digests everything that a client is shown: message, link, form and settings. An answer counts only for the question that was
 * shown. The run's secret id is part of the digest, so that nobody can prepare two questions with the same digest.
 */
export function questionDigest(
  run: string,
  request: InputRequest,
  { subject }: Pick<Question<unknown>, 'subject'> = {},
): string {
  const text = `${run} ${canonical(subject === undefined ? request : [request, subject])}`;
  return encodeBase64Url(
    sha256(encoder.encode(text)).subarray(0, subject === undefined ? DIGEST_BYTES : SUBJECT_BYTES),
  );
}
