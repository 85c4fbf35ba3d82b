// Masks secrets: in headers by their names, in strings by their values.

import { SECRET_ENDS } from '../../protocol/telemetry/secret-text.js';

const MORE_NAMES = new Set(['mcpsessionid', 'dpop', 'setcookie', 'xapikey', 'proxyauthorization']);
const MIN_SHOWN = 20;
const MIN_SECRET = 6;

/** A secret as it may be shown: its ends, if it is long enough that they say nothing. */
export function maskValue(value: string): string {
  const [, scheme = '', rest = value] = /^((?:bearer|basic|dpop) )(.*)$/i.exec(value.slice(0, 10_000)) ?? [];
  if (scheme.toLowerCase().startsWith('basic')) return `${scheme}•••`;
  return `${scheme}${rest.length < MIN_SHOWN ? '•••' : `${rest.slice(0, 4)}…${rest.slice(-4)}`}`;
}

/** Whether a header or a field has a secret in it, by its name. */
export function isSecretName(name: string): boolean {
  const plain = name
    .slice(-200)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');
  return MORE_NAMES.has(plain) || SECRET_ENDS.some((end) => plain.endsWith(end));
}

export function maskHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isSecretName(name) ? maskValue(value) : value]),
  );
}

/** Makes a function that replaces these secrets in strings: as they are, and as they are written in JSON and in addresses. */
export function maskTexts(secrets: readonly string[]): (text: string) => string {
  const masks = new Map<string, string>();
  for (const secret of secrets.filter(({ length }) => length >= MIN_SECRET)) {
    // Part of an escape sequence would break the JSON that the secret is in.
    const mask = /^[\w.~+/=-]+$/.test(secret) ? maskValue(secret) : '•••';
    for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
      masks.set(form, mask);
  }
  // The longest first: a secret as it is may be part of the same one in JSON.
  const longestFirst = [...masks].sort(([one], [other]) => other.length - one.length);
  return (text) => {
    let shown = text;
    for (const [form, mask] of longestFirst)
      if (shown.includes(form)) shown = shown.replaceAll(form, () => mask);
    return shown;
  };
}
