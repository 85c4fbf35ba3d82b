// Anthropic's Messages API, as `mockModel` speaks it.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { tryParse } from '../../jsonrpc/try-parse.js';
import { dataEvent, type MockedApi, nameProblem, objectsIn, pairProblem, textIn } from './api.js';
import { type PrintedAnswer, type PrintedCall, piecesOf } from './turn.js';

/** The versions that refuse parameters of sampling. */
const WITHOUT_SAMPLING: ReadonlySet<unknown> = new Set(['2026-10-21']);

export const anthropicApi: MockedApi = {
  name: 'anthropic',
  path: '/v1/messages',
  problem(body, headers) {
    const version = headers['anthropic-version'];
    if (version === undefined) return 'anthropic-version: header is required';
    const { max_tokens, messages, tools } = body;
    if (typeof max_tokens !== 'number') return 'max_tokens: Field required';
    const sampling = ['temperature', 'top_p', 'top_k'].find((name) => body[name] !== undefined);
    if (sampling !== undefined && WITHOUT_SAMPLING.has(version))
      return `${sampling}: Extra inputs are not permitted`;
    const offered = objectsIn(tools);
    const rootless = offered.findIndex(
      ({ type = 'custom', input_schema }) =>
        // A tool of the vendor has a type of its own, and no schema.
        type === 'custom' && (!isObject(input_schema) || input_schema['type'] !== 'object'),
    );
    if (rootless >= 0) return `tools.${rootless}.input_schema.type: Input should be 'object'`;
    return nameProblem(offered.map(({ name }) => name)) ?? messagesProblem(objectsIn(messages));
  },
  asked({ system, messages, tools }) {
    const said = objectsIn(messages);
    const texts = said
      .filter(({ role }) => role === 'user')
      .map(({ content }) => textIn(content))
      .filter((text) => text !== '');
    const results = objectsIn(said.at(-1)?.['content']).filter(({ type }) => type === 'tool_result');
    return {
      system: textIn(system),
      ask: texts.at(-1) ?? '',
      results: results.map(({ tool_use_id, content, is_error }) => ({
        id: String(tool_use_id),
        text: textIn(content),
        isError: is_error === true,
      })),
      tools: objectsIn(tools).map(({ name }) => String(name)),
    };
  },
  whole: (answer) => ({
    ...frame(answer),
    content: [
      ...(answer.thinking === '' ? [] : [thought(answer.thinking)]),
      ...(answer.say === '' ? [] : [{ type: 'text', text: answer.say }]),
      // Broken JSON has no place in a reply that is not streamed.
      ...answer.calls.map((call) => ({ ...toolUse(call), input: tryParse(call.json) ?? call.json })),
    ],
    stop_reason: stopOf(answer),
    usage: usageOf(answer),
  }),
  events: (answer) => {
    const start = { ...frame(answer), content: [], stop_reason: null, usage: usageOf(answer, 1) };
    return [
      event('message_start', { message: start }),
      event('ping', {}),
      ...blockEvents(answer),
      event('message_delta', {
        delta: { stop_reason: stopOf(answer), stop_sequence: null },
        usage: { output_tokens: answer.usage?.output ?? 0 },
      }),
      event('message_stop', {}),
    ];
  },
  failure: ({ status, kind, message }) => ({
    type: 'error',
    error: {
      type: kind ?? KINDS[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error'),
      message,
    },
    request_id: 'req_mock',
  }),
  failureEvent: () =>
    event('error', {
      error: { type: 'overloaded_error', message: 'Overloaded in the middle of the stream' },
    }),
};

const KINDS: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function messagesProblem(messages: readonly JsonObject[]): string | undefined {
  if (messages[0]?.['role'] !== 'user') return 'messages: first message must use the "user" role';
  for (const [at, { content, role }] of messages.entries()) {
    const blocks = objectsIn(content);
    if (content === '' || (Array.isArray(content) && blocks.length === 0))
      return `messages.${at}: all messages must have non-empty content`;
    if (blocks.some(({ type, text }) => type === 'text' && text === ''))
      return `messages.${at}: text content blocks must be non-empty`;
    const changed = blocks.find(
      ({ type, thinking, signature }) => type === 'thinking' && signature !== signatureOf(String(thinking)),
    );
    if (changed !== undefined) return `messages.${at}: Invalid signature in thinking block`;
    if (role !== 'user') continue;
    const wrong = pairProblem(idsOf(messages[at - 1], 'tool_use', 'id'), resultsFirst(blocks));
    if (wrong !== undefined) return `messages.${at}: ${wrong}`;
  }
  const open = idsOf(messages.at(-1), 'tool_use', 'id');
  return open.length > 0 ? `messages: ${pairProblem(open, [])}` : undefined;
}

function idsOf(message: JsonObject | undefined, type: string, id: string): readonly unknown[] {
  return objectsIn(message?.['content'])
    .filter((block) => block['type'] === type)
    .map((block) => block[id]);
}

/** The results at the beginning of a message: those behind other blocks do not count. */
function resultsFirst(blocks: readonly JsonObject[]): readonly unknown[] {
  const end = blocks.findIndex(({ type }) => type !== 'tool_result');
  return blocks.slice(0, end === -1 ? blocks.length : end).map(({ tool_use_id }) => tool_use_id);
}

function frame({ number, model }: PrintedAnswer): JsonObject {
  return { id: `msg_${number}`, type: 'message', role: 'assistant', model, stop_sequence: null };
}

function stopOf({ stop, calls }: PrintedAnswer): string {
  return stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn');
}

function usageOf({ usage }: PrintedAnswer, output = usage?.output): JsonObject {
  if (usage === undefined) return {};
  return {
    input_tokens: usage.input - usage.cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cached,
    output_tokens: output,
  };
}

function toolUse({ id, name }: PrintedCall): JsonObject {
  return { type: 'tool_use', ...(id !== undefined && { id }), name, input: {} };
}

function thought(thinking: string): JsonObject {
  return { type: 'thinking', thinking, signature: signatureOf(thinking) };
}

/** A signature that a changed thought does not have. */
function signatureOf(thinking: string): string {
  return Buffer.from(`signed ${thinking.length} ${thinking}`).toString('base64');
}

function blockEvents({ say, thinking, calls }: PrintedAnswer): readonly string[] {
  const blocks: { readonly block: JsonObject; readonly deltas: readonly JsonObject[] }[] = [];
  if (thinking !== '')
    blocks.push({
      block: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...piecesOf(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
        { type: 'signature_delta', signature: signatureOf(thinking) },
      ],
    });
  if (say !== '')
    blocks.push({
      block: { type: 'text', text: '' },
      deltas: piecesOf(say).map((text) => ({ type: 'text_delta', text })),
    });
  for (const call of calls) {
    const pieces = call.json === '{}' ? [''] : piecesOf(call.json);
    const deltas = pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    blocks.push({ block: toolUse(call), deltas });
  }
  return blocks.flatMap(({ block, deltas }, index) => [
    event('content_block_start', { index, content_block: block }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ]);
}

function event(type: string, fields: JsonObject): string {
  return dataEvent({ type, ...fields }, type);
}
