// Turns failed requests into messages that a model can act on.

import { isObject } from '../../jsonrpc/message.js';
import type { SafeFetchCode } from '../../oauth/fetch/safe-fetch.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { conceal } from '../../protocol/secrets/values.js';
import { essenceOf, isJsonType } from '../request/body.js';

const MAX_DETAIL = 1000;
const MAX_READ = 20_000;

/** The message about a reply that is not a success: the status, and what the API says about it. */
export function describeReply(
  where: string,
  { status, headers, text }: { readonly status: number; readonly headers: Headers; readonly text: string },
  secrets: readonly string[],
): string {
  const retryAfter = headers.get('retry-after');
  const detail = shorten(conceal(detailOf(text.slice(0, MAX_READ), headers), secrets).trim(), MAX_DETAIL);
  return [
    `${where} failed with status ${status}.`,
    ...(detail === '' ? [] : [detail]),
    ...(status === 401 || status === 403
      ? ['The credentials of this server, or of its caller, do not allow it.']
      : []),
    ...(retryAfter === null ? [] : [`Retry after: ${shorten(conceal(retryAfter, secrets), 60)}.`]),
  ].join(' ');
}

function detailOf(text: string, headers: Headers): string {
  const essence = essenceOf(headers.get('content-type') ?? '');
  if (essence === 'text/html') return '';
  if (!isJsonType(essence)) return essence === '' || essence.startsWith('text/') ? text : '';
  try {
    return detailOfJson(JSON.parse(text));
  } catch {
    return text;
  }
}

/** RFC 9457, and the fields that most other APIs use. The whole body follows if it has more, such as errors of single fields. */
function detailOfJson(body: unknown): string {
  const inner = isObject(body) && isObject(body['error']) ? body['error'] : body;
  if (!isObject(inner)) return typeof inner === 'string' ? inner : JSON.stringify(inner);
  const names = ['title', 'detail', 'message', 'error_description', 'error', 'reason'];
  const sentences = names
    .map((name) => inner[name])
    .filter((value) => typeof value === 'string' && value !== '');
  const more = ['errors', 'details', 'violations', 'invalid-params', 'fields'].filter(
    (name) => inner[name] !== undefined,
  );
  const rest = more.map((name) => `${name}: ${JSON.stringify(inner[name])}`);
  return sentences.length === 0 ? JSON.stringify(body) : [...new Set(sentences), ...rest].join(' ');
}

/** The message about a request that got no reply. It does not say what a name or an address means inside of this network. */
export function describeFailure(
  where: string,
  code: SafeFetchCode,
  { timeoutMs, maxBytes }: { timeoutMs: number; maxBytes: number },
): string {
  switch (code) {
    case 'timeout':
      return `${where} took more than ${timeoutMs / 1000} s and was stopped. It is unknown whether it has taken effect.`;
    case 'too_large':
      return `The reply of ${where} has more than ${maxBytes} bytes. Request less, for example a smaller page.`;
    case 'bad_redirect':
      return `The API redirects ${where} to an address that is not requested.`;
    default:
      return `${where} failed: the API cannot be reached (${code}).`;
  }
}
