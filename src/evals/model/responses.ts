// OpenAI's Responses API.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { bearer } from './chat.js';
import type { ModelDialect, ReplyAssembler } from './dialect.js';
import type { ModelMessage, ModelStop, ModelTokens } from './model.js';
import { failedStream, notAReply, objectsOf, requestedCall, stringOf, tokenCount } from './reply-parts.js';

export const responsesDialect: ModelDialect = {
  url: 'https://api.openai.com',
  path: '/responses',
  keyName: 'OPENAI_API_KEY',
  headers: bearer,
  body: ({ system, tools, messages }, { model, maxTokens, fields }) => ({
    ...fields,
    model,
    max_output_tokens: maxTokens,
    // The conversations of evals do not stay with the vendor.
    store: false,
    ...(system !== '' && { instructions: system }),
    input: messages.flatMap(toItems),
    ...(tools.length > 0 && { tools }),
  }),
  assemble: assembleResponse,
  words: ({ type, delta }) => (type === 'response.output_text.delta' ? stringOf(delta) : ''),
  read(reply) {
    if (!Array.isArray(reply['output'])) throw notAReply('output');
    if (reply['status'] === 'failed') throw failedStream(reply['error']);
    const items = objectsOf(reply['output']);
    const parts = items.filter(({ type }) => type === 'message').flatMap(({ content }) => objectsOf(content));
    const made = items.filter(({ type }) => type === 'function_call');
    const calls = made.map(({ call_id, name, arguments: args }, at) =>
      requestedCall({ id: call_id, name }, args, at),
    );
    return {
      text: parts.map(({ text, refusal }) => stringOf(text) || stringOf(refusal)).join(''),
      calls,
      items: toSendBack(items),
      stop: parts.some(({ type }) => type === 'refusal') ? 'refused' : stopOf(reply, calls.length),
      tokens: tokensOf(reply['usage']),
    };
  },
};

function stopOf({ status, incomplete_details }: JsonObject, calls: number): ModelStop {
  if (status === 'completed') return calls > 0 ? 'calls' : 'end';
  const reason = isObject(incomplete_details) ? incomplete_details['reason'] : undefined;
  if (reason === 'max_output_tokens') return 'length';
  return reason === 'content_filter' ? 'refused' : 'other';
}

function toItems(message: ModelMessage): readonly object[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: message.text }];
    case 'model':
      return message.items;
    case 'tools':
      return message.results;
  }
}

/** The items as the API takes them back. Thoughts that are kept at the vendor alone cannot be referred to, since nothing is stored. */
function toSendBack(items: readonly JsonObject[]): readonly JsonObject[] {
  let calls = 0;
  return items
    .filter(({ type, encrypted_content }) => type !== 'reasoning' || typeof encrypted_content === 'string')
    .map((item) => {
      if (item['type'] !== 'function_call') return item;
      const given = { id: item['call_id'], name: item['name'] };
      const { id, args, written } = requestedCall(given, item['arguments'], calls++);
      return { ...item, call_id: id, arguments: args === undefined ? '{}' : written || '{}' };
    });
}

function tokensOf(usage: unknown): ModelTokens | undefined {
  if (!isObject(usage)) return undefined;
  const details = usage['input_tokens_details'];
  return {
    input: tokenCount(usage['input_tokens']),
    cached: isObject(details) ? tokenCount(details['cached_tokens']) : 0,
    output: tokenCount(usage['output_tokens']),
  };
}

const MAX_ITEMS = 1000;
const ENDS = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** The last event has the whole reply. Servers that leave its items out have sent them before. */
function assembleResponse(): ReplyAssembler {
  const done: JsonObject[] = [];
  let reply: JsonObject | undefined;
  return {
    add(data) {
      const { type, item, response } = data;
      if (type === 'error') throw failedStream(data['error'] ?? data);
      if (type === 'response.output_item.done' && isObject(item) && done.length < MAX_ITEMS) done.push(item);
      if (ENDS.has(stringOf(type)) && isObject(response)) reply = response;
    },
    whole() {
      if (reply === undefined) return undefined;
      return objectsOf(reply['output']).length > 0 ? reply : { ...reply, output: done };
    },
  };
}
