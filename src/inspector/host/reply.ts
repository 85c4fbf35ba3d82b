// Replies of the inspector, each with the headers that keep it to itself.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Failure } from '../contract/failure.js';
import type { Refusal } from './guard.js';

const PLAIN_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** The headers of every reply. */
const GUARDING: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy': PLAIN_POLICY,
  'cache-control': 'no-store',
};

interface WholeReply {
  readonly status?: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | Uint8Array;
}

/** Writes a whole reply. A body that was not read is not read any further. */
export function send(
  req: IncomingMessage,
  res: ServerResponse,
  { status = 200, headers, body }: WholeReply,
): void {
  if (res.headersSent || res.destroyed) return;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const isCut = !req.complete && req.method !== 'GET' && req.method !== 'HEAD';
  res.writeHead(status, {
    ...GUARDING,
    'content-length': bytes.byteLength,
    ...(isCut && { connection: 'close' }),
    ...headers,
  });
  res.end(req.method === 'HEAD' ? undefined : bytes);
}

export function sendJson(req: IncomingMessage, res: ServerResponse, value: object, status = 200): void {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  send(req, res, { status, headers, body: JSON.stringify(value) });
}

export function sendFailure(req: IncomingMessage, res: ServerResponse, status: number, error: Failure): void {
  sendJson(req, res, { error }, status);
}

/** The beginning of a reply that is written bit by bit. */
export function beginStream(res: ServerResponse, contentType: string): void {
  res.writeHead(200, { ...GUARDING, 'content-type': contentType });
}

/** Refuses: in JSON for the page's own requests, otherwise as a page for a person. */
export function refuse(
  req: IncomingMessage,
  res: ServerResponse,
  { status, message }: Refusal,
  { isApi }: { readonly isApi: boolean },
): void {
  if (isApi) return sendFailure(req, res, status, { code: 'refused', message });
  const headers = { 'content-type': 'text/html; charset=utf-8' };
  send(req, res, { status, headers, body: plainPage(message) });
}

/** A page without styles. The message is ours: nothing of a request is in it. */
function plainPage(message: string): string {
  const text = message.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n<title>fullmcp inspector</title>\n<h1>fullmcp inspector</h1>\n<p>${text}</p>\n</html>\n`;
}
