import type { JsonObject } from '../../jsonrpc/message.js';
import { isObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import { decodeBase64 } from '../../protocol/encoding/base64.js';
import { printedValue } from '../../protocol/encoding/printed-value.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { type CallSource, McpError } from '../../protocol/errors.js';
import type { ContentBlock, ResourceContents } from '../../protocol/model/content.js';
import type { PromptMessage } from '../../protocol/model/model.js';
import { thrownIn } from '../../protocol/thrown-by-tool.js';
import type { CallResult, Completion, PromptResult, ReadResult } from '../model/client.js';

// Reads outcomes into the results that a program receives, and rejects malformed ones.

/** A result without its source, which is added last. */
type Unsourced<T> = Omit<T, 'source'>;

/** Gives a result its source. It is not enumerable, so that a result is printed, compared and copied without it. */
export function withSource<T extends object>(result: Unsourced<T>, source: CallSource): T {
  return Object.defineProperty(result, 'source', { value: source }) as T;
}

/** Returns the outcome if its type ends a call; throws otherwise. */
export function requireComplete(outcome: Outcome): Outcome {
  if (outcome.resultType === 'complete') return outcome;
  const type = shorten(outcome.resultType, 100);
  throw new McpError('bad_response', `The server sent a result of the unknown type "${type}"`);
}

/** The call of a tool. */
export interface ToolCall {
  readonly name: string | undefined;
  readonly id: number | undefined;
}

/** The result of a tool. Its source is a getter of the class: an object of its own would cost every call more. */
export class ToolCallResult implements CallResult {
  readonly #server: string;
  readonly #name: string | undefined;
  readonly #id: number | undefined;
  readonly #cause: unknown;
  readonly content: readonly ContentBlock[];
  readonly text: string;
  readonly data: unknown;
  readonly isError: boolean;
  readonly meta: JsonObject | undefined;
  readonly unwrap: () => unknown;

  constructor(outcome: JsonObject, { name, id }: ToolCall, server: string) {
    const { structuredContent } = outcome;
    this.#server = server;
    this.#name = name;
    this.#id = id;
    this.#cause = thrownIn(outcome);
    this.content = arrayOf<ContentBlock>(outcome, 'content', structuredContent !== undefined);
    this.text = textOf(this.content);
    this.data = structuredContent === undefined ? printedValue(outcome) : structuredContent;
    this.isError = outcome['isError'] === true;
    this.meta = metaOf(outcome);
    this.unwrap = () => this.#unwrap();
  }

  get source(): CallSource {
    return { server: this.#server, method: 'tools/call', name: this.#name, requestId: this.#id };
  }

  get cause(): unknown {
    return this.#cause;
  }

  #unwrap(): unknown {
    const { content, text, data, isError } = this;
    if (!isError) return data === undefined ? text : data;
    const { source } = this;
    const { name } = source;
    throw new McpError('tool_failed', text || `The tool "${name}" failed`, {
      data: { tool: name, content },
      cause: this.#cause,
      source,
    });
  }
}

export function toReadResult(outcome: Outcome): Unsourced<ReadResult> {
  const contents = arrayOf<ResourceContents>(outcome, 'contents');
  const result = {
    contents,
    text: contents.map((part) => ('text' in part ? part.text : '')).join(''),
    meta: metaOf(outcome),
  };
  return Object.defineProperty(result, 'bytes', { value: () => bytesOf(contents) }) as Unsourced<ReadResult>;
}

function bytesOf(contents: readonly ResourceContents[]): Uint8Array<ArrayBuffer> {
  const parts = contents.map(bytesOfPart);
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function bytesOfPart(part: Partial<Record<'uri' | 'text' | 'blob', unknown>>): Uint8Array<ArrayBuffer> {
  const { text, blob, uri } = part;
  if (typeof text === 'string') return new TextEncoder().encode(text);
  const bytes = typeof blob === 'string' ? decodeBase64(blob) : undefined;
  if (bytes !== undefined) return bytes;
  throw new McpError('bad_response', `The contents of ${shorten(uri, 256)} are neither text nor base64.`);
}

export function toPromptResult(outcome: Outcome): Unsourced<PromptResult> {
  const { description } = outcome;
  return {
    description: typeof description === 'string' ? description : undefined,
    messages: arrayOf<PromptMessage>(outcome, 'messages'),
    meta: metaOf(outcome),
  };
}

export function toCompletion({ completion }: Outcome): Unsourced<Completion> {
  const { values, total, hasMore } = isObject(completion) ? completion : {};
  if (!Array.isArray(values))
    throw new McpError('bad_response', 'The server\'s result needs "completion.values", an array');
  return { values, total: typeof total === 'number' ? total : undefined, hasMore: hasMore === true };
}

function textOf(content: readonly ContentBlock[]): string {
  const [first] = content;
  if (content.length === 1 && isText(first)) return first.text;
  return content.flatMap((block) => (isText(block) ? [block.text] : [])).join('\n');
}

/** A block may declare the type `text` and have no text. */
function isText(block: ContentBlock | undefined): block is Extract<ContentBlock, { type: 'text' }> {
  return block?.type === 'text' && typeof block.text === 'string';
}

function arrayOf<T>(outcome: JsonObject, field: string, isOptional = false): readonly T[] {
  const list = outcome[field];
  if (Array.isArray(list) && list.every(isObject)) return list as T[];
  if (isOptional && list === undefined) return [];
  throw new McpError('bad_response', `The server's result needs "${field}", an array of objects`);
}

function metaOf({ _meta }: JsonObject): JsonObject | undefined {
  return isObject(_meta) ? _meta : undefined;
}
