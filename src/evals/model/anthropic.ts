// Anthropic's Messages API.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { tryParse } from '../../jsonrpc/try-parse.js';
import type { ModelDialect, ReplyAssembler } from './dialect.js';
import type { ModelMessage, ModelStop, ModelTokens } from './model.js';
import {
  failedStream,
  IndexedItems,
  notAReply,
  objectsOf,
  requestedCall,
  stringOf,
  tokenCount,
} from './reply-parts.js';

/** The version of the API that these shapes are of. */
const VERSION = '2026-10-21';

export const anthropicDialect: ModelDialect = {
  url: 'https://api.anthropic.com',
  path: '/messages',
  keyName: 'ANTHROPIC_API_KEY',
  headers: (key) => ({ 'anthropic-version': VERSION, ...(key !== '' && { 'x-api-key': key }) }),
  body: ({ system, tools, messages }, { model, maxTokens, fields }) => ({
    ...fields,
    model,
    max_tokens: maxTokens,
    ...(system !== '' && { system }),
    ...(tools.length > 0 && { tools }),
    messages: messages.map(toMessage),
  }),
  assemble: assembleMessage,
  words: ({ delta }) => (isObject(delta) && delta['type'] === 'text_delta' ? stringOf(delta['text']) : ''),
  read(reply) {
    if (!Array.isArray(reply['content'])) throw notAReply('content');
    const items = objectsOf(reply['content']);
    const uses = items.filter(({ type }) => type === 'tool_use');
    return {
      text: items.map(({ type, text }) => (type === 'text' ? stringOf(text) : '')).join(''),
      calls: uses.map(({ id, name, input }, at) => requestedCall({ id, name }, input, at)),
      items: toSendBack(items),
      stop: STOPS[stringOf(reply['stop_reason'])] ?? 'other',
      tokens: tokensOf(reply['usage']),
    };
  },
};

const STOPS: Readonly<Record<string, ModelStop>> = {
  end_turn: 'end',
  stop_sequence: 'end',
  tool_use: 'calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'refused',
  pause_turn: 'paused',
};

function toMessage(message: ModelMessage): JsonObject {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.text };
    case 'model':
      return { role: 'assistant', content: message.items };
    case 'tools':
      return { role: 'user', content: message.results };
  }
}

/** The content as the API takes it back: unchanged, but a call needs an id, and arguments that are an object; empty words are refused. */
function toSendBack(items: readonly JsonObject[]): readonly JsonObject[] {
  let calls = 0;
  return items
    .filter(({ type, text }) => type !== 'text' || text !== '')
    .map((item) => {
      if (item['type'] !== 'tool_use') return item;
      const { id, args } = requestedCall({ id: item['id'], name: item['name'] }, item['input'], calls++);
      return { ...item, id, input: args ?? {} };
    });
}

function tokensOf(usage: unknown): ModelTokens | undefined {
  if (!isObject(usage)) return undefined;
  const cached = tokenCount(usage['cache_read_input_tokens']);
  const written = tokenCount(usage['cache_creation_input_tokens']);
  return {
    input: tokenCount(usage['input_tokens']) + cached + written,
    cached,
    output: tokenCount(usage['output_tokens']),
  };
}

interface Block {
  readonly fields: JsonObject;
  /** The arguments of a call so far; undefined for other blocks. */
  json: string | undefined;
}

function assembleMessage(): ReplyAssembler {
  const blocks = new IndexedItems<Block>();
  let message: JsonObject = {};
  let isWhole = false;

  function add(data: JsonObject): void {
    const { type, index } = data;
    if (type === 'error') throw failedStream(data['error']);
    if (type === 'message_start' && isObject(data['message'])) message = { ...data['message'] };
    if (type === 'message_delta') addEnd(data);
    if (type === 'message_stop') isWhole = true;
    const block = data['content_block'];
    if (type === 'content_block_start' && isObject(block))
      blocks.at(index, () => ({ fields: { ...block }, json: block['type'] === 'tool_use' ? '' : undefined }));
    if (type === 'content_block_delta' && isObject(data['delta']))
      addDelta(
        blocks.at(index, () => ({ fields: {}, json: undefined })),
        data['delta'],
      );
  }

  function addEnd({ delta, usage }: JsonObject): void {
    const known = isObject(message['usage']) ? message['usage'] : {};
    message = {
      ...message,
      ...(isObject(delta) && delta),
      ...(isObject(usage) && { usage: { ...known, ...usage } }),
    };
  }

  return {
    add,
    whole: () => (isWhole ? { ...message, content: blocks.inOrder().map(wholeBlock) } : undefined),
  };
}

function addDelta(block: Block, delta: JsonObject): void {
  const { fields } = block;
  for (const name of ['text', 'thinking', 'signature'])
    if (typeof delta[name] === 'string') fields[name] = stringOf(fields[name]) + delta[name];
  if (delta['type'] === 'input_json_delta') block.json = (block.json ?? '') + stringOf(delta['partial_json']);
}

/** A block with its arguments; those that are not JSON stay a string, so that nobody takes them for empty ones. */
function wholeBlock({ fields, json }: Block): JsonObject {
  return json === undefined || json === '' ? fields : { ...fields, input: tryParse(json) ?? json };
}
