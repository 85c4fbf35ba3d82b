import { isObject, type JsonObject, joinRequest, type RequestId } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import { type PrintedPeer, progressToken, withPeer, withToken } from '../../protocol/meta.js';

export interface PrintableCall {
  readonly method: string;
  readonly params?: JsonObject | undefined;
  /** The client's description of itself, which becomes part of the metadata. */
  readonly self?: PrintedPeer | undefined;
}

/** Prints a request. The parameters come from the program, so they may not be JSON. */
export function printCall(id: RequestId, { method, params, self }: PrintableCall, token?: RequestId): string {
  try {
    if (self !== undefined) return joinRequest(id, method, printParams(params ?? {}, self, token));
    const sent = params === undefined || token === undefined ? params : withToken(params, token);
    return joinRequest(id, method, sent && JSON.stringify(sent));
  } catch (cause) {
    throw new McpError('invalid_params', `The parameters of ${method} cannot be written as JSON`, { cause });
  }
}

// Most requests have no metadata besides their progress token. Then the client's description, which was printed before, is
// joined to the rest, which makes a whole call over stdio a sixth cheaper.
function printParams(params: JsonObject, self: PrintedPeer, wireToken: RequestId | undefined): string {
  const token = wireToken ?? progressToken(params);
  if (!isPlain(params['_meta'], token)) {
    const sent = withPeer(params, self.peer, self.revision);
    return JSON.stringify(wireToken === undefined ? sent : withToken(sent, wireToken));
  }
  const tokenField = token === undefined ? '' : `,"progressToken":${JSON.stringify(token)}`;
  let text = `{"_meta":{${self.members}${tokenField}}`;
  for (const key of Object.keys(params)) {
    const value = key === '_meta' ? undefined : JSON.stringify(params[key]);
    if (value !== undefined) text += `,${JSON.stringify(key)}:${value}`;
  }
  return `${text}}`;
}

function isPlain(meta: unknown, token: RequestId | undefined): boolean {
  if (!isObject(meta)) return true;
  for (const key in meta) if (key !== 'progressToken' || token === undefined) return false;
  return true;
}
