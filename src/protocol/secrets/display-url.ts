// URLs in messages, without secrets.

import { shorten } from '../encoding/shorten.js';

const LIMIT = 200;

/** A URL for messages: without the query and the fragment, which may contain codes and keys, and without user information. */
export function displayUrl(url: string | URL): string {
  const text = String(url);
  if (!URL.canParse(text)) return shownText(text);
  const { protocol, origin, pathname } = new URL(text);
  return protocol === 'https:' || protocol === 'http:'
    ? shorten(`${origin}${pathname}`, LIMIT)
    : shownText(text);
}

/** Text that is not a URL of the web may still contain the secrets of one. */
function shownText(text: string): string {
  const [visible = ''] = text.split(/[?#]/, 1);
  const at = visible.lastIndexOf('@');
  return JSON.stringify(shorten(at === -1 ? visible : `…${visible.slice(at)}`, LIMIT));
}
