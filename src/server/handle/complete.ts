// Serves `completion/complete`.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import type { DirectDispatch } from '../../protocol/direct.js';
import { McpError } from '../../protocol/errors.js';
import { notFound } from '../../protocol/not-found.js';
import { withToolErrors } from '../results/tool-error.js';
import type { Completing, Entrance } from './entrance.js';
import type { MethodParts } from './run-handler.js';

const MAX_VALUES = 100;

/** Makes the function that answers `completion/complete`. */
export function completions(parts: MethodParts): DirectDispatch {
  return (call) => withToolErrors(completeArgument(call, parts));
}

// An argument without a completer has no suggestions, which is not an error.
async function completeArgument(call: Call, { registry, entrance, runner }: MethodParts): Promise<Outcome> {
  const { ref, argument, context } = call.params;
  if (!isObject(ref) || !isObject(argument)) {
    throw new McpError('invalid_params', 'params.ref and params.argument must be objects');
  }
  const { name, value } = argument;
  if (typeof name !== 'string' || typeof value !== 'string') {
    throw new McpError('invalid_params', 'params.argument needs a string "name" and a string "value"');
  }
  const { complete, mounted } = await completersOf(call, ref, entrance);
  const completer = complete.get(name);
  const filled = isObject(context) && isObject(context['arguments']) ? context['arguments'] : {};
  const suggestions =
    completer === undefined
      ? []
      : ((await runner.withContext(
          call,
          async (ctx) => completer(value, filled as Record<string, string>, ctx),
          mounted?.home,
        )) ?? []);
  const { values, total = values.length } = isArray(suggestions) ? { values: suggestions } : suggestions;
  const first = values.slice(0, MAX_VALUES);
  return registry.complete({ completion: { values: first, total, hasMore: total > first.length } });
}

async function completersOf(call: Call, ref: JsonObject, entrance: Entrance): Promise<Completing> {
  const { type, name, uri } = ref;
  if (type === 'ref/prompt' && typeof name === 'string') {
    return (await entrance.completers(call, 'prompts', name)) ?? reject(notFound('prompt', name));
  }
  if (type === 'ref/resource' && typeof uri === 'string') {
    return (await entrance.completers(call, 'templates', uri)) ?? reject(notFound('template', uri));
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
