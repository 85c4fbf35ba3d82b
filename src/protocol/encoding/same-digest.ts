/**
 * Whether two digests, or two other secrets of a fixed length, are equal. Takes the same time for every pair, so that nobody can find
 * one character by character. Their lengths are not secret.
 */
export function isSameDigest(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}
