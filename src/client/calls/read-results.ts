import type { JsonObject } from '../../jsonrpc/message.js';
import { isObject } from '../../jsonrpc/message.js';
import type { Outcome } from '../../protocol/call.js';
import { printedValue } from '../../protocol/encoding/printed-value.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import type { ContentBlock, ResourceContents } from '../../protocol/model/content.js';
import type { PromptMessage } from '../../protocol/model/model.js';
import type { CallResult, Completion, PromptResult, ReadResult } from '../model/client.js';

// Reads outcomes into the results that a program receives, and rejects malformed ones.

/** Returns the outcome if its type ends a call; throws otherwise. */
export function requireComplete(outcome: Outcome): Outcome {
  if (outcome.resultType === 'complete') return outcome;
  const type = shorten(outcome.resultType, 100);
  throw new McpError('bad_response', `The server sent a result of the unknown type "${type}"`);
}

export function toCallResult(name: string, outcome: JsonObject): CallResult {
  const content = arrayOf<ContentBlock>(outcome, 'content', outcome['structuredContent'] !== undefined);
  const isError = outcome['isError'] === true;
  const { structuredContent } = outcome;
  const data = structuredContent === undefined ? printedValue(outcome) : structuredContent;
  const text = textOf(content);
  return {
    content,
    text,
    data,
    isError,
    meta: metaOf(outcome),
    unwrap() {
      if (isError)
        throw new McpError('tool_failed', text || `The tool "${name}" failed`, {
          data: { tool: name, content },
        });
      return data === undefined ? text : data;
    },
  };
}

export function toReadResult(outcome: Outcome): ReadResult {
  const contents = arrayOf<ResourceContents>(outcome, 'contents');
  return {
    contents,
    text: contents.map((part) => ('text' in part ? part.text : '')).join(''),
    meta: metaOf(outcome),
  };
}

export function toPromptResult(outcome: Outcome): PromptResult {
  const { description } = outcome;
  return {
    description: typeof description === 'string' ? description : undefined,
    messages: arrayOf<PromptMessage>(outcome, 'messages'),
    meta: metaOf(outcome),
  };
}

export function toCompletion({ completion }: Outcome): Completion {
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
