// Bodies of the requests and replies of a login, with their secrets masked.

import { isObject } from '../../../jsonrpc/message.js';
import { isSecretName, maskValue } from '../../wiretap/mask.js';

const MAX_BODY = 20_000;
/** Values that are as good as a password until they are used. */
const MORE = new Set([
  'code',
  'code_verifier',
  'client_assertion',
  'assertion',
  'device_code',
  'registration_access_token',
]);

/** A form or JSON with its secrets masked. Anything else is a page, of which the beginning is enough. */
export function maskBody(text: string, type: string): string {
  if (text === '') return '';
  if (type.includes('json') || /^\s{0,20}[[{]/.test(text)) {
    const value = parsed(text);
    if (value !== undefined) return cut(JSON.stringify(maskFields(value, 0), null, 2));
  }
  if (type.includes('urlencoded')) return cut(maskForm(new URLSearchParams(text)).join('\n'));
  return cut(text);
}

/** An address whose query has its secrets masked. */
export function maskAddress(address: string): string {
  if (!URL.canParse(address)) return address.slice(0, 500);
  const { origin, pathname, searchParams } = new URL(address);
  const query = maskForm(searchParams).join('&');
  return `${origin}${pathname}${query === '' ? '' : `?${query}`}`.slice(0, 4000);
}

function maskForm(form: URLSearchParams): readonly string[] {
  return [...form].map(([name, value]) => `${name}=${isSecret(name) ? maskValue(value) : value}`);
}

function maskFields(value: unknown, depth: number): unknown {
  if (depth > 20) return '…';
  if (Array.isArray(value)) return value.slice(0, 500).map((item) => maskFields(item, depth + 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      isSecret(name) && typeof inner === 'string' ? maskValue(inner) : maskFields(inner, depth + 1),
    ]),
  );
}

function isSecret(name: string): boolean {
  return MORE.has(name) || isSecretName(name);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function cut(text: string): string {
  return text.length > MAX_BODY ? `${text.slice(0, MAX_BODY)}…` : text;
}
