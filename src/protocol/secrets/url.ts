// URLs for logs, messages and people, without secrets.

import { tryDecode } from '../encoding/percent-decoding.js';
import { isSecretName } from './is-secret-name.js';
import { REDACTED } from './text.js';

/** The options of `hideInUrl`. */
export interface HideInUrlOptions {
  /** The mask that stands for a secret. Default: `[redacted]`. */
  readonly mask?: ((secret: string) => string) | undefined;
  /** Tells whether a parameter of the query or the fragment is a secret. Default: by its name. */
  readonly isSecret?: ((name: string) => boolean) | undefined;
}

const PARAMETER = /([?&#;]([^=?&#;]*)=)([^&#;]*)/g;

/** A URL without its password and without the parameters that are secrets. */
export function hideInUrl(
  url: string,
  { mask = () => REDACTED, isSecret = isSecretName }: HideInUrlOptions = {},
): string {
  const { start, userEnd } = userOf(url);
  const colon = url.indexOf(':', start);
  const hidden =
    colon >= 0 && colon < userEnd
      ? `${url.slice(0, colon + 1)}${mask(url.slice(colon + 1, userEnd))}${url.slice(userEnd)}`
      : url;
  return hidden.replace(PARAMETER, (pair: string, begin: string, name: string, value: string) =>
    isSecret(tryDecode(name)) ? `${begin}${mask(value)}` : pair,
  );
}

/** A URL that shows only where it leads: every value of its query is masked, and so is the user. The fragment is left out. */
export function bareUrl(url: string, mask: string): string {
  const { start, userEnd } = userOf(url);
  const [path = ''] = url.split('#', 1);
  const [address = ''] = path.split('?', 1);
  const shown = userEnd > 0 ? `${address.slice(0, start)}${mask}${address.slice(userEnd)}` : address;
  const query = path.slice(address.length + 1);
  if (query === '') return shown;
  const names = query.split('&').map((pair) => (pair.includes('=') ? `${pair.split('=', 1)[0]}=` : ''));
  return `${shown}?${names.map((name) => `${name}${mask}`).join('&')}`;
}

/** A URL without its user information, which may be a token alone: `https://token@example.com`. */
export function withoutUser(url: string): string {
  const { start, userEnd } = userOf(url);
  return userEnd < 0 ? url : `${url.slice(0, start)}${url.slice(userEnd + 1)}`;
}

/** Where the user information begins and ends; the end is -1 if there is none. */
function userOf(url: string): { readonly start: number; readonly userEnd: number } {
  const start = url.indexOf('://') + 3;
  if (start < 3) return { start: 0, userEnd: -1 };
  const end = url.slice(start).search(/[/?#]/);
  const at = url.lastIndexOf('@', end < 0 ? undefined : start + end);
  return { start, userEnd: at < start ? -1 : at };
}
