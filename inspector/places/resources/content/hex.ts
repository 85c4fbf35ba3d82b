// The beginning of a binary, for people: offsets, bytes and the characters that they would be.

export interface HexRow {
  readonly offset: string;
  readonly bytes: string;
  readonly characters: string;
}

const PER_ROW = 16;

/** The rows of the first bytes of a base64 text; undefined if it is not base64. */
export function hexHead(base64: string, maxBytes = 256): readonly HexRow[] | undefined {
  // Four characters are three bytes, so that a prefix can be decoded alone.
  const head = base64.slice(0, Math.ceil(maxBytes / 3) * 4);
  let binary: string;
  try {
    binary = atob(head).slice(0, maxBytes);
  } catch {
    return undefined;
  }
  const rows: HexRow[] = [];
  for (let at = 0; at < binary.length; at += PER_ROW) {
    const part = Array.from(binary.slice(at, at + PER_ROW), (character) => character.charCodeAt(0));
    rows.push({
      offset: at.toString(16).padStart(6, '0'),
      bytes: part.map((byte) => byte.toString(16).padStart(2, '0')).join(' '),
      characters: part.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.')).join(''),
    });
  }
  return rows;
}

/** The number of bytes in a base64 text. */
export function base64Bytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}
