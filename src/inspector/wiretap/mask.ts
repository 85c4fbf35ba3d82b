// Masks secrets for the page: in headers by their names, in strings by their values.

import { isCredential, isSecretName } from '../../protocol/secrets/is-secret-name.js';
import { KnownValues } from '../../protocol/secrets/known-values.js';
import { hideInUrl } from '../../protocol/secrets/url.js';

export const MASK = '•••';
const MIN_SHOWN = 20;
/** Values that are as good as a password until they are used. Elsewhere, these are names of ordinary fields. */
const LOGIN_NAMES = new Set(['code', 'assertion', 'device_code']);

/** A secret as it may be shown: its ends, if it is long enough that they say nothing. */
export function maskValue(value: string): string {
  const [, scheme = '', rest = value] = /^((?:bearer|basic|dpop) )(.*)$/i.exec(value.slice(0, 10_000)) ?? [];
  if (scheme.toLowerCase().startsWith('basic')) return `${scheme}${MASK}`;
  return `${scheme}${rest.length < MIN_SHOWN ? MASK : `${rest.slice(0, 4)}…${rest.slice(-4)}`}`;
}

/** Whether a field or a parameter of a login has a secret in it. */
export function isLoginSecret(name: string, value?: unknown): boolean {
  return LOGIN_NAMES.has(name) || isSecretName(name, value);
}

export function maskHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isSecretName(name) || isCredential(value) ? maskValue(value) : maskAddress(value),
    ]),
  );
}

/** An address whose password and secret parameters are masked, those of a login included. */
export function maskAddress(address: string): string {
  return hideInUrl(address, { mask: maskValue, isSecret: isLoginSecret });
}

/** Makes a function that replaces these secrets in strings: as they are, and as they are written in JSON and in addresses. */
export function maskTexts(secrets: readonly string[]): (text: string) => string {
  const known = maskedValues(secrets);
  return (text) => known.hide(text);
}

/** The secrets of a connection, which may learn more. */
export function maskedValues(secrets: readonly string[]): KnownValues {
  return new KnownValues(secrets, {
    // Part of an escape sequence would break the JSON that the secret is in.
    mask: (secret) => (/^[\w.~+/=-]+$/.test(secret) ? maskValue(secret) : MASK),
  });
}
