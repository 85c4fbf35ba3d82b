import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';

// The errors of calls, as the program receives them.

/** The error that the caller of a failed call receives. */
export function toCallError(method: string, error: unknown): McpError {
  if (!McpError.is(error)) {
    const message = error instanceof Error ? error.message : String(error);
    return new McpError('internal_error', `${method} failed: ${message}`, { cause: error });
  }
  const { code, data } = error;
  if (!isObject(data)) return error;
  // Spec 2026-07-28, Resources, Error Handling: a missing resource is an invalid parameter, and `data.uri` names it.
  if (code === 'invalid_params' && method === 'resources/read' && 'uri' in data)
    return withChanges(error, { code: 'resource_not_found' });
  if (code === 'missing_capability') {
    const missing = handlersFor(data['requiredCapabilities']);
    if (missing.length > 0)
      return withChanges(error, {
        message: `${sentence(error.message)} Pass ${missing.join(' and ')} to connect().`,
      });
  }
  return error;
}

function withChanges(
  error: McpError,
  { code = error.code, message = error.message }: Partial<Pick<McpError, 'code' | 'message'>>,
): McpError {
  const { data, status, number } = error;
  return new McpError(code, message, {
    data,
    status,
    cause: error,
    ...(number !== undefined && { number }),
  });
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
