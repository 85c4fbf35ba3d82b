// Characters and percent-encoding: RFC 3986, as RFC 6570 uses them.

/** The class of characters that a value may have outside reserved expansion, including some that a sender should encode. */
export const SEGMENT = 1;
/** The class of characters that the value of `{+path}` or `{#fragment}` may have. */
export const RESERVED = 2;

const isUnreserved = asciiTable('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~');
const isDelimiter = asciiTable(":/?#[]@!$&'()*+,;=");
const classes = Uint8Array.from({ length: 128 }, (_, code) => {
  if (isUnreserved[code] === 1) return SEGMENT | RESERVED;
  if (isDelimiter[code] !== 1) return 0;
  return '/?#[]'.includes(String.fromCharCode(code)) ? RESERVED : SEGMENT | RESERVED;
});

function asciiTable(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

/** The classes that the character at `at` belongs to, if its code point is well-formed. A percent sign is in both. */
export function classOf(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === PERCENT) return SEGMENT | RESERVED;
  if (code < 128) return classes[code] ?? 0;
  return code < 0xa0 ? 0 : SEGMENT | RESERVED;
}

/**
 * The number of characters at `at` that represent one code point: 1 or 2 as they are, 3 to 12 when percent-encoded. 0 for a
 * percent sign that does not begin well-formed UTF-8, and for a lone surrogate.
 */
export function unitLength(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === PERCENT) return encodedLength(text, at);
  if (code < 0xd800 || code > 0xdfff) return 1;
  const next = text.charCodeAt(at + 1);
  return code < 0xdc00 && next >= 0xdc00 && next <= 0xdfff ? 2 : 0;
}

const PERCENT = 0x25;

function encodedLength(text: string, at: number): number {
  const lead = tripletAt(text, at);
  if (lead < 0) return 0;
  if (lead < 0x80) return 3;
  // Overlong forms, surrogates and code points beyond U+10FFFF differ from valid UTF-8 by the second byte at the latest.
  const second = tripletAt(text, at + 3);
  const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (lead < 0xc2 || lead > 0xf4 || second < lowest || second > highest) return 0;
  const bytes = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  for (let byte = 2; byte < bytes; byte++) {
    const continuation = tripletAt(text, at + 3 * byte);
    if (continuation < 0x80 || continuation > 0xbf) return 0;
  }
  return 3 * bytes;
}

/** The byte that the triplet at `at` represents, or -1 if there is no triplet. */
export function tripletAt(text: string, at: number): number {
  if (text.charCodeAt(at) !== PERCENT) return -1;
  const high = hexDigit(text.charCodeAt(at + 1));
  const low = hexDigit(text.charCodeAt(at + 2));
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : -1;
}

/** Encodes everything that is not unreserved. A lone surrogate becomes U+FFFD. */
export function encodeStrictly(text: string): string {
  return encode(text, false);
}

/** Encodes everything except unreserved and reserved characters and existing triplets. */
export function encodeKeepingReserved(text: string): string {
  return encode(text, true);
}

function encode(text: string, keepReserved: boolean): string {
  let encoded = '';
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code < 128) {
      const keep =
        isUnreserved[code] === 1 || (keepReserved && (isDelimiter[code] === 1 || tripletAt(text, at) >= 0));
      encoded += keep ? text[at] : percent(code);
      at += 1;
    } else {
      const end = at + Math.max(1, unitLength(text, at));
      for (const byte of encoder.encode(text.slice(at, end))) encoded += percent(byte);
      at = end;
    }
  }
  return encoded;
}

const encoder = new TextEncoder();

function percent(byte: number): string {
  return `%${byte < 16 ? '0' : ''}${byte.toString(16).toUpperCase()}`;
}
