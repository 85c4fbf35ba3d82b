import { decodeBase64Url, encodeBase64Url } from './base64.js';

// Authenticated encryption (AES-256-GCM) with keys that are derived from the secrets of a server.

/** A key, and the id by which sealed strings name it. */
export interface SealingKey {
  readonly id: string;
  readonly key: CryptoKey;
}

/** The content of a sealed string. */
export interface Unsealed {
  readonly plain: Uint8Array<ArrayBuffer>;
  /** The part that no other sealed string has. */
  readonly iv: string;
}

const IV_BYTES = 12;
const KEY_ID = /^[\w-]{8}$/;
const encoder = new TextEncoder();

/** Derives the key of a purpose from a secret. The keys of two purposes have nothing in common. */
export async function deriveSealingKey(secret: string, purpose: string): Promise<SealingKey> {
  const material = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, [
    'deriveBits',
  ]);
  const derive = (label: string, bits: number): Promise<ArrayBuffer> =>
    crypto.subtle.deriveBits(
      { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: encoder.encode(`fullmcp ${label}`) },
      material,
      bits,
    );
  const key = await crypto.subtle.importKey('raw', await derive(purpose, 256), 'AES-GCM', false, [
    'encrypt',
    'decrypt',
  ]);
  return { id: encodeBase64Url(new Uint8Array(await derive(`${purpose} id`, 48))), key };
}

/** Encrypts. Only the same additional data opens the string again. */
export async function sealBytes(
  { id, key }: SealingKey,
  plain: Uint8Array<ArrayBuffer>,
  additionalData: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData }, key, plain);
  return [id, encodeBase64Url(iv), encodeBase64Url(new Uint8Array(sealed))].join('.');
}

/** Decrypts; `foreign` if none of the keys sealed the string, undefined if it was changed or has other additional data. */
export async function unsealBytes(
  keys: readonly SealingKey[],
  text: string,
  additionalData: Uint8Array<ArrayBuffer>,
): Promise<Unsealed | 'foreign' | undefined> {
  const [id = '', iv = '', sealed = '', ...rest] = text.split('.', 4);
  const ivBytes = decodeBase64Url(iv);
  const bytes = decodeExactly(sealed);
  if (rest.length > 0 || ivBytes?.byteLength !== IV_BYTES || bytes === undefined || !KEY_ID.test(id))
    return undefined;
  const key = keys.find((candidate) => candidate.id === id)?.key;
  if (key === undefined) return 'foreign';
  try {
    const algorithm = { name: 'AES-GCM', iv: ivBytes, additionalData };
    return { plain: new Uint8Array(await crypto.subtle.decrypt(algorithm, key, bytes)), iv };
  } catch {
    return undefined;
  }
}

/** A secret for a process that was not given one. */
export function randomSecret(): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

// The last character has unused bits. A string that differs only in these bits is not the string that was written.
function decodeExactly(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = decodeBase64Url(text);
  return bytes !== undefined && encodeBase64Url(bytes) === text ? bytes : undefined;
}
