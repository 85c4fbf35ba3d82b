import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { copyError, type McpError } from '../../protocol/errors.js';
import { HANDLER_ADVICE } from '../../protocol/tables/failure-texts.js';

// Advice for a call that needs handlers which the program has not passed. Loaded when that happens.

/** The error of a server that requires capabilities, with the options of `connect` that declare them. */
export function withMissingHandlers(error: McpError): McpError {
  const missing = handlersFor(isObject(error.data) ? error.data['requiredCapabilities'] : undefined);
  if (missing.length === 0) return error;
  const advice = error.message.indexOf(HANDLER_ADVICE);
  const reason = advice === -1 ? error.message : error.message.slice(0, advice).trimEnd();
  const message = `${sentence(reason)} Pass ${missing.join(' and ')} to connect().`;
  return copyError(error, { message, cause: error });
}

/** The handlers that a program must pass to `connect` to have the capabilities that a server requires. */
function handlersFor(required: unknown): readonly string[] {
  if (!isObject(required)) return [];
  const { elicitation, sampling, roots } = required as Record<string, JsonObject | undefined>;
  const needsUrls = isObject(elicitation) && 'url' in elicitation;
  const needsForms = elicitation !== undefined && (!needsUrls || 'form' in elicitation);
  return [
    needsForms && '`elicit`',
    needsUrls && '`elicit.url`',
    sampling !== undefined &&
      (isObject(sampling) && 'tools' in sampling ? '`sample: { run, tools: true }`' : '`sample`'),
    roots !== undefined && '`roots`',
  ].filter((missing) => missing !== false);
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
