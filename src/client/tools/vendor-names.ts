// Names for tools that the APIs of models accept: 1 to 64 letters, digits, "_" and "-".

const MAX_NAME = 64;
const HASH = 7;

/**
 * The names of tools for an API, each with the original. A name that the API accepts stays; in another one, other characters become "_".
 * If that is too long, or the name of another tool, it ends in a hash of the original. The result does not depend on the order.
 */
export function vendorNames(names: readonly string[]): Map<string, string> {
  const counts = new Map<string, number>();
  for (const name of names) {
    const plain = replaced(name);
    counts.set(plain, (counts.get(plain) ?? 0) + 1);
  }
  const result = new Map<string, string>();
  for (const name of names) {
    const plain = replaced(name);
    const isKept = plain === name && name.length <= MAX_NAME;
    const isFree = counts.get(plain) === 1 && plain.length <= MAX_NAME;
    result.set(isKept || isFree ? plain : `${plain.slice(0, MAX_NAME - HASH - 1)}_${hashOf(name)}`, name);
  }
  return result;
}

function replaced(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/gu, '_') || '_';
}

/** A hash that is the same everywhere and always (FNV-1a), as 7 letters and digits. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash.toString(36).padStart(HASH, '0');
}
