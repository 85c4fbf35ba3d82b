// Names that clients and models accept, the same for the same document whatever its order.

import { sha256 } from '../../protocol/encoding/sha256.js';
import { compare } from '../document/operations.js';

const MAX_LENGTH = 64;
/** The characters of a wish that are read. */
const MAX_WISH = 300;

/** Eight characters that stand for a string. */
export function digest(text: string): string {
  const bytes = sha256(new TextEncoder().encode(text)).subarray(0, 4);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Something that needs a name. */
interface Unnamed {
  /** The name that it should have. */
  readonly wish: string;
  /** The name to try if another has the first one. Default: the first one with a digest. */
  readonly second?: string;
  /** Its identity, which does not depend on the order of the document. */
  readonly key: string;
}

/**
 * Gives each entry a name of at most 64 letters, digits, `_`, `-` and those in `others`. Of several entries with the same wish, the
 * one that needs no change has it, or else the one with the first key; the others get a digest of their key.
 */
export function uniqueNames<T extends Unnamed>(entries: readonly T[], others = ''): Map<string, T> {
  const allowed = new RegExp(`[^A-Za-z0-9_${others}-]+`, 'g');
  const taken = new Map<string, T>();
  const plain = (text: string): string => {
    const clean = text.slice(0, MAX_WISH).replaceAll(allowed, '_');
    const name = clean === text ? clean : clean.replaceAll(/^_+|_+$/g, '');
    return name === '__proto__' || name === '' ? 'unnamed' : name;
  };
  const isExact = ({ wish }: T): boolean => plain(wish) === wish && wish.length <= MAX_LENGTH;
  const sorted = [...entries].sort(
    (a, b) => Number(isExact(b)) - Number(isExact(a)) || compare(a.key, b.key),
  );
  for (const entry of sorted) {
    const wishes = [entry.wish, entry.second].flatMap((wish) => (wish === undefined ? [] : [plain(wish)]));
    const free = wishes.find((name) => name.length <= MAX_LENGTH && !taken.has(name));
    taken.set(free ?? withDigest(wishes[0] ?? '', entry.key, taken), entry);
  }
  return taken;
}

function withDigest(name: string, key: string, taken: ReadonlyMap<string, unknown>): string {
  for (let attempt = key; ; attempt += ' ') {
    const suffix = digest(attempt);
    const candidate = `${name.slice(0, MAX_LENGTH - suffix.length - 1)}_${suffix}`;
    if (!taken.has(candidate)) return candidate;
  }
}
