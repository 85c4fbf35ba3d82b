// Tools that were removed from a list, but still answer the callers that know them.

import { isObject, type JsonObject } from '../jsonrpc/message.js';

/**
 * On a request for the list of tools: whether removed tools are wanted, too. On a tool of that list: that it was removed, so that other
 * lists do not have it.
 */
export const REMOVED = 'fullmcp/removed';

/** Whether the parameters of a request, or a listed tool, have the mark. */
export function isMarkedRemoved({ _meta: meta }: JsonObject): boolean {
  return isObject(meta) && meta[REMOVED] === true;
}
