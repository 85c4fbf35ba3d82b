import { isObject } from '../../jsonrpc/message.js';
import { type ForeignNames, type KeysOf, unknownKeys } from '../../protocol/checks/known-keys.js';
import { McpError } from '../../protocol/errors.js';
import type { Handlers } from '../model/handlers.js';
import type { CallOptions, ReconnectOptions } from '../model/options.js';
import { callKeys, isLimit, type Keys, limits } from './option-keys.js';

// Describes mistakes in options, in sentences. Loaded only if something looks wrong.

/** Names that options have in other libraries, or by habit. */
const foreignNames: ForeignNames = {
  timeout: 'timeoutMs',
  requestTimeoutMs: 'timeoutMs',
  maxTotalTimeout: 'maxTimeoutMs',
  onprogress: 'onProgress',
  resetTimeoutOnProgress: 'Progress always restarts `timeoutMs`; `maxTimeoutMs` limits the whole call.',
  elicitation: 'elicit',
  sampling: 'sample',
  onElicitation: 'elicit',
  clientInfo: 'client',
  token: 'auth',
  middleware: 'use',
  capabilities:
    'The client declares capabilities from its handlers: `elicit`, `sample`, `roots`. `experimental` declares others.',
};

const elicitKeys = { form: true, url: true } satisfies KeysOf<
  Exclude<Handlers['elicit'], undefined | ((...args: never) => unknown)>
>;
const sampleKeys = { run: true, tools: true, context: true } satisfies KeysOf<
  Exclude<Handlers['sample'], undefined | ((...args: never) => unknown)>
>;
const reconnectKeys = { maxAttempts: true, baseMs: true, maxMs: true } satisfies KeysOf<ReconnectOptions>;

/** Throws one error that lists all mistakes in the options of `connect`. */
export function checkConnectOptions(functionName: string, value: unknown, keys: Keys): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw mistakes([`${functionName}: the options must be an object.`]);
  const options = value as Readonly<Record<string, unknown>>;
  const { elicit, sample, roots, reconnect, use, extensions, experimental } = options;
  const sentences = [
    ...unknownOptions(functionName, options, keys),
    ...limits.flatMap((name) => numberMistake(name, options[name])),
    ...shapeMistakes('elicit', elicit, elicitKeys, 'a function that fills in forms, or { form, url }'),
    ...shapeMistakes(
      'sample',
      sample,
      sampleKeys,
      'a function that asks a model, or { run, tools, context }',
    ),
    ...(isObject(sample) && typeof sample['run'] !== 'function'
      ? ['`sample` needs `run`, the function that asks a model.']
      : []),
    ...(reconnect === undefined || typeof reconnect === 'boolean'
      ? []
      : shapeMistakes(
          'reconnect',
          reconnect,
          reconnectKeys,
          'true, false or { maxAttempts, baseMs, maxMs }',
          false,
        )),
    ...(roots === undefined || Array.isArray(roots) || typeof roots === 'function'
      ? []
      : ['`roots` must be an array of URIs, or a function that returns one.']),
    ...(use === undefined || (Array.isArray(use) && use.every((item) => typeof item === 'function'))
      ? []
      : ['`use` must be an array of middleware functions.']),
    ...(extensions === undefined || (Array.isArray(extensions) && extensions.every(isExtension))
      ? []
      : ["`extensions` must be an array of objects: [{ id: 'com.example/search' }]."]),
    ...(experimental === undefined || (isObject(experimental) && Object.values(experimental).every(isObject))
      ? []
      : ["`experimental` must be an object of objects: { 'com.example/preview': {} }."]),
  ];
  if (sentences.length > 0) throw mistakes(sentences);
}

/** An error that lists the mistakes in the options of a call. */
export function callMistake(method: string, options: object): McpError {
  const { timeoutMs, maxTimeoutMs } = options as CallOptions;
  return mistakes([
    ...unknownOptions(method, options, callKeys),
    ...numberMistake('timeoutMs', timeoutMs),
    ...numberMistake('maxTimeoutMs', maxTimeoutMs),
  ]);
}

/** An error that lists the mistakes in the first argument of `subscribe`. */
export function subscribeMistake(to: object, keys: Keys): McpError {
  const unknown = unknownKeys(to, keys, { uri: 'uris', task: 'tasks' });
  return mistakes(unknown.map(({ key, hint }) => `subscribe has no field ${JSON.stringify(key)}. ${hint}`));
}

function unknownOptions(functionName: string, options: object, keys: Keys): readonly string[] {
  return unknownKeys(options, keys, foreignNames).map(
    ({ key, hint }) => `${functionName} has no option ${JSON.stringify(key)}. ${hint}`,
  );
}

function shapeMistakes(
  name: string,
  value: unknown,
  keys: Keys,
  expected: string,
  mayBeFunction = true,
): readonly string[] {
  if (value === undefined || (mayBeFunction && typeof value === 'function')) return [];
  if (!isObject(value)) return [`\`${name}\` must be ${expected}.`];
  return unknownKeys(value, keys).map(
    ({ key, hint }) => `\`${name}\` has no field ${JSON.stringify(key)}. ${hint}`,
  );
}

function numberMistake(name: string, value: unknown): readonly string[] {
  return isLimit(value) ? [] : [`\`${name}\` must be a non-negative number.`];
}

function isExtension(value: unknown): boolean {
  return isObject(value) && typeof value['id'] === 'string' && Array.isArray(value['use'] ?? []);
}

function mistakes(sentences: readonly string[]): McpError {
  return new McpError('invalid_request', sentences.join('\n'));
}
