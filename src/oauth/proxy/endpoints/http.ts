import type { JsonObject } from '../../../jsonrpc/message.js';
import { OAuthError, type OAuthErrorCode } from '../tokens/oauth-error.js';

// Requests and replies of the endpoints.

const MAX_BODY = 64 * 1024;
const MAX_PARAMETERS = 50;

/** The headers that let a client in a browser use an endpoint. */
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version',
  'access-control-max-age': '3600',
};

/** A JSON reply that is never cached. */
export function jsonReply(body: JsonObject, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...CORS, ...headers },
  });
}

/** The reply to a preflight request. */
export function preflightReply(): Response {
  return new Response(null, { status: 204, headers: CORS });
}

const statuses: Partial<Record<OAuthErrorCode, number>> = {
  invalid_client: 401,
  server_error: 500,
  temporarily_unavailable: 503,
};

/** The JSON reply for an error. */
export function errorReply({ code, message }: OAuthError): Response {
  const status = statuses[code] ?? 400;
  return jsonReply({ error: code, error_description: message }, status, {
    ...(status === 401 && { 'www-authenticate': 'Basic realm="oauth"' }),
    ...(status === 503 && { 'retry-after': '5' }),
  });
}

/** The parameters of a query or a form. A parameter that is there twice is an error (RFC 6749, section 3.1); an empty one is not there. */
export function readParameters(parameters: URLSearchParams): ReadonlyMap<string, string> {
  const read = new Map<string, string>();
  let count = 0;
  for (const [name, value] of parameters) {
    if (++count > MAX_PARAMETERS)
      throw new OAuthError('invalid_request', 'The request has too many parameters.');
    if (read.has(name)) throw new OAuthError('invalid_request', 'A parameter is there twice.');
    read.set(name, value);
  }
  for (const [name, value] of read) if (value === '') read.delete(name);
  return read;
}

/** The parameters of a form. */
export async function readForm(request: Request): Promise<ReadonlyMap<string, string>> {
  const type = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded')
    throw new OAuthError('invalid_request', 'The body must be application/x-www-form-urlencoded.');
  return readParameters(new URLSearchParams(await readText(request)));
}

/** The body as text. Reading stops when the body is too large. */
export async function readText(request: Request): Promise<string> {
  const tooLarge = (): OAuthError =>
    new OAuthError('invalid_request', `The body has more than ${MAX_BODY} bytes.`);
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY) throw tooLarge();
  const reader = request.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.byteLength;
    if (length > MAX_BODY) {
      await reader.cancel();
      throw tooLarge();
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** A redirect. */
export function redirectReply(to: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({
    location: to,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  return new Response(null, { status: 302, headers });
}

/** A redirect URI with the parameters of a reply. The rest of the URI stays as it was registered. */
export function withParameters(
  uri: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, value);
  return `${uri}${uri.includes('?') ? '&' : '?'}${query}`;
}
