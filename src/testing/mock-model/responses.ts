// OpenAI's Responses API, as `mockModel` speaks it.

import type { JsonObject } from '../../jsonrpc/message.js';
import { dataEvent, type MockedApi, nameProblem, objectsIn, pairProblem, textIn } from './api.js';
import { openAIFailure } from './chat.js';
import { type PrintedAnswer, type PrintedCall, piecesOf } from './turn.js';

export const responsesApi: MockedApi = {
  name: 'openai',
  path: '/v1/responses',
  problem({ input, tools }) {
    const items = objectsIn(input);
    const groups = groupsOf(tools);
    if (typeof input !== 'string' && items.length === 0) return "Missing required parameter: 'input'.";
    const ids = (type: string): unknown[] =>
      items.filter((item) => item['type'] === type).map(({ call_id }) => call_id);
    return (
      groups.map((group) => nameProblem(group.map(({ name }) => name))).find((one) => one !== undefined) ??
      pairProblem(ids('function_call'), ids('function_call_output'))
    );
  },
  asked({ instructions, input, tools }) {
    const items = typeof input === 'string' ? [{ role: 'user', content: input }] : objectsIn(input);
    const start = items.findLastIndex((item) => item['type'] !== 'function_call_output') + 1;
    return {
      system: textIn(instructions),
      ask: textIn(items.findLast(({ role }) => role === 'user')?.['content']),
      results: items.slice(start).map(({ call_id, output }) => ({
        id: String(call_id),
        text: textIn(output),
        isError: textIn(output).startsWith('The tool failed:'),
      })),
      tools: groupsOf(tools)
        .flat()
        .filter(({ type }) => type !== 'namespace')
        .map(({ name }) => String(name)),
    };
  },
  whole: (answer) => ({ ...frame(answer), ...ended(answer), output: itemsOf(answer) }),
  events(answer) {
    const output = itemsOf(answer);
    const started = { ...frame(answer), status: 'in_progress', output: [] };
    const { status, ...end } = ended(answer);
    const all = [
      { type: 'response.created', response: started },
      { type: 'response.in_progress', response: started },
      ...output.flatMap((item, at) => itemEvents(item, at)),
      { type: `response.${String(status)}`, response: { ...frame(answer), status, ...end, output } },
    ];
    return all.map((event, sequence_number) =>
      dataEvent({ ...event, sequence_number }, String(event['type'])),
    );
  },
  failure: openAIFailure,
  failureEvent: () =>
    dataEvent(
      {
        type: 'error',
        code: 'server_error',
        message: 'Failed in the middle of the stream',
        param: null,
        sequence_number: 9,
      },
      'error',
    ),
};

const OWN_TYPES: ReadonlySet<unknown> = new Set([undefined, 'function', 'custom', 'namespace']);

/**
 * The tools of the program that asks, and those in each of its namespaces, such as Codex makes of a server. The tools of the vendor, such as
 * `web_search`, have a type in place of a name, and are left out.
 */
function groupsOf(tools: unknown): readonly (readonly JsonObject[])[] {
  const own = objectsIn(tools).filter(({ type }) => OWN_TYPES.has(type));
  const spaces = own.filter(({ type }) => type === 'namespace');
  return [own, ...spaces.map((space) => objectsIn(space['tools']))];
}

function frame({ number, model }: PrintedAnswer): JsonObject {
  return {
    id: `resp_${number}`,
    object: 'response',
    created_at: 0,
    model,
    parallel_tool_calls: true,
    tools: [],
    error: null,
    incomplete_details: null,
  };
}

/** The end of a response. The API has no reason for a good end: any other word makes it incomplete. */
function ended({ stop, usage }: PrintedAnswer): JsonObject {
  return {
    status: stop === undefined ? 'completed' : stop === 'failed' ? 'failed' : 'incomplete',
    ...(stop === 'failed' && { error: { code: 'server_error', message: 'The model failed.' } }),
    ...(stop !== undefined && stop !== 'failed' && { incomplete_details: { reason: stop } }),
    ...(usage && {
      usage: {
        input_tokens: usage.input,
        input_tokens_details: { cached_tokens: usage.cached },
        output_tokens: usage.output,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: usage.input + usage.output,
      },
    }),
  };
}

function itemsOf({ say, calls, number }: PrintedAnswer): readonly JsonObject[] {
  return [...(say === '' ? [] : [message(say, number)]), ...calls.map((call, at) => item(call, at, number))];
}

function message(text: string, number: number): JsonObject {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { type: 'message', id: `msg_${number}`, role: 'assistant', status: 'completed', content };
}

function item({ id, name, json }: PrintedCall, at: number, number: number): JsonObject {
  const ids = { id: `fc_${number}_${at + 1}`, ...(id !== undefined && { call_id: id }) };
  return { type: 'function_call', ...ids, name, arguments: json, status: 'completed' };
}

function itemEvents(item: JsonObject, output_index: number): readonly JsonObject[] {
  const isCall = item['type'] === 'function_call';
  const empty = isCall ? { arguments: '' } : { content: [] };
  const added = { ...item, ...empty, status: 'in_progress' };
  const at = { item_id: item['id'], output_index };
  return [
    { type: 'response.output_item.added', output_index, item: added },
    ...(isCall ? argumentEvents(item, at) : textEvents(item, at)),
    { type: 'response.output_item.done', output_index, item },
  ];
}

function argumentEvents(item: JsonObject, at: JsonObject): readonly JsonObject[] {
  const json = String(item['arguments']);
  return [
    ...piecesOf(json).map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
    { type: 'response.function_call_arguments.done', ...at, name: item['name'], arguments: json },
  ];
}

function textEvents(item: JsonObject, place: JsonObject): readonly JsonObject[] {
  const [part = {}] = objectsIn(item['content']);
  const text = textIn(item['content']);
  const at = { ...place, content_index: 0 };
  return [
    { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
    ...piecesOf(text).map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...at, text, logprobs: [] },
    { type: 'response.content_part.done', ...at, part },
  ];
}
