import { type JsonObject, printRequest, type RequestId } from '../jsonrpc/message.js';
import { McpError } from '../protocol/errors.js';

/** Prints a request whose parameters come from the user's code, where anything can be in them. */
export function printCall(id: RequestId, method: string, params: JsonObject | undefined): string {
  try {
    return printRequest(id, method, params);
  } catch (cause) {
    throw new McpError('invalid_params', `The parameters of ${method} cannot be written as JSON`, { cause });
  }
}
