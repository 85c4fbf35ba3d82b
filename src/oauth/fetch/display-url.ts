import { shorten } from '../../protocol/encoding/shorten.js';

// URLs in messages, without secrets.

const LIMIT = 200;

/** A URL for messages: without the query and the fragment, which may contain codes and keys, and without user information. */
export function displayUrl(url: string | URL): string {
  const text = String(url);
  if (!URL.canParse(text)) return redact(text);
  const { protocol, origin, pathname } = new URL(text);
  return protocol === 'https:' || protocol === 'http:'
    ? shorten(`${origin}${pathname}`, LIMIT)
    : redact(text);
}

/** Text that is not a URL of the web may still contain the secrets of one. */
function redact(text: string): string {
  const [visible = ''] = text.split(/[?#]/, 1);
  const at = visible.lastIndexOf('@');
  return JSON.stringify(shorten(at === -1 ? visible : `…${visible.slice(at)}`, LIMIT));
}
