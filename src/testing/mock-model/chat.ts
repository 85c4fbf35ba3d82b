// OpenAI's Chat Completions API, which many other services have, too, as `mockModel` speaks it.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import {
  type ApiFailure,
  dataEvent,
  type MockedApi,
  nameProblem,
  objectsIn,
  pairProblem,
  textIn,
} from './api.js';
import { type PrintedAnswer, piecesOf } from './turn.js';

export const chatApi: MockedApi = {
  name: 'openai-chat',
  path: '/v1/chat/completions',
  problem({ messages, tools }) {
    const said = objectsIn(messages);
    if (said.length === 0) return "Missing required parameter: 'messages'.";
    const names = objectsIn(tools).map((tool) => isObject(tool['function']) && tool['function']['name']);
    return nameProblem(names) ?? resultsProblem(said);
  },
  asked({ messages, tools }) {
    const said = objectsIn(messages);
    const start = said.findLastIndex(({ role }) => role !== 'tool') + 1;
    const systems = said.filter(({ role }) => role === 'system' || role === 'developer');
    return {
      system: systems.map(({ content }) => textIn(content)).join('\n'),
      ask: textIn(said.findLast(({ role }) => role === 'user')?.['content']),
      results: said.slice(start).map(({ tool_call_id, content }) => ({
        id: String(tool_call_id),
        text: textIn(content),
        isError: textIn(content).startsWith('The tool failed:'),
      })),
      tools: objectsIn(tools).map(({ function: one }) => String(isObject(one) ? one['name'] : undefined)),
    };
  },
  whole(answer) {
    const { say, calls } = answer;
    const content = say === '' ? null : say;
    const message = { role: 'assistant', content, refusal: null };
    const tool_calls = calls.map(({ id, name, json }) => ({
      ...(id !== undefined && { id }),
      type: 'function',
      function: { name, arguments: json },
    }));
    return {
      ...frame(answer, 'chat.completion'),
      choices: [
        {
          index: 0,
          message: calls.length > 0 ? { ...message, tool_calls } : message,
          logprobs: null,
          finish_reason: stopOf(answer),
        },
      ],
      ...usageOf(answer),
    };
  },
  events(answer, { stream_options }) {
    const chunk = frame(answer, 'chat.completion.chunk');
    const choice = (delta: JsonObject, finish_reason: string | null = null): string =>
      dataEvent({ ...chunk, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
    const wantsUsage = isObject(stream_options) && stream_options['include_usage'] === true;
    return [
      choice({ role: 'assistant', content: '' }),
      ...piecesOf(answer.say).map((content) => choice({ content })),
      ...answer.calls.flatMap((call, index) => [
        choice({ tool_calls: [started(call, index)] }),
        ...piecesOf(call.json).map((piece) =>
          choice({ tool_calls: [{ index, function: { arguments: piece } }] }),
        ),
      ]),
      choice({}, stopOf(answer)),
      ...(wantsUsage && answer.usage ? [dataEvent({ ...chunk, choices: [], ...usageOf(answer) })] : []),
      dataEvent('[DONE]'),
    ];
  },
  failure: openAIFailure,
  failureEvent: () =>
    dataEvent(openAIFailure({ status: 500, kind: undefined, message: 'Failed in the stream' })),
};

/** An error of OpenAI's APIs. */
export function openAIFailure({ status, kind, message }: ApiFailure): JsonObject {
  const code = kind ?? CODES[status] ?? null;
  const type = status >= 500 ? 'server_error' : 'invalid_request_error';
  return { error: { message, type, param: null, code } };
}

const CODES: Readonly<Record<number, string>> = { 401: 'invalid_api_key', 429: 'rate_limit_exceeded' };

/** Every call is answered by the messages right after it. */
function resultsProblem(said: readonly JsonObject[]): string | undefined {
  let open: readonly unknown[] = [];
  let told: unknown[] = [];
  for (const { role, tool_calls, tool_call_id } of [...said, {} as JsonObject]) {
    if (role === 'tool') told.push(tool_call_id);
    else {
      const wrong = pairProblem(open, told);
      if (wrong !== undefined) return wrong;
      open = objectsIn(tool_calls).map(({ id }) => id);
      told = [];
    }
  }
  return undefined;
}

function frame({ number, model }: PrintedAnswer, object: string): JsonObject {
  return { id: `chatcmpl-${number}`, object, created: 0, model };
}

function stopOf({ stop, calls }: PrintedAnswer): string {
  return stop ?? (calls.length > 0 ? 'tool_calls' : 'stop');
}

function started({ id, name }: PrintedAnswer['calls'][number], index: number): JsonObject {
  const begun = { type: 'function', function: { name, arguments: '' } };
  return { index, ...(id !== undefined && { id }), ...begun };
}

function usageOf({ usage }: PrintedAnswer): JsonObject {
  if (usage === undefined) return {};
  return {
    usage: {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      prompt_tokens_details: { cached_tokens: usage.cached },
    },
  };
}
