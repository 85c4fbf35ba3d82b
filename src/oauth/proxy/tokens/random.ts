import { digestOf } from '../../../protocol/canonical.js';
import { encodeBase64Url } from '../../../protocol/encoding/base64.js';

/** A string that nobody can guess: 256 bits. */
export function randomToken(): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

/** The SHA-256 digest of a string, as base64url. */
export async function digestText(text: string): Promise<string> {
  return encodeBase64Url(await digestOf(text));
}

/** Compares two strings by their digests, so that the time tells nothing about either. */
export async function isSameSecret(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([digestOf(one), digestOf(other)]);
  let difference = 0;
  for (const [at, byte] of a.entries()) difference |= byte ^ (b[at] as number);
  return difference === 0;
}
