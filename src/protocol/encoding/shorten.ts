// Shortens a peer's values for messages and for keys. A peer may send any value of any length, so a message has only the beginning of it,
// and what is remembered of a long value is short.

/** A value in at most `limit` characters: a string as it is, anything else as JSON. */
export function shorten(value: unknown, limit: number): string {
  // Not String(): a peer's object may have a `toString` that is not a function.
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
  return text.length > limit ? `${ownCopy(text.slice(0, limit - 1))}…` : text;
}

/** A string in double quotes and on one line, with at most `limit` of its characters. */
export function quote(text: string, limit: number): string {
  return JSON.stringify(shorten(text, limit));
}

const MAX_KEY = 256;
const KEY_START = 160;

/**
 * The key under which something of a peer's is remembered: the text itself, or its beginning, its length and a hash if it is long. Equal
 * strings have equal keys. A peer can make two long strings with one key, which then count as the same: nothing that is kept for one
 * caller alone may have such a key.
 */
export function boundedKey(text: string): string {
  if (text.length <= MAX_KEY) return text;
  return `${ownCopy(text.slice(0, KEY_START))}… ${text.length} ${hashOf(text)}`;
}

// A slice of a string keeps the whole string in memory, in V8. Joining and cutting again makes a copy.
function ownCopy(slice: string): string {
  return ` ${slice}`.slice(1);
}

/** FNV-1a with two seeds. */
function hashOf(text: string): string {
  let one = 0x811c9dc5 | 0;
  let two = 0x9747b28c | 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    two = (Math.imul(two ^ code, 0x01000193) + at) | 0;
  }
  return `${(one >>> 0).toString(36)}${(two >>> 0).toString(36)}`;
}
