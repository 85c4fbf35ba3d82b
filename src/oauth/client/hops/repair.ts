import { isObject, type JsonObject } from '../../../jsonrpc/message.js';

// Repairs replies of authorization servers that mean the right thing and say it in another form than the RFCs.

/**
 * The reply of a token endpoint in the form of RFC 6749: errors with status 200 (GitHub) get an error status, form-encoded bodies
 * become JSON, null and empty members are dropped, and so is the ID token, which a client of MCP does not need.
 */
export async function repairTokenReply(response: Response): Promise<Response> {
  const { body, text } = await readBody(response);
  if (body === undefined) return replace(response, text, response.status);
  const { id_token: _, ...clean } = withoutEmpty(body);
  if (Array.isArray(clean['scope'])) clean['scope'] = clean['scope'].join(' ');
  const isError = typeof clean['error'] === 'string' && clean['access_token'] === undefined;
  const status = isError && response.ok ? 400 : response.status;
  return replace(response, JSON.stringify(clean), status, { isError });
}

/** The reply of a registration endpoint in the form of RFC 7591: status 201, and an expiry beside a secret. */
export async function repairRegistrationReply(response: Response): Promise<Response> {
  const { body, text } = await readBody(response);
  if (body === undefined) return replace(response, text, response.status);
  const clean = withoutEmpty(body);
  if (clean['client_secret'] !== undefined) clean['client_secret_expires_at'] ??= 0;
  return replace(response, JSON.stringify(clean), response.status === 200 ? 201 : response.status);
}

function withoutEmpty(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== ''));
}

async function readBody(
  response: Response,
): Promise<{ readonly body: JsonObject | undefined; readonly text: string }> {
  const text = await response.text();
  try {
    const value: unknown = JSON.parse(text);
    return { body: isObject(value) ? value : undefined, text };
  } catch {
    // No part of the pattern can match in two ways, so that it never goes back.
    const form = /^[\w.-]+=[^\s<>&]*(?:&[\w.-]+=[^\s<>&]*)*$/.test(text)
      ? Object.fromEntries(new URLSearchParams(text))
      : undefined;
    const isAnswer = form?.['access_token'] !== undefined || form?.['error'] !== undefined;
    return { body: isAnswer ? form : undefined, text };
  }
}

function replace(
  response: Response,
  text: string,
  status: number,
  { isError = false }: { readonly isError?: boolean } = {},
): Response {
  const headers = new Headers(response.headers);
  if (isError || status === 201) headers.set('content-type', 'application/json');
  // With this header, the body that says what is wrong would not be read.
  if (isError) headers.delete('www-authenticate');
  headers.delete('content-length');
  return new Response([204, 205, 304].includes(status) ? null : text, { status, headers });
}
