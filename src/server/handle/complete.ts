// Serves `completion/complete`.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { notFound } from '../../protocol/not-found.js';
import type { Context } from '../context/context.js';
import type { HandlerHome } from '../context/handler-run.js';
import type { Complete } from '../results/results.js';
import type { Completing, Entrance } from './entrance.js';

const MAX_VALUES = 100;

/** The completers of a server, and the functions that run them. */
export interface CompletionSources {
  /** The completers of a prompt or of a template; undefined if it does not exist for the caller. */
  readonly completers: Entrance['completers'];
  readonly complete: Complete;
  /** Runs a completer with a context. */
  readonly withContext: <T>(call: Call, work: (ctx: Context) => Promise<T>, home?: HandlerHome) => Promise<T>;
}

/** Serves `completion/complete`. An argument without a completer has no suggestions, which is not an error. */
export async function completeArgument(call: Call, sources: CompletionSources): Promise<Outcome> {
  const { ref, argument, context } = call.params;
  if (!isObject(ref) || !isObject(argument)) {
    throw new McpError('invalid_params', 'params.ref and params.argument must be objects');
  }
  const { name, value } = argument;
  if (typeof name !== 'string' || typeof value !== 'string') {
    throw new McpError('invalid_params', 'params.argument needs a string "name" and a string "value"');
  }
  const { complete, mounted } = await completersOf(call, ref, sources);
  const completer = complete.get(name);
  const filled = isObject(context) && isObject(context['arguments']) ? context['arguments'] : {};
  const suggestions =
    completer === undefined
      ? []
      : ((await sources.withContext(
          call,
          async (ctx) => completer(value, filled as Record<string, string>, ctx),
          mounted?.home,
        )) ?? []);
  const { values, total = values.length } = isArray(suggestions) ? { values: suggestions } : suggestions;
  const first = values.slice(0, MAX_VALUES);
  return sources.complete({ completion: { values: first, total, hasMore: total > first.length } });
}

async function completersOf(
  call: Call,
  ref: JsonObject,
  { completers }: CompletionSources,
): Promise<Completing> {
  const { type, name, uri } = ref;
  if (type === 'ref/prompt' && typeof name === 'string') {
    return (await completers(call, 'prompts', name)) ?? reject(notFound('prompt', name));
  }
  if (type === 'ref/resource' && typeof uri === 'string') {
    return (await completers(call, 'templates', uri)) ?? reject(notFound('template', uri));
  }
  throw new McpError(
    'invalid_params',
    'params.ref must be {"type":"ref/prompt","name":…} or {"type":"ref/resource","uri":…}',
  );
}

function isArray(suggestions: readonly string[] | object): suggestions is readonly string[] {
  return Array.isArray(suggestions);
}

function reject(error: McpError): never {
  throw error;
}
