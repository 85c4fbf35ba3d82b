// Characters and percent-encoding: RFC 3986, as RFC 6570 uses them.

/** What may stand in a value that is not reserved expansion, as it is or though its sender should encode it. */
export const SEGMENT = 1;
/** What may stand in the value of `{+path}` or `{#fragment}`. */
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

/** The classes that the character at `at` belongs to; its unit must be sound. A percent sign is in both. */
export function classOf(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === PERCENT) return SEGMENT | RESERVED;
  if (code < 128) return classes[code] ?? 0;
  return code < 0xa0 ? 0 : SEGMENT | RESERVED;
}

/**
 * How many characters at `at` stand for one code point: 1 or 2 as they are, 3 to 12 when percent-encoded. 0 where
 * a percent sign does not begin well-formed UTF-8, or a surrogate stands alone.
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
  // Overlong forms, surrogates and what lies beyond U+10FFFF differ from good UTF-8 in the second byte at latest.
  const second = tripletAt(text, at + 3);
  const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (lead < 0xc2 || lead > 0xf4 || second < lowest || second > highest) return 0;
  const bytes = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  for (let byte = 2; byte < bytes; byte++) {
    const continued = tripletAt(text, at + 3 * byte);
    if (continued < 0x80 || continued > 0xbf) return 0;
  }
  return 3 * bytes;
}

/** The byte that the triplet at `at` stands for, or -1 where there is no triplet. */
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

/** Encodes everything that is not unreserved. A surrogate that stands alone becomes U+FFFD. */
export function encodeStrictly(text: string): string {
  return encode(text, false);
}

/** Leaves reserved characters and triplets that are there already as they are. */
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
