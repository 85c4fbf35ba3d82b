import { tryParseObject } from '../../../jsonrpc/try-parse.js';
import { OAuthError } from '../tokens/oauth-error.js';
import { jsonReply, readText } from './http.js';
import type { ProxyParts } from './parts.js';

/** Registers a client (RFC 7591). */
export async function register(request: Request, { registrations }: ProxyParts): Promise<Response> {
  if (registrations === undefined)
    throw new OAuthError('invalid_request', 'Clients cannot register themselves here.');
  const body = tryParseObject(await readText(request));
  if (body === undefined) throw new OAuthError('invalid_client_metadata', 'The body must be a JSON object.');
  return jsonReply(await registrations.register(body), 201);
}
