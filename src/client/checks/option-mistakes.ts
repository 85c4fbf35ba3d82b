import { isObject } from '../../jsonrpc/message.js';
import type { ForeignNames } from '../../protocol/checks/known-keys.js';
import { type AnyTable, type OptionTable, optionMistakes } from '../../protocol/checks/options.js';
import { McpError } from '../../protocol/errors.js';
import type { Handlers } from '../model/handlers.js';
import type { ReconnectOptions } from '../model/options.js';
import { callTable } from './option-tables.js';

// Describes mistakes in options, in sentences. Loaded only if something looks wrong.

/** Names that options have in other libraries, or by habit. */
const foreignNames: ForeignNames = {
  timeout: 'timeoutMs',
  requestTimeoutMs: 'timeoutMs',
  maxTotalTimeout: 'maxTimeoutMs',
  onprogress: 'onProgress',
  resetTimeoutOnProgress: 'Progress always restarts `timeoutMs`. `maxTimeoutMs` limits the call.',
  elicitation: 'elicit',
  sampling: 'sample',
  onElicitation: 'elicit',
  clientInfo: 'client',
  token: 'auth',
  middleware: 'use',
  capabilities:
    'The client declares capabilities from its handlers: `elicit`, `sample`, `roots`. `experimental` declares others.',
};

type Parts<Handler> = Exclude<Handler, undefined | ((...args: never) => unknown)>;

/** The options that are objects of options themselves. */
const inner: AnyTable = {
  roots: ['function', 'array'],
  elicit: {
    is: ['function', 'object'],
    options: { form: 'any', url: 'any' } satisfies OptionTable<Parts<Handlers['elicit']>>,
  },
  sample: {
    is: ['function', 'object'],
    options: {
      run: { is: 'function', required: true },
      tools: 'any',
      context: 'any',
    } satisfies OptionTable<Parts<Handlers['sample']>>,
  },
  reconnect: {
    is: ['boolean', 'object'],
    options: {
      maxAttempts: 'number',
      baseMs: 'number',
      maxMs: 'number',
    } satisfies OptionTable<ReconnectOptions>,
  },
};

/** Throws one error that lists all mistakes in the options of `connect`. */
export function checkConnectOptions(functionName: string, value: unknown, table: AnyTable): void {
  const sentences = [
    ...optionMistakes(functionName, value, { ...table, ...inner }, { foreign: foreignNames }),
  ];
  const { use = [], extensions = [], experimental = {} } = isObject(value) ? value : {};
  const report = (what: string): unknown => sentences.push(`${functionName}: ${what}`);
  if (Array.isArray(use) && use.some((item) => typeof item !== 'function'))
    report('"use" must be an array of middleware functions.');
  if (Array.isArray(extensions) && !extensions.every(isExtension))
    report('"extensions" must be an array of objects: [{ id: \'com.example/search\' }].');
  if (isObject(experimental) && !Object.values(experimental).every(isObject))
    report('"experimental" must be an object of objects.');
  if (sentences.length > 0) throw mistakes(sentences);
}

/** An error that lists the mistakes in the options of a call. */
export function callMistake(method: string, options: object): McpError {
  return mistakes(optionMistakes(method, options, callTable, { foreign: foreignNames }));
}

/** An error that lists the mistakes in the first argument of `subscribe`. */
export function subscribeMistake(to: object, table: AnyTable): McpError {
  return mistakes(optionMistakes('subscribe', to, table, { foreign: { uri: 'uris', task: 'tasks' } }));
}

function isExtension(value: unknown): boolean {
  return isObject(value) && typeof value['id'] === 'string' && Array.isArray(value['use'] ?? []);
}

function mistakes(sentences: readonly string[]): McpError {
  return new McpError('invalid_request', sentences.join('\n'));
}
