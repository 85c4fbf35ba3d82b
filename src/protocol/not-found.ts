// The errors about definitions that calls name. A definition that the caller may not use gets the same error as one that does not exist.

import { isObject } from '../jsonrpc/message.js';
import { shorten } from './encoding/shorten.js';
import { copyError, type ErrorCode, McpError } from './errors.js';
import { UNKNOWN_NAME } from './tables/failure-texts.js';

/** The `data` of an error that is about a definition: which one, and which of its arguments. */
interface DefinitionFault {
  readonly kind: 'tool' | 'prompt' | 'resource' | 'template' | 'method';
  /** The name of the tool, prompt or method; the URI of the resource or template. */
  readonly name: string;
  /** The argument that is missing or wrong. Absent if the definition itself is unknown. */
  readonly field?: string;
}

const codes: Readonly<Record<DefinitionFault['kind'], { code: ErrorCode; words: string; limit: number }>> = {
  tool: { code: 'invalid_params', words: UNKNOWN_NAME.tool, limit: 128 },
  prompt: { code: 'invalid_params', words: UNKNOWN_NAME.prompt, limit: 128 },
  resource: { code: 'resource_not_found', words: 'Resource not found: ', limit: 256 },
  template: { code: 'invalid_params', words: 'Unknown resource template: ', limit: 256 },
  method: { code: 'method_not_found', words: 'Method not found: ', limit: 128 },
};

const MAX_NAME = 1024;
const MAX_URI = 2048;

/** The error for a name that is not defined, or not for this caller. `hint` follows the name in the message. */
export function notFound(kind: DefinitionFault['kind'], name: string, hint = ''): McpError {
  const { code, words, limit } = codes[kind];
  return new McpError(code, `${words}${shorten(name, limit)}${hint}`, { data: faultData(kind, name) });
}

/** The `data` of an error about a definition: an argument of it, or the definition itself, if it is unknown. */
export function faultData(kind: DefinitionFault['kind'], name: string, field?: string): DefinitionFault {
  return {
    kind,
    name: name.slice(0, MAX_NAME),
    ...(field !== undefined && { field }),
    // Spec, Resources, Error Handling: `data.uri` names the resource.
    ...(kind === 'resource' && { uri: name.slice(0, MAX_URI) }),
  };
}

/** An error about a tool, prompt or type of events that the caller knows under another name, with that name in its `data`. */
export function renameFault(error: unknown, inner: string, outer: string): unknown {
  if (!McpError.is(error) || !isObject(error.data)) return error;
  const { kind, name } = error.data;
  if ((kind !== 'tool' && kind !== 'prompt' && kind !== 'event') || name !== inner) return error;
  return copyError(error, { data: { ...error.data, name: outer } });
}
