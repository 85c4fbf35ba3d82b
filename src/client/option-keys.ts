import { McpError } from '../protocol/errors.js';
import { type ForeignNames, type KeysOf, unknownKeys } from '../protocol/known-keys.js';
import type { Handlers } from './handlers.js';
import type { ToolCallOptions } from './model.js';
import type { CallOptions, ClientOptions, ReconnectOptions } from './options.js';

// In JavaScript nobody else notices an option that is misspelt: a time limit that is none, a handler that is never called.

/** Every option of a client, whatever it is connected to. */
export const clientKeys: KeysOf<ClientOptions> = {
  elicit: true,
  sample: true,
  roots: true,
  timeoutMs: true,
  maxTimeoutMs: true,
  logLevel: true,
  client: true,
  use: true,
  as: true,
  log: true,
  progress: true,
  reconnect: true,
  cache: true,
  maxRounds: true,
  maxRetries: true,
};

/** Every option of a call. */
export const callKeys: KeysOf<CallOptions & ToolCallOptions> = {
  signal: true,
  timeoutMs: true,
  maxTimeoutMs: true,
  onProgress: true,
  onLog: true,
  logLevel: true,
  fresh: true,
  meta: true,
  idempotencyKey: true,
};

/** What other libraries, and habit, call them. */
export const foreignNames: ForeignNames = {
  timeout: 'timeoutMs',
  requestTimeoutMs: 'timeoutMs',
  maxTotalTimeout: 'maxTimeoutMs',
  onprogress: 'onProgress',
  resetTimeoutOnProgress: 'Progress always begins `timeoutMs` anew; `maxTimeoutMs` limits the whole.',
  elicitation: 'elicit',
  sampling: 'sample',
  onElicitation: 'elicit',
  clientInfo: 'client',
  token: 'auth',
  middleware: 'use',
  capabilities: 'Capabilities are declared by the handlers that you give: `elicit`, `sample`, `roots`.',
};

type Keys = Readonly<Record<string, true>>;

const elicitKeys = { form: true, url: true } satisfies KeysOf<
  Exclude<Handlers['elicit'], undefined | ((...given: never) => unknown)>
>;
const sampleKeys = { run: true, tools: true, context: true } satisfies KeysOf<
  Exclude<Handlers['sample'], undefined | ((...given: never) => unknown)>
>;
const reconnectKeys = { maxAttempts: true, baseMs: true, maxMs: true } satisfies KeysOf<ReconnectOptions>;
const numbers = [
  'timeoutMs',
  'maxTimeoutMs',
  'maxRounds',
  'maxRetries',
  'connectTimeoutMs',
  'probeTimeoutMs',
  'maxMessageBytes',
];

/** Throws one error with everything that is wrong with the options of `connect`. */
export function checkConnectOptions(what: string, given: unknown, known: Keys): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw mistakes([`${what}: the options must be an object.`]);
  const options = given as Readonly<Record<string, unknown>>;
  const { elicit, sample, roots, reconnect, use } = options;
  const found = [
    ...unknown(what, options, known),
    ...numbers.flatMap((name) => numberMistake(name, options[name])),
    ...shaped('elicit', elicit, elicitKeys, 'a function that fills in forms, or { form, url }'),
    ...shaped('sample', sample, sampleKeys, 'a function that asks a model, or { run, tools, context }'),
    ...(isObject(sample) && typeof sample['run'] !== 'function'
      ? ['`sample` needs `run`, the function that asks a model.']
      : []),
    ...(reconnect === undefined || typeof reconnect === 'boolean'
      ? []
      : shaped(
          'reconnect',
          reconnect,
          reconnectKeys,
          'true, false or { maxAttempts, baseMs, maxMs }',
          false,
        )),
    ...(roots === undefined || Array.isArray(roots) || typeof roots === 'function'
      ? []
      : ['`roots` must be an array of URIs, or a function that gives one.']),
    ...(use === undefined || (Array.isArray(use) && use.every((one) => typeof one === 'function'))
      ? []
      : ['`use` must be an array of middleware, which are functions.']),
  ];
  if (found.length > 0) throw mistakes(found);
}

/** Throws where the options of a call have one that nothing reads. */
export function checkCallOptions(method: string, options: object, known: Keys): void {
  for (const key in options) {
    if (known[key] === true) continue;
    throw mistakes(unknown(method, options, callKeys));
  }
  const { timeoutMs, maxTimeoutMs } = options as CallOptions;
  if (isLimit(timeoutMs) && isLimit(maxTimeoutMs)) return;
  throw mistakes([...numberMistake('timeoutMs', timeoutMs), ...numberMistake('maxTimeoutMs', maxTimeoutMs)]);
}

function unknown(what: string, given: object, known: Keys): readonly string[] {
  return unknownKeys(given, known, foreignNames).map(
    ({ key, hint }) => `${what} has no option ${JSON.stringify(key)}. ${hint}`,
  );
}

function shaped(
  name: string,
  value: unknown,
  known: Keys,
  wanted: string,
  orFunction = true,
): readonly string[] {
  if (value === undefined || (orFunction && typeof value === 'function')) return [];
  if (!isObject(value)) return [`\`${name}\` must be ${wanted}.`];
  return unknownKeys(value, known).map(
    ({ key, hint }) => `\`${name}\` has no ${JSON.stringify(key)}. ${hint}`,
  );
}

function numberMistake(name: string, value: unknown): readonly string[] {
  return isLimit(value) ? [] : [`\`${name}\` must be a number that is not negative.`];
}

function isLimit(value: unknown): boolean {
  return value === undefined || (typeof value === 'number' && value >= 0);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mistakes(found: readonly string[]): McpError {
  return new McpError('invalid_request', found.join('\n'));
}
