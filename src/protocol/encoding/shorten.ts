// Shortens a peer's values for messages. A peer may send any value of any length, so a message has only the beginning of it.

/** A value in at most `limit` characters: a string as it is, anything else as JSON. */
export function shorten(value: unknown, limit: number): string {
  // Not String(): a peer's object may have a `toString` that is not a function.
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}

/** A string in double quotes and on one line, with at most `limit` of its characters. */
export function quote(text: string, limit: number): string {
  return JSON.stringify(shorten(text, limit));
}
