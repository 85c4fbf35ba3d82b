// Base64 with what every runtime has. `btoa` wants a string of bytes, so that is what it gets.

const CHUNK = 0x8000;

export function encodeBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += CHUNK) {
    // Not spread, which iterates: several times slower.
    binary += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(at, at + CHUNK));
  }
  return btoa(binary);
}

/** Decodes strict base64: the padding must be right and every character from the alphabet. Else `undefined`. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 !== 0 || !onlyAlphabet(text)) return undefined;
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Decodes base64url as JOSE has it: without padding, and not a character of plain base64. Else `undefined`. */
export function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  const padding = '='.repeat((4 - (text.length % 4)) % 4);
  return decodeBase64(text.replaceAll('-', '+').replaceAll('_', '/') + padding);
}

function onlyAlphabet(text: string): boolean {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}
