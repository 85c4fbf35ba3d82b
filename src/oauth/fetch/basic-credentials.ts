import { encodeBase64 } from '../../protocol/encoding/base64.js';

/**
 * The `Authorization` header of a client with a secret (RFC 6749, section 2.3.1). Escapes no more than a form does: servers that do
 * not decode the two parts refuse `%2D`.
 */
export function basicCredentials(clientId: string, secret: string): string {
  const pair = `${formEncode(clientId)}:${formEncode(secret)}`;
  return `Basic ${encodeBase64(new TextEncoder().encode(pair))}`;
}

function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}
