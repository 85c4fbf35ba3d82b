// A model as users name it, with its address and its key.

import type { JsonObject } from '../../jsonrpc/message.js';
import { isLoopbackUrl } from '../../oauth/fetch/check-url.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import type { ModelApi } from '../../testing/mock-model/api.js';
import { dialects } from './dialects.js';
import type { ModelPrice } from './price.js';

/** A model to ask. */
export interface EvalModel {
  /** The name in reports, and in the name of its tape. Default: that of `model`. */
  readonly name?: string;
  /** The API: `anthropic` (Messages), `openai` (Responses) or `openai-chat` (Chat Completions, which most other services and local programs have). */
  readonly api: ModelApi;
  /** The name of the model in the API. */
  readonly model: string;
  /** The address of the API, `https:` or on this computer. Without a path, `/v1` is added. Default: that of the vendor. */
  readonly url?: string;
  /**
   * The name of the environment variable that has the key. Default: `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` for the address of the vendor, and
   * none for others, so that a key is sent only where it belongs.
   */
  readonly key?: string;
  /** The prices, for the costs in reports and for `budget.cost`. Default: unknown. */
  readonly price?: ModelPrice;
  /** The largest number of tokens in one reply. Default: 2048. */
  readonly maxTokens?: number;
  /** Whether replies are streamed. Default: true. */
  readonly stream?: boolean;
  /** More fields for the body of each request, such as `{ thinking: … }`. Default: none. */
  readonly fields?: Readonly<JsonObject>;
  /** The longest time without a part of a reply, in milliseconds. Default: 60 s. */
  readonly silenceMs?: number;
  /** The longest time for one request, in milliseconds. Default: 300 s. */
  readonly timeoutMs?: number;
}

const priceTable = {
  input: { is: 'number', required: true },
  output: { is: 'number', required: true },
  cached: 'number',
} as const satisfies OptionTable<ModelPrice>;

const modelTable = {
  name: 'string',
  api: { oneOf: ['anthropic', 'openai', 'openai-chat'], required: true },
  model: { is: 'string', required: true },
  url: 'string',
  key: 'string',
  price: { is: 'object', options: priceTable },
  maxTokens: { is: 'count', default: 2048 },
  stream: { is: 'boolean', default: true },
  fields: 'object',
  silenceMs: { is: 'timer', default: 60_000 },
  timeoutMs: { is: 'timer', default: 300_000 },
} as const satisfies OptionTable<EvalModel>;

/** A model whose options have been checked. */
export interface ModelTarget {
  readonly name: string;
  readonly api: ModelApi;
  readonly model: string;
  /** The address of requests. */
  readonly url: URL;
  readonly isVendor: boolean;
  /** The environment variable with the key; undefined if none is sent. */
  readonly keyName: string | undefined;
  readonly price: ModelPrice | undefined;
  readonly maxTokens: number;
  readonly stream: boolean;
  readonly fields: Readonly<JsonObject>;
  readonly silenceMs: number;
  readonly timeoutMs: number;
}

const MAX_NAME = 100;

/** Reads a model: its options, or the short form `openai-chat:llama3@http://localhost:11434`. Throws a `TypeError` for mistakes. */
export function modelTarget(given: string | EvalModel): ModelTarget {
  const options = readOptions('model', typeof given === 'string' ? shortForm(given) : given, modelTable);
  const { api, model, url, key, fields = {}, price, maxTokens, stream, silenceMs, timeoutMs } = options;
  const name = options.name ?? model;
  if (model === '' || name.length > MAX_NAME)
    throw new TypeError(`model: the name must have 1 to ${MAX_NAME} characters.`);
  const dialect = dialects[api];
  const base = new URL(dialect.url);
  const own = url === undefined ? base : addressOf(url);
  const isVendor = own.origin === base.origin;
  const path = own.pathname === '/' ? '/v1' : own.pathname.replace(/\/$/, '');
  return {
    ...{ name, api, model, isVendor, fields, price, maxTokens, stream, silenceMs, timeoutMs },
    url: new URL(`${path}${dialect.path}${own.search}`, own.origin),
    keyName: key ?? (isVendor ? dialect.keyName : undefined),
  };
}

/** The key of a model, from the environment. Throws an `Error` that names the variable if it is not set. */
export function keyOf(
  { keyName, name }: ModelTarget,
  env: Readonly<Record<string, string | undefined>>,
): string {
  if (keyName === undefined) return '';
  const key = env[keyName]?.trim() ?? '';
  // A header cannot carry more, and a message about that would have the key in it.
  if (key !== '' && !/^[\x21-\x7e]+$/.test(key))
    throw new Error(`The environment variable ${keyName} has characters that a key cannot have.`);
  if (key !== '') return key;
  throw new Error(`The model ${name} needs a key. Set the environment variable ${keyName}.`);
}

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackUrl(url));
  if (url === undefined || !isSafe)
    throw new TypeError('model: "url" must begin with https://, or be an address on this computer.');
  if (url.username !== '' || url.password !== '')
    throw new TypeError(
      'model: "url" must not have a user name or a password. Name the variable of the key: "key".',
    );
  return url;
}

function shortForm(text: string): EvalModel {
  const [, api, model, url] =
    /^(anthropic|openai|openai-chat):([^@]+)(?:@(https?:\/\/.+))?$/.exec(text) ?? [];
  if (api === undefined || model === undefined)
    throw new TypeError(
      `${JSON.stringify(text.slice(0, 60))} does not name a model. Write <api>:<model> or <api>:<model>@<address>, where <api> is ${Object.keys(dialects).join(', ')}.`,
    );
  return { api: api as ModelApi, model, ...(url !== undefined && { url }) };
}
