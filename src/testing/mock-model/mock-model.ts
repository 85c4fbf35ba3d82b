// `mockModel`: a model on this computer that says what a script has, over the HTTP of the vendors.

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delay } from '../../async/delay.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import { tryParseObject } from '../../jsonrpc/try-parse.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { seeded } from '../faults/seeded.js';
import { anthropicApi } from './anthropic.js';
import type { Asked, MockedApi, ModelApi } from './api.js';
import { chatApi } from './chat.js';
import { responsesApi } from './responses.js';
import { type AnswerTurn, type FailureTurn, type ModelTurn, printedAnswer } from './turn.js';

/** A request that a mock model got. */
export interface MockModelRequest extends Asked {
  /** The API: `anthropic` (Messages), `openai` (Responses) or `openai-chat` (Chat Completions). */
  readonly api: ModelApi;
  /** The body. */
  readonly body: JsonObject;
  /** The headers, with their names in lower case. */
  readonly headers: IncomingHttpHeaders;
}

/** Decides a turn by the request. */
type DecideTurn = (request: MockModelRequest) => ModelTurn | Promise<ModelTurn>;

/** The script of a mock model: its turns, one for each request, or a function that makes all of them. */
export type ModelScript = readonly (ModelTurn | DecideTurn)[] | DecideTurn;

/** The options of `mockModel`. */
export interface MockModelOptions {
  /** The key that requests must have. Default: any request is accepted. */
  readonly key?: string;
  /** The seed of the places at which the bytes of streams are split, also inside of characters. Default: 1. */
  readonly seed?: number;
}

/** A model for tests, on this computer. */
export interface MockModel extends AsyncDisposable {
  /** The address, on the loopback interface, without a path: the `baseURL` for Anthropic's SDK. OpenAI's SDK takes it with `/v1`. */
  readonly url: string;
  /** All requests so far, in order, those that were refused included. */
  readonly requests: readonly MockModelRequest[];
  /** The number of turns of the script that are left; undefined if the script is a function. */
  readonly left: number | undefined;
  /** Closes the model and its connections. */
  readonly close: () => Promise<void>;
}

const optionTable = {
  key: 'string',
  seed: { is: 'number', default: 1 },
} as const satisfies OptionTable<MockModelOptions>;

const APIS: readonly MockedApi[] = [anthropicApi, responsesApi, chatApi];

/** A test that sends more than this is broken. */
const MAX_BODY_BYTES = 64_000_000;

/**
 * Starts a model on loopback that says what the script has, in the shapes of Anthropic's Messages API and of OpenAI's Responses and Chat
 * Completions, streaming or not, as each request wants it. It refuses what the real APIs refuse, such as a result without its call.
 * @example
 * ```ts
 * await using model = await mockModel([
 *   { calls: [{ name: 'create_invoice', args: { amount: 30 } }] },
 *   ({ results }) => `Done: ${results[0]?.text}`,
 * ]);
 * const api = new Anthropic({ baseURL: model.url, apiKey: 'any' });
 * ```
 */
export async function mockModel(script: ModelScript, options: MockModelOptions = {}): Promise<MockModel> {
  const { key, seed } = readOptions('mockModel', options, optionTable);
  if (typeof script !== 'function' && !Array.isArray(script))
    throw new TypeError('mockModel needs a script: an array of turns, or a function that returns them.');
  const turns = typeof script === 'function' ? undefined : [...script];
  const requests: MockModelRequest[] = [];
  const random = seeded(seed);
  const stop = new AbortController();
  let answers = 0;

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await readBody(req);
    const path = (req.url ?? '').split('?')[0];
    const api = APIS.find((one) => one.path === path);
    if (api === undefined || req.method !== 'POST')
      return sendFailure(res, chatApi, { fail: 404, message: `mockModel has no ${req.method} ${path}.` });
    const parsed = tryParseObject(body) ?? {};
    const request = { ...api.asked(parsed), api: api.name, body: parsed, headers: req.headers };
    requests.push(request);
    if (key !== undefined && !hasKey(req.headers, key))
      return sendFailure(res, api, { fail: 401, message: 'invalid x-api-key or bearer token' });
    const problem = api.problem(parsed, req.headers);
    if (problem !== undefined) return sendFailure(res, api, { fail: 400, message: problem });
    const turn = await nextTurnOf(request);
    if (turn === undefined)
      return sendFailure(res, api, { fail: 400, message: 'The script of mockModel has no more turns.' });
    await perform(turn, { api, body: parsed, res });
  }

  function nextTurnOf(request: MockModelRequest): ModelTurn | undefined | Promise<ModelTurn> {
    const next = turns === undefined ? (script as DecideTurn) : turns.shift();
    return typeof next === 'function' ? next(request) : next;
  }

  async function perform(turn: ModelTurn, to: Reply): Promise<void> {
    if (typeof turn === 'object' && 'hang' in turn) return;
    if (typeof turn === 'object' && 'fail' in turn) return sendFailure(to.res, to.api, turn);
    const answer: AnswerTurn = typeof turn === 'string' ? { say: turn } : turn;
    const printed = printedAnswer(answer, { number: ++answers, body: to.body });
    if (to.body['stream'] !== true)
      return sendWhole(to.res, JSON.stringify(to.api.whole(printed)), answer.ends);
    await sendEvents(to, to.api.events(printed, to.body), answer);
  }

  async function sendEvents({ res, api }: Reply, events: readonly string[], turn: AnswerTurn): Promise<void> {
    const { ends, endsAfter = 2, pauseMs = 0 } = turn;
    res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    const sent = ends === undefined ? events : events.slice(0, endsAfter);
    for (const event of ends === 'error' ? [...sent, api.failureEvent()] : sent) {
      if (pauseMs > 0) await delay(pauseMs, { signal: stop.signal }).catch(() => undefined);
      for (const piece of splitBytes(Buffer.from(event), random)) await write(res, piece);
    }
    if (ends === 'cut') res.destroy();
    else if (ends !== 'hang') res.end();
  }

  const server = createServer((req, res) => {
    handle(req, res).catch((error: unknown) => {
      // The script of the test threw, or the client has gone.
      if (!res.headersSent) sendFailure(res, chatApi, { fail: 500, message: String(error) });
      else res.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      stop.abort();
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get left() {
      return turns?.length;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Reply {
  readonly api: MockedApi;
  readonly body: JsonObject;
  readonly res: ServerResponse;
}

async function readBody(req: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of req) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > MAX_BODY_BYTES) throw new RangeError(`The request is larger than ${MAX_BODY_BYTES} bytes.`);
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function hasKey(headers: IncomingHttpHeaders, key: string): boolean {
  return headers['x-api-key'] === key || headers.authorization === `Bearer ${key}`;
}

function sendFailure(res: ServerResponse, api: MockedApi, failure: FailureTurn): void {
  const {
    fail: status,
    kind,
    message = `The mock model fails with ${status}.`,
    retryAfterMs,
    body,
  } = failure;
  const type = body === undefined ? 'application/json' : 'text/html; charset=utf-8';
  const after = retryAfterMs !== undefined && {
    'retry-after': String(Math.ceil(retryAfterMs / 1000)),
    'retry-after-ms': String(retryAfterMs),
  };
  res.writeHead(status, { 'content-type': type, ...after, ...failure.headers });
  res.end(body ?? JSON.stringify(api.failure({ status, kind, message })));
}

function sendWhole(res: ServerResponse, json: string, ends: AnswerTurn['ends']): void {
  if (ends === 'error') {
    res.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"message":"failed"}}');
    return;
  }
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) });
  if (ends === undefined) return void res.end(json);
  res.write(json.slice(0, json.length / 2), () => ends === 'cut' && res.destroy());
}

/** Waits for a client that reads slowly. A client that has gone ends the reply. */
function write(res: ServerResponse, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    res.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/** Bytes in two pieces of random sizes, so that no reader can rely on whole events or characters. */
function splitBytes(bytes: Uint8Array, random: () => number): readonly Uint8Array[] {
  const at = Math.floor(random() * bytes.length);
  return [bytes.subarray(0, at), bytes.subarray(at)].filter((piece) => piece.length > 0);
}
