import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import {
  type InputRequest,
  type Root,
  type SamplingContent,
  type SamplingMessage,
  type SamplingSettings,
  withDefaults,
} from '../../protocol/input.js';
import type { ClientCapabilities } from '../../protocol/model.js';
import { compileSchema } from '../../schema/compile.js';
import type { Infer, Schema } from '../../schema/schema.js';
import { formSchema } from './form-schema.js';

/** A question: what to send, what the client must be able to do, and how to read its answer. */
export interface Question<T> {
  readonly request: InputRequest;
  readonly requires: ClientCapabilities;
  /** An answer that cannot be read counts as none: the client is asked again. */
  readonly read: (response: unknown) => { readonly ok: true; readonly value: T } | { readonly ok: false };
}

/** What the user did with a form. */
export type Elicited<T> =
  | { readonly action: 'accept'; readonly content: T }
  | { readonly action: 'decline' | 'cancel' };

/** What the user did with a link. */
export interface Visited {
  readonly action: 'accept' | 'decline' | 'cancel';
}

export interface FormQuestion<S extends Schema> {
  readonly message: string;
  readonly schema: S;
  readonly url?: never;
}

export interface UrlQuestion {
  readonly message: string;
  /** Where the user does what must not pass through the client: credentials, payments. */
  readonly url: string;
  readonly schema?: never;
}

const no = { ok: false } as const;

/** Asks the user to fill in a form. */
export function formOf<S extends Schema>({ message, schema }: FormQuestion<S>): Question<Elicited<Infer<S>>> {
  const compiled = compileSchema(schema, { io: 'input', requireObject: true });
  const requestedSchema = formSchema(compiled.json);
  return {
    request: { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } },
    requires: { elicitation: { form: {} } },
    read(response) {
      const action = actionOf(response);
      if (action === undefined) return no;
      if (action !== 'accept') return { ok: true, value: { action } };
      const checked = compiled.validate(
        withDefaults(requestedSchema, (response as JsonObject)['content'] ?? {}),
      );
      if (checked instanceof Promise)
        throw new TypeError('A form needs a schema that checks without waiting');
      return checked.ok ? { ok: true, value: { action, content: checked.value as Infer<S> } } : no;
    },
  };
}

/** Sends the user to a page. */
export function visitOf({ message, url }: UrlQuestion): Question<Visited> {
  if (!URL.canParse(url)) throw new TypeError(`elicit: "${url}" is not a URL`);
  return {
    request: { method: 'elicitation/create', params: { mode: 'url', message, url } },
    requires: { elicitation: { url: {} } },
    read(response) {
      const action = actionOf(response);
      return action === undefined ? no : { ok: true, value: { action } };
    },
  };
}

function actionOf(response: unknown): Visited['action'] | undefined {
  const action = isObject(response) ? response['action'] : undefined;
  return action === 'accept' || action === 'decline' || action === 'cancel' ? action : undefined;
}

export interface SampleOptions extends SamplingSettings {
  /** The conversation, or one text of the user's. */
  readonly messages: string | readonly SamplingMessage[];
}

export interface Sampled extends SamplingMessage {
  readonly model: string;
  readonly stopReason?: string;
  /** The text of the answer, all its text blocks together. */
  readonly text: string;
}

/** Asks the client's model. */
export function sampleOf({ messages, ...options }: SampleOptions): Question<Sampled> {
  const conversation =
    typeof messages === 'string' ? [{ role: 'user', content: { type: 'text', text: messages } }] : messages;
  return {
    request: { method: 'sampling/createMessage', params: { messages: conversation, ...options } },
    requires: { sampling: options.tools === undefined ? {} : { tools: {} } },
    read(response) {
      if (!isObject(response) || typeof response['model'] !== 'string') return no;
      const { role, content } = response;
      if ((role !== 'assistant' && role !== 'user') || !isContent(content)) return no;
      return {
        ok: true,
        value: { ...(response as unknown as Omit<Sampled, 'text'>), text: textOf(content) },
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

/** Asks which folders the client has open. */
export function rootsQuestion(): Question<readonly Root[]> {
  return {
    request: { method: 'roots/list' },
    requires: { roots: {} },
    read(response) {
      const roots = isObject(response) ? response['roots'] : undefined;
      const valid =
        Array.isArray(roots) && roots.every((root) => isObject(root) && typeof root['uri'] === 'string');
      return valid ? { ok: true, value: roots as readonly Root[] } : no;
    },
  };
}

/** What a client lacks for a question. An elicitation capability without a mode means forms. */
export function lacking(
  requires: ClientCapabilities,
  has: ClientCapabilities,
): ClientCapabilities | undefined {
  const { elicitation, sampling, roots } = requires;
  if (elicitation?.form && (!has.elicitation || (has.elicitation.url && !has.elicitation.form)))
    return requires;
  if (elicitation?.url && !has.elicitation?.url) return requires;
  if (sampling && (!has.sampling || (sampling.tools && !has.sampling.tools))) return requires;
  if (roots && !has.roots) return requires;
  return undefined;
}
