import { isObject } from '../../jsonrpc/message.js';
import { type CallSource, copyError, McpError } from '../../protocol/errors.js';

// The errors of calls, as the program receives them.

/** The error that the caller of a failed call receives. It names the call. */
export function toCallError(error: unknown, source: CallSource): McpError {
  const { method, name } = source;
  if (!McpError.is(error)) {
    const message = error instanceof Error ? error.message : String(error);
    const label = name === undefined ? method : `${method} "${name}"`;
    return new McpError('internal_error', `${label} failed: ${message}`, { cause: error, source });
  }
  const clear = clarify(error, method);
  // An error may have been thrown to several calls, so each call gets its own copy. Only errors of other classes keep their identity.
  if (Object.getPrototypeOf(clear) === McpError.prototype) return copyError(clear, { source });
  Reflect.defineProperty(clear, 'source', { value: source, configurable: true, enumerable: true });
  return clear;
}

function clarify(error: McpError, method: string): McpError {
  const { code, data } = error;
  if (!isObject(data)) return error;
  // Spec 2026-07-28, Resources, Error Handling: a missing resource is an invalid parameter, and `data.uri` names it.
  if (code === 'invalid_params' && method === 'resources/read' && 'uri' in data)
    return copyError(error, { code: 'resource_not_found', cause: error });
  return error;
}
