import { isObject } from '../../../jsonrpc/message.js';
import { OAuthError } from '../tokens/oauth-error.js';
import { jsonReply, readText } from './http.js';
import type { ProxyParts } from './parts.js';

/** Registers a client (RFC 7591). */
export async function register(request: Request, { registrations }: ProxyParts): Promise<Response> {
  if (registrations === undefined)
    throw new OAuthError('invalid_request', 'Clients cannot register themselves here.');
  const text = await readText(request);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  if (!isObject(body)) throw new OAuthError('invalid_client_metadata', 'The body must be a JSON object.');
  return jsonReply(await registrations.register(body), 201);
}
