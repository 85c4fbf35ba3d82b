import { decodeBase64, encodeBase64 } from './base64.js';

// Any string as the value of an HTTP header. Spec 2026-07-28, Streamable HTTP, Value Encoding.

const PREFIX = '=?base64?';
const SUFFIX = '?=';

const encoder = new TextEncoder();
// A byte order mark is part of the value: without it, the value would not match the one in the body.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Prints a value as it is if a header can carry it, and otherwise as base64 between markers. */
export function encodeHeaderValue(value: string | number | boolean): string {
  const text = Object.is(value, -0) ? '0' : String(value);
  const plain = isHeaderText(text) && text === trimBlanks(text) && !isMarked(text);
  return plain ? text : `${PREFIX}${encodeBase64(encoder.encode(text))}${SUFFIX}`;
}

/** Reads a header value; `undefined` if it is marked as base64 and is not, or has characters that a header cannot carry. */
export function decodeHeaderValue(header: string): string | undefined {
  const text = trimBlanks(header);
  if (!isHeaderText(text)) return undefined;
  if (!isMarked(text)) return text;
  // In `=?base64?=` the markers overlap, so that there is no value between them, not even an empty one.
  if (text.length < PREFIX.length + SUFFIX.length) return undefined;
  const bytes = decodeBase64(text.slice(PREFIX.length, -SUFFIX.length));
  if (bytes === undefined) return undefined;
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function isMarked(text: string): boolean {
  return text.startsWith(PREFIX) && text.endsWith(SUFFIX);
}

/** Visible ASCII, spaces and tabs: RFC 9110, section 5.5. */
function isHeaderText(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if ((code < 0x20 && code !== 0x09) || code > 0x7e) return false;
  }
  return true;
}

/** Removes the spaces and tabs that HTTP ignores around a value. `trim` would also remove line breaks. */
function trimBlanks(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text[from])) from += 1;
  while (to > from && isBlank(text[to - 1])) to -= 1;
  return text.slice(from, to);
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}
