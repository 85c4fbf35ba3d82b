// OpenAI's Chat Completions API, which many other services and programs have, too. They differ in small things: all of these are read.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
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

export const chatDialect: ModelDialect = {
  url: 'https://api.openai.com',
  path: '/chat/completions',
  keyName: 'OPENAI_API_KEY',
  headers: bearer,
  body: ({ system, tools, messages }, { model, maxTokens, fields, isVendor }) => ({
    ...fields,
    model,
    [isVendor ? 'max_completion_tokens' : 'max_tokens']: maxTokens,
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...messages.flatMap(toMessages),
    ],
    ...(tools.length > 0 && { tools }),
  }),
  assemble: assembleChat,
  words({ choices }) {
    const [choice] = objectsOf(choices);
    const delta = choice?.['delta'];
    return isObject(delta) ? stringOf(delta['content']) : '';
  },
  read(reply) {
    const [choice] = objectsOf(reply['choices']);
    const message = choice?.['message'];
    if (choice === undefined || !isObject(message)) throw notAReply('a message');
    const made = objectsOf(message['tool_calls']);
    const calls = made.map(({ id, function: one }, at) => {
      const { name, arguments: args } = isObject(one) ? one : {};
      return requestedCall({ id, name }, args, at);
    });
    return {
      text: stringOf(message['content']) || stringOf(message['refusal']),
      calls,
      items: [
        {
          role: 'assistant',
          content: stringOf(message['content']) || (calls.length > 0 ? null : ''),
          ...(calls.length > 0 && {
            tool_calls: calls.map(({ id, name, args, written }) => ({
              id,
              type: 'function',
              function: { name, arguments: args === undefined ? '{}' : written || '{}' },
            })),
          }),
        },
      ],
      stop: stopOf(choice, message, calls.length),
      tokens: tokensOf(reply['usage']),
    };
  },
};

/** The header of a key that is a bearer token. */
export function bearer(key: string): Readonly<Record<string, string>> {
  return key === '' ? {} : { authorization: `Bearer ${key}` };
}

const STOPS: Readonly<Record<string, ModelStop>> = {
  stop: 'end',
  tool_calls: 'calls',
  function_call: 'calls',
  length: 'length',
  content_filter: 'refused',
};

/** Some servers say `stop` although there are calls. */
function stopOf({ finish_reason }: JsonObject, { refusal }: JsonObject, calls: number): ModelStop {
  const stop = STOPS[stringOf(finish_reason)] ?? 'other';
  if (stringOf(refusal) !== '') return 'refused';
  return stop === 'end' && calls > 0 ? 'calls' : stop;
}

function toMessages(message: ModelMessage): readonly object[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: message.text }];
    case 'model':
      return message.items;
    case 'tools':
      return message.results;
  }
}

function tokensOf(usage: unknown): ModelTokens | undefined {
  if (!isObject(usage)) return undefined;
  const details = usage['prompt_tokens_details'];
  return {
    input: tokenCount(usage['prompt_tokens']),
    cached: isObject(details) ? tokenCount(details['cached_tokens']) : 0,
    output: tokenCount(usage['completion_tokens']),
  };
}

interface ChatCallSoFar {
  id: unknown;
  name: string;
  json: string;
}

function assembleChat(): ReplyAssembler {
  const calls = new IndexedItems<ChatCallSoFar>();
  const said = { content: '', refusal: '' };
  let finish: unknown;
  let usage: unknown;

  function add(data: JsonObject): void {
    if (data['error'] !== undefined && data['error'] !== null) throw failedStream(data['error']);
    if (isObject(data['usage'])) usage = data['usage'];
    const [choice] = objectsOf(data['choices']);
    if (choice === undefined) return;
    finish = choice['finish_reason'] ?? finish;
    // Some servers send the whole message in a single event.
    const delta = choice['delta'] ?? choice['message'];
    if (!isObject(delta)) return;
    said.content += stringOf(delta['content']);
    said.refusal += stringOf(delta['refusal']);
    for (const part of objectsOf(delta['tool_calls'])) addCall(part);
  }

  function addCall({ index, id, function: one }: JsonObject): void {
    const { name, arguments: args } = isObject(one) ? one : {};
    const start = (): ChatCallSoFar => ({ id, name: '', json: '' });
    // Without an index, a new id or a new name begins a new call.
    const continues = index === undefined && calls.last && !isNewCall(calls.last, id, name);
    const call = continues && calls.last ? calls.last : calls.at(index ?? calls.size, start);
    call.id ??= id;
    // Some servers repeat the name in each part.
    if (call.name === '') call.name = stringOf(name);
    call.json +=
      typeof args === 'string' ? args : args === undefined || args === null ? '' : JSON.stringify(args);
  }

  return {
    add,
    whole: () =>
      finish === undefined || finish === null
        ? undefined
        : {
            choices: [
              {
                message: {
                  ...said,
                  tool_calls: calls
                    .inOrder()
                    .map(({ id, name, json }) => ({ id, function: { name, arguments: json } })),
                },
                finish_reason: finish,
              },
            ],
            usage,
          },
  };
}

function isNewCall(last: ChatCallSoFar, id: unknown, name: unknown): boolean {
  if (typeof id === 'string' && id !== '') return id !== last.id;
  return typeof name === 'string' && name !== '' && name !== last.name;
}
